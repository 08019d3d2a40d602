/** Loads of several queues: streams of calls, each with its own queues, jobs and times. */
import type { World } from "../local/virtual/world.js";
import type { Case, Work } from "./cases.js";
import { arrivals, type Arrivals } from "./load.js";

export interface Stream {
  /** The key by which the figures of its jobs are split. */
  sort?: string;
  /** The first of its queues. Defaults to 0. */
  first?: number;
  /** How many queues it has. Defaults to 1. */
  queues?: number;
  /** Each of the queues has such calls by itself; or a call brings jobs into all; or into any one. Defaults to `each`. */
  into?: "each" | "all" | "any";
  /** How long after one queue's calls the next queue's come. They are spread evenly if nothing is said. */
  apartMs?: number;
  calls: Arrivals;
  startMs?: number;
  /** How many jobs a call brings into a queue. Defaults to 1. */
  jobs?: number;
  /** Defaults to an action. */
  kind?: "act" | "book";
  ms: number;
  /** Its jobs wait for one another, by the bound of their own queue. */
  areInLine?: boolean;
}

/** One call of the mutation that brings jobs in. */
interface StreamCall {
  at: number;
  args: { queues: number[]; kind: "act" | "book"; works: { n: number; ms: number }[] };
}

/** The numbers of a stream's jobs begin at as many times this as there are streams before it. */
const OF_A_STREAM = 1_000_000;
/** So many queues one call has a job done in before anything counts. */
const WARMED_AT_ONCE = 50;
const MOUNTS_OF_SMALL = 8;

type Streaming = Omit<Case, "of" | "load" | "work" | "queues"> & {
  streams: readonly Stream[];
  /** Whether the action of each job calls a mutation of the app. */
  saves?: boolean;
  /** The function that patches the counter in addition to the app. */
  counts?: Work["counts"];
};

/** A case with these loads. */
export function streaming({ streams, saves, counts, ...one }: Streaming): Case {
  const areSorted = streams.some(({ sort }) => sort !== undefined);
  return {
    ...{ ...one, of: ["conveyor", "workpool", "plain"] },
    load: { streams },
    work: {
      ...{ kind: "act", ms: Math.max(...streams.map(({ ms }) => ms)) },
      ...(saves === true ? { saves } : {}),
      ...(counts === undefined ? {} : { counts }),
    },
    queues: Math.max(...streams.map(({ first = 0, queues = 1 }) => first + queues)),
    ...(areSorted ? { sort: (n) => streams[Math.floor(n / OF_A_STREAM)]?.sort ?? "others" } : {}),
  };
}

/** The same with one seed and few workpools, for the small ones. */
export function small({ seeds: _seeds, ...one }: Case): Case {
  return { ...one, mounts: MOUNTS_OF_SMALL };
}

/** All calls of a load, and how many jobs they bring. */
export function callsOf(world: World, streams: readonly Stream[]): StreamCall[] {
  return streams.flatMap((stream, i) => {
    let next = i * OF_A_STREAM;
    return targetsOf(world, stream).map(({ at, queues }): StreamCall => {
      const { kind = "act", jobs = 1, ms } = stream;
      const works = Array.from({ length: queues.length * jobs }, () => ({ n: next++, ms }));
      return { at, args: { queues, kind, works } };
    });
  });
}

/** When calls come, and into which queues they bring jobs. */
function targetsOf(world: World, stream: Stream): { at: number; queues: number[] }[] {
  const { first = 0, queues: count = 1, into = "each", startMs = 0, calls } = stream;
  const queues = Array.from({ length: count }, (_, i) => first + i);
  const times = () => arrivals(world, calls).map((at) => startMs + at);
  if (into === "all") return times().map((at) => ({ at, queues }));
  if (into === "any")
    return times().map((at) => ({ at, queues: [first + world.random.below(count)] }));
  const { apartMs = "everyMs" in calls ? calls.everyMs / count : 0 } = stream;
  return queues.flatMap((queue, i) =>
    times().map((at) => ({ at: at + i * apartMs, queues: [queue] })),
  );
}

/** A job that takes no time into each queue, of each kind that comes into it, before anything counts. */
export function warmingsOf(streams: readonly Stream[]): StreamCall["args"][] {
  return (["act", "book"] as const).flatMap((kind) => {
    const own = streams.filter((stream) => (stream.kind ?? "act") === kind);
    const queues = own.flatMap(({ first = 0, queues: count = 1 }) =>
      Array.from({ length: count }, (_, i) => first + i),
    );
    const each = [...new Set(queues)];
    return Array.from({ length: Math.ceil(each.length / WARMED_AT_ONCE) }, (_, i) => {
      const some = each.slice(i * WARMED_AT_ONCE, (i + 1) * WARMED_AT_ONCE);
      return { queues: some, kind, works: some.map(() => ({ n: -1, ms: 0 })) };
    });
  });
}
