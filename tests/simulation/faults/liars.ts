/**
 * A worker that lies, with a valid token: it claims more than it does, completes and reports on jobs that it does not hold,
 * repeats calls, and sends old calls, foreign cursors and invented ones. Its claims about foreign leases must change nothing, and
 * must be refused.
 */
import type { ConvexHttpClient } from "convex/browser";
import { makeFunctionReference } from "convex/server";
import type { Draw } from "../draw.js";
import { QUEUES_MAX } from "../../../src/shared/index.js";
import { atCommit, kept } from "../moments.js";
import type { Part } from "../part.js";
import { isOf, PULLED, usedQueues, type Plan, type Planned } from "../plan.js";
import type { Simulation } from "../simulation.js";

interface Lease {
  id: string;
  attempt: number;
}
interface Answered {
  answers: (Lease & { answer: string })[];
}

class Liar {
  client: ConvexHttpClient | null = null;
  callSeq = 0;
  /** Leases that it was given and has not mentioned since: it may have lost them. */
  held: Lease[] = [];
  /** One call at a time; one that is never answered is waited for no longer than this. */
  busyUntil = 0;
  last: object | null = null;
}

const PATIENCE_MS = 3_000;
const SESSION = "liar";
const liarOf = kept(() => new Liar());

export const liars: Part = {
  name: "liars",
  about: "a worker with a valid token lies about its leases, its calls and its cursors",
  chance: 0.25,
  fits: (plan) => served(plan).length > 0,
  plan(draw, plan) {
    return Array.from({ length: draw.between(4, 14) }, (): Planned => {
      const at = draw.between(0, plan.faultsMs);
      const what = draw.pick([
        "claim",
        "claim",
        "claim",
        "foreign",
        "foreign",
        "own",
        "repeat",
        "wrong",
      ]);
      return { at, do: `liars.${what}`, ...(DETAILS[what]?.(draw, plan) ?? {}) };
    });
  },
  perform: {
    /** As soon as anything has changed: there may be something to take. */
    claim(simulation, event) {
      for (const commits of [1, 4, 7]) {
        atCommit(simulation, event.commits + commits, () => claim(simulation, event));
      }
    },
    /** Of a job that another worker holds, or none: of this attempt, the one before, the one to come. */
    foreign(simulation, { how, which, shift }) {
      const liar = liarOf(simulation);
      const isOwn = (id: string) => liar.held.some((lease) => lease.id === id);
      const job = simulation.pick(which, (row) => row !== undefined && !isOwn(row._id));
      if (job === null) return;
      const attempt = (simulation.tables.get("jobs", job.id)?.["attempt"] as number) + shift;
      lie(simulation, how, { id: job.id, attempt: Math.max(1, attempt) });
    },
    /** Of its own lease, but another attempt of it. Or it gives all back, in one of many ways. */
    own(simulation, { outcome, shift, how }) {
      const liar = liarOf(simulation);
      const [lease] = liar.held;
      if (lease === undefined || isBusy(simulation)) return;
      if (shift !== 0) {
        const attempt = Math.max(1, lease.attempt + shift);
        if (attempt !== lease.attempt) lie(simulation, how, { ...lease, attempt });
        return;
      }
      const finished = liar.held.splice(0).map((one) => ({ ...one, outcome }));
      const args = { callSeq: ++liar.callSeq, finished };
      call<Answered>(simulation, "complete", args, ({ answers }) => {
        if (answers.length !== finished.length) simulation.broken("an outcome was not answered");
        simulation.happened("gives back its leases");
      });
    },
    /** The last claim or completion again, or one before it. */
    repeat(simulation, { back }) {
      const liar = liarOf(simulation);
      if (liar.last === null || liar.callSeq - back < 1 || isBusy(simulation)) return;
      const args = { ...liar.last, callSeq: liar.callSeq - back } as {
        callSeq: number;
        finished?: unknown;
      };
      const what = args.finished === undefined ? "claim" : "complete";
      // A claim in vain leaves no trace: the one before it may still be repeated.
      const session = rowOf(simulation);
      const isLate = session !== undefined && args.callSeq < session["callSeq"];
      call(simulation, what, args, () => {
        if (isLate) simulation.broken("a call that comes too late is answered");
        simulation.happened("repeats its last call");
      });
      if (back > 0) simulation.happened("makes a call of long ago");
    },
    /** Calls that must be refused. */
    wrong(simulation, { what }) {
      const liar = liarOf(simulation);
      if (isBusy(simulation)) return;
      const [queue] = served(simulation.plan);
      const base = { callSeq: liar.callSeq + 1, name: "liar", queues: [queue], max: 1 };
      const args = {
        max: { ...base, max: 10_000 },
        cursor: { ...base, cursor: "no cursor at all" },
        token: { ...base, token: "no token at all" },
        sessionKey: { ...base, sessionKey: "" },
      }[what as "max"];
      call(simulation, "claim", args, () =>
        simulation.broken(`a claim with a wrong ${what as string} is answered`),
      );
      simulation.happened("makes a call that is refused");
    },
  },
  marks: [
    "takes jobs and does nothing",
    "lies about a lease",
    "gives back its leases",
    "repeats its last call",
    "makes a call of long ago",
    "makes a call that is refused",
  ],
};

const served = (plan: Plan) =>
  usedQueues(plan)
    .filter((name) => isOf(PULLED, name))
    .slice(0, QUEUES_MAX);

const HOWS = ["complete", "complete", "later", "heartbeat", "report"];

const DETAILS: Record<string, (draw: Draw, plan: Plan) => object> = {
  claim: (draw, plan) => ({
    commits: draw.below(4),
    queues: served(plan),
    max: draw.pick([1, 5, 64]),
    cursor: draw.pick(["none", "none", "none", "foreign", "future"]),
    which: draw.next(),
  }),
  foreign: (draw) => ({
    how: draw.pick(HOWS),
    which: draw.next(),
    shift: draw.pick([0, 0, 0, -1, 1]),
  }),
  own: (draw) => ({
    how: draw.pick(HOWS),
    shift: draw.pick([0, 0, 0, -1, 1]),
    outcome: draw.pick([
      { kind: "failed", error: "It lies." },
      { kind: "released" },
      { kind: "snoozed", runAfter: 500 },
      { kind: "canceled" },
    ]),
  }),
  repeat: (draw) => ({ back: draw.pick([0, 0, 1, 3]) }),
  wrong: (draw) => ({ what: draw.pick(["max", "cursor", "token", "sessionKey"]) }),
};

function claim(simulation: Simulation, { queues, max, cursor, which }: any): void {
  const cursors = simulation.tables.all("sessions").map(({ reply }) => reply.cursor as unknown);
  const foreign = cursors[Math.floor(which * cursors.length)];
  const from = cursor === "foreign" ? foreign : cursor === "none" ? undefined : FUTURE(queues);
  if (isBusy(simulation)) return;
  const liar = liarOf(simulation);
  const args = { name: "liar", queues, max, ...(from !== undefined && { cursor: from }) };
  call<{ jobs: Lease[] }>(simulation, "claim", { callSeq: ++liar.callSeq, ...args }, ({ jobs }) => {
    liar.held.push(...jobs.map(({ id, attempt }) => ({ id, attempt })));
    if (jobs.length > 0) simulation.happened("takes jobs and does nothing");
  });
}

/** As if all that will ever be enqueued had been seen. */
const FUTURE = (queues: string[]): string =>
  JSON.stringify(
    Object.fromEntries(queues.map((name) => [name, [0, ["9".repeat(18), 9e12, [20, 0]]]])),
  );

/** Makes a call about a foreign lease that only the lease's session may make. */
function lie(simulation: Simulation, how: string, lease: Lease): void {
  const liar = liarOf(simulation);
  const result = { n: 0, attempt: 0 };
  const finished = { ...lease, outcome: { kind: "succeeded", result } };
  const calls: Record<string, [object, boolean]> = {
    complete: [{ callSeq: liar.callSeq + 1, finished: [finished] }, true],
    later: [{ finished: [finished], later: true }, false],
    heartbeat: [{ leases: [lease] }, false],
    report: [
      {
        updates: [{ ...lease, value: "a lie" }],
        output: [{ ...lease, index: 0, text: "a lie" }],
        logs: [{ ...lease, entry: 0, level: "info", message: "a lie" }],
      },
      false,
    ],
  };
  const [args, isCounted] = calls[how]!;
  // The attempt to come may have come, and to itself.
  const held = (rowOf(simulation)?.["leases"] ?? []) as Lease[];
  const isOwn = held.some(({ id, attempt }) => id === lease.id && attempt === lease.attempt);
  // A report that is recorded later may be of an attempt that it receives before.
  const attempts = (simulation.tables.get("jobs", lease.id)?.["attempt"] ?? 0) as number;
  const isToCome = how === "later" && lease.attempt > attempts;
  if (isOwn || isToCome || isBusy(simulation)) return;
  if (isCounted) liar.callSeq += 1;
  const name = how === "later" ? "complete" : how;
  call<Answered | null>(simulation, name, args, (reply) => {
    simulation.happened("lies about a lease");
    for (const { answer } of reply?.answers ?? []) {
      // For an attempt of its own the answer may be its end.
      if (answer === "ok") simulation.broken(`a lie by ${how} is answered ${answer}`);
    }
  });
}

const rowOf = ({ tables }: Simulation) =>
  tables.all("sessions").find(({ sessionKey }) => sessionKey === SESSION);

function isBusy(simulation: Simulation): boolean {
  return simulation.now() < liarOf(simulation).busyUntil;
}

function call<Reply>(
  simulation: Simulation,
  what: string,
  args: object,
  then: (reply: Reply) => void,
): void {
  const liar = liarOf(simulation);
  liar.client ??= simulation.world.httpClient("liar");
  liar.busyUntil = simulation.now() + PATIENCE_MS;
  if ("callSeq" in args) liar.last = args;
  const said = { token: simulation.token, sessionKey: SESSION, ...args };
  const mutation = makeFunctionReference<"mutation">(`work:${what}`);
  liar.client
    .mutation(mutation, said, { skipQueue: true })
    .then(
      (reply: unknown) => {
        simulation.given.trace.add("liar", what, { args, reply });
        then(reply as Reply);
      },
      (error: unknown) => simulation.given.trace.add("liar", what, { args, error: String(error) }),
    )
    .finally(() => (liar.busyUntil = 0));
}
