/** The result of a run: counts first, which no cost model touches, then times. */
import type { Io } from "../../local/engine/types.js";
import type { FunctionStats, StatsSnapshot } from "../../local/stats/types.js";
import { ALTERNATIVES, isConveyor, type AlternativeName } from "../alternatives.js";
import type { Case } from "../cases.js";
import { BUMP, type Played } from "../play.js";
import { latencies, type Latencies } from "./latencies.js";
import { mostAtOnce, used, type Used } from "./occupied.js";
import { dollarsAMillion } from "./prices.js";

/** Of one run, or of a stretch of it. All but the names are numbers; figures of jobs are averages over them. */
export interface Figures {
  jobs: number;
  /** Billed calls per job without the callers' own, */
  calls: number;
  /** all that are billed, the callers' own too, where there are several queues, */
  allCalls?: number;
  /** and of the former the later upkeep: Conveyor's janitor, roll-up and retention. */
  callsBehind: number;
  /** Documents and bytes per job of the app's and the component's own tables, the enqueue's too, */
  documentsRead: number;
  documentsWritten: number;
  bytesRead: number;
  bytesWritten: number;
  /** the bytes written without payloads and results, */
  bareBytesWritten: number;
  /** the bytes that keep an ended job, payload and result included, without deletions, */
  keptBytesWritten: number;
  /** the later part of them, */
  documentsWrittenBehind: number;
  bytesWrittenBehind: number;
  documentsReadBehind: number;
  bytesReadBehind: number;
  /** and of the scheduler's table. */
  systemDocumentsWritten: number;
  systemBytesWritten: number;
  /** Attempts that lost to another commit, in 100 jobs: of callers, and of all other functions. */
  callerConflicts: number;
  otherConflicts: number;
  /** Attempts of functions after the first, in 100 jobs, and of jobs. */
  retries: number;
  attempts: number;
  /** That reached callers, and workers outside. */
  callerErrors: number;
  workerErrors: number;
  /** Functions that found no permit in time. */
  refused: number;
  /** Jobs without a recorded end. */
  lost: number;
  /** The most jobs that ran at one time. */
  atOnce: number;
  /** The cost of a million such jobs. */
  dollarsAMillion: number;

  perSecond: number;
  /** From the commit that brought a job in to its first line, to the commit that records its end; and a caller's call. */
  startMs: Latencies;
  doneMs: Latencies;
  callerMs: Latencies;
  /** Places and permits that were taken until the last end was recorded. */
  used: Used;
  /** How many workers outside began a job of a burst, and how long after it came the last of them began its first. */
  woken?: { workers: number; ms: number };
  /** Where jobs are of several sorts, the figures of each. */
  sorts?: Record<string, { startMs: Latencies; doneMs: Latencies; jobs: number }>;
  /** Of the app's own mutation: its tries that lost and its errors, in 100 calls, and how long a call took. */
  own?: { calls: number; lost: number; errors: number; ms: Latencies };
  /** Of canceled jobs: how many, how long it took to record, and how many began after the answer. */
  canceled?: { jobs: number; recordedMs: Latencies; beganAfter: number };
}

/** Conveyor's functions for a job and between jobs; everything else of it comes behind. */
const HANDS_ON = /^conveyor\/(push\/(wake|surplus|laneAction|laneOnce|laneStep|execute):|lib:)/;

/** The functions for outside workers are in the same module. */
const CALLERS = /:(act|book|enqueue|cancel)/;

/** A stretch of a run, by itself. */
export interface Stretch {
  stats: StatsSnapshot;
  from: number;
  to: number;
  /** As the whole run has them. */
  actionMs: number;
  payloadBytes: number;
  keptBytes: number;
}

export function count(
  name: AlternativeName,
  one: Case,
  played: Played,
  stretch?: Stretch,
): Figures {
  const { told, workers } = played;
  const stats = stretch?.stats ?? played.stats;
  const watched = within(played.watched, stretch);
  const jobs = watched.recorded.size;
  // Where nothing was to be done, the whole is counted.
  const per = Math.max(1, jobs);
  const { module } = ALTERNATIVES[name];
  const isCallers = (of: string) =>
    of === BUMP || (of.startsWith(`${module}:`) && CALLERS.test(of));
  const isBehind = (of: string) =>
    isConveyor(name) && of.startsWith("conveyor/") && !HANDS_ON.test(of);
  const sum = (of: (one: FunctionStats) => number, counts = (_: string) => true): number =>
    Object.entries(stats.functions).reduce((all, [f, s]) => (counts(f) ? all + of(s) : all), 0);
  const io = (of: keyof Io, counts?: (name: string) => boolean) => sum((s) => s.io[of], counts);
  const system = (of: keyof Io) => sum((s) => s.systemIo[of]);
  const conflicts = (s: FunctionStats) => s.conflicts;
  const bytesWritten = io("bytesWritten") / per;
  const calls =
    sum(
      (s) => s.billed,
      (f) => !isCallers(f),
    ) / per;
  const actionMs = (stretch?.actionMs ?? watched.actionMs) / per;
  const payloadBytes = (stretch?.payloadBytes ?? played.payloadBytes) / per;
  const sorts = one.sort === undefined ? undefined : sorted(one.sort, watched);
  const canceled = canceledOf(played);
  const own = ownOf(played, stats);
  const woken = wokenOf(played, one);
  const last = Math.max(...watched.ended.values());
  const first = Math.min(
    ...(watched.enqueued.size > 0 ? watched.enqueued : watched.began).values(),
  );
  const seconds = (stretch === undefined ? last - first : stretch.to - stretch.from) / 1_000;
  return {
    jobs,
    calls,
    ...(one.queues === undefined ? {} : { allCalls: sum((s) => s.billed) / per }),
    callsBehind: sum((s) => s.billed, isBehind) / per,
    documentsRead: io("documentsRead") / per,
    documentsWritten: io("documentsWritten") / per,
    bytesRead: io("bytesRead") / per,
    bytesWritten,
    bareBytesWritten: bytesWritten - payloadBytes,
    keptBytesWritten: (stretch?.keptBytes ?? played.keptBytes) / per,
    documentsWrittenBehind: io("documentsWritten", isBehind) / per,
    bytesWrittenBehind: io("bytesWritten", isBehind) / per,
    documentsReadBehind: io("documentsRead", isBehind) / per,
    bytesReadBehind: io("bytesRead", isBehind) / per,
    systemDocumentsWritten: system("documentsWritten") / per,
    systemBytesWritten: system("bytesWritten") / per,
    callerConflicts: (100 * sum(conflicts, (f) => isCallers(f) && f !== BUMP)) / per,
    otherConflicts: (100 * sum(conflicts, (f) => !isCallers(f))) / per,
    retries: (100 * sum((s) => s.retries)) / per,
    attempts: (watched.began.size + watched.again) / Math.max(1, watched.began.size),
    callerErrors: told.errors.length,
    workerErrors: workers.errors.length,
    refused: sum((s) => s.refused),
    lost: played.lost,
    atOnce: mostAtOnce(watched),
    dollarsAMillion: dollarsAMillion(one.class, {
      calls,
      ioBytes: io("bytesRead") / per + bytesWritten,
      actionMs,
    }),
    perSecond: jobs === 0 ? 0 : watched.ended.size / seconds,
    startMs: between(watched.enqueued, watched.began),
    doneMs: between(watched.enqueued, watched.recorded),
    callerMs: latencies(told.callerMs),
    used: used(played.occupancy, one.class),
    ...(woken === undefined ? {} : { woken }),
    ...(sorts === undefined ? {} : { sorts }),
    ...(canceled === undefined ? {} : { canceled }),
    ...(own === undefined ? {} : { own }),
  };
}

function wokenOf({ workers, watched: { enqueued } }: Played, { load }: Case): Figures["woken"] {
  if (!("burst" in load)) return undefined;
  const came = enqueued.get(load.alone) ?? Infinity;
  const first = new Map<string, number>();
  for (const { name, at } of workers.begins)
    if (at >= came && !first.has(name)) first.set(name, at - came);
  return { workers: first.size, ms: Math.round(Math.max(0, ...first.values())) };
}

function ownOf({ bumped }: Played, { functions }: StatsSnapshot): Figures["own"] {
  if (bumped === undefined) return undefined;
  const calls = bumped.callerMs.length;
  return {
    calls,
    lost: (100 * (functions[BUMP]?.conflicts ?? 0)) / calls,
    errors: (100 * bumped.errors.length) / calls,
    ms: latencies(bumped.callerMs),
  };
}

function between(from: Map<number, number>, to: Map<number, number>): Latencies {
  return latencies(
    [...to].flatMap(([n, at]) => {
      const since = from.get(n);
      return since === undefined ? [] : [at - since];
    }),
  );
}

/** Only jobs with an end recorded in the stretch. */
function within(watched: Played["watched"], stretch: Stretch | undefined): Played["watched"] {
  if (stretch === undefined) return watched;
  const { from, to } = stretch;
  const inside = new Set(
    [...watched.recorded].filter(([, at]) => at >= from && at < to).map(([n]) => n),
  );
  return only(watched, (n) => inside.has(n));
}

function only(watched: Played["watched"], counts: (n: number) => boolean): Played["watched"] {
  const those = (map: Map<number, number>) => new Map([...map].filter(([n]) => counts(n)));
  const { enqueued, began, ended, recorded } = watched;
  return {
    ...watched,
    ...{ enqueued: those(enqueued), began: those(began) },
    ...{ ended: those(ended), recorded: those(recorded) },
  };
}

function sorted(sortOf: (n: number) => string, watched: Played["watched"]): Figures["sorts"] {
  const names = [...new Set([...watched.began.keys()].filter((n) => n >= 0).map(sortOf))].sort();
  return Object.fromEntries(
    names.map((name) => {
      const { enqueued, began, recorded } = only(watched, (n) => n >= 0 && sortOf(n) === name);
      const startMs = between(enqueued, began);
      return [name, { startMs, doneMs: between(enqueued, recorded), jobs: began.size }];
    }),
  );
}

function canceledOf({ canceled, watched: { began, recorded } }: Played): Figures["canceled"] {
  if (canceled === undefined) return undefined;
  const { askedAt, answeredAt } = canceled;
  const never = [...recorded].filter(([n]) => !began.has(n));
  if (never.length === 0) throw new Error("The cancel of all jobs has found none.");
  return {
    jobs: never.length,
    recordedMs: latencies(never.map(([, at]) => at - askedAt)),
    beganAfter: [...began.values()].filter((at) => at > answeredAt).length,
  };
}
