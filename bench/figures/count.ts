/** What a run comes to: figures a job. */
import type { ConflictStats, FunctionStats } from "../../local/stats/types.js";
import { percentiles } from "../markdown.js";
import type { Played } from "./play.js";
import type { Alternative } from "./scenarios.js";
import { mostAtOnce } from "./watch.js";

export interface Counted {
  perSecond: number;
  /** From the commit that brought a job in to its first line: median, 95th and 99th of 100. */
  startMs: number[];
  /** From a job's last line to the commit that records it: the same. */
  recordMs: number[];
  /** From a caller's call to its answer: the same. */
  callerMs: number[];
  /** Billed calls a job beside the enqueue, without what comes behind. */
  calls: number;
  /** The same of janitor, roll-up and retention. */
  callsBehind: number;
  /** Documents and bytes written a job, the enqueue's too: of the alternative's own tables, */
  documents: number;
  bytes: number;
  /** The bytes without payloads and results. */
  bareBytes: number;
  /** of janitor, roll-up and retention, */
  documentsBehind: number;
  /** and of the scheduler's table. */
  systemDocuments: number;
  systemBytes: number;
  /** Attempts that lost to another commit, in 100 jobs: of callers, and of all others. */
  conflicts: number;
  conflictsBehind: number;
  errors: number;
  /** The most jobs that ran at one time. */
  atOnce: number;
  byFunction: Record<string, FunctionStats>;
  /** Who lost to whom, the most frequent first. */
  lost: ConflictStats[];
  /** Those of callers. */
  callersLost: ConflictStats[];
}

/** What Conveyor does for a job and between jobs; everything else of it comes behind. */
const HANDS_ON = /^conveyor\/(wake:|surplus:|laneAction:|laneStep:|execute:|lib:lane)/;

const HUNDREDTHS = [50, 95, 99];

export function count(
  alternative: Alternative,
  { jobs, watched, stats, told, payloadBytes }: Played,
): Counted {
  const { functions } = stats;
  const isEnqueue = (name: string) => name.startsWith(`${alternative}:`);
  const isBehind = (name: string) => name.startsWith("conveyor/") && !HANDS_ON.test(name);
  const sum = (of: (stats: FunctionStats) => number, counts: (name: string) => boolean): number =>
    Object.entries(functions).reduce((all, [name, one]) => (counts(name) ? all + of(one) : all), 0);
  const inFront = (name: string) => !isBehind(name);
  const billed = ({ billed }: FunctionStats) => billed;
  const conflicts = ({ conflicts }: FunctionStats) => conflicts;
  const { enqueued, began, ended, recorded } = watched;
  const bytes = sum(({ io }) => io.bytesWritten, inFront);
  const from = Math.min(...enqueued.values());
  return {
    perSecond: (1_000 * jobs) / (Math.max(...ended.values()) - from),
    startMs: between(enqueued, began),
    recordMs: between(ended, recorded),
    callerMs: percentiles(told.callerMs, HUNDREDTHS),
    calls: sum(billed, (name) => inFront(name) && !isEnqueue(name)) / jobs,
    callsBehind: sum(billed, isBehind) / jobs,
    documents: sum(({ io }) => io.documentsWritten, inFront) / jobs,
    bytes: bytes / jobs,
    bareBytes: (bytes - payloadBytes) / jobs,
    documentsBehind: sum(({ io }) => io.documentsWritten, isBehind) / jobs,
    systemDocuments: sum(({ systemIo }) => systemIo.documentsWritten, inFront) / jobs,
    systemBytes: sum(({ systemIo }) => systemIo.bytesWritten, inFront) / jobs,
    conflicts: (100 * sum(conflicts, isEnqueue)) / jobs,
    conflictsBehind: (100 * sum(conflicts, (name) => !isEnqueue(name))) / jobs,
    errors: told.errors.length,
    atOnce: mostAtOnce(watched),
    byFunction: functions,
    lost: stats.conflicts,
    callersLost: stats.conflicts.filter(({ loser }) => isEnqueue(loser)),
  };
}

function between(from: Map<number, number>, to: Map<number, number>): number[] {
  const times = [...to].flatMap(([n, at]) => {
    const since = from.get(n);
    return since === undefined ? [] : [at - since];
  });
  return percentiles(times, HUNDREDTHS);
}
