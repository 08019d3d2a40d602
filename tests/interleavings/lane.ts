/**
 * A lane as far as the component sees it: the calls of its action. Its leases, counts and process are read from its rows, so that
 * it can go on from any point. And the final state of a push queue, when its lanes go on by themselves and no other call comes.
 */
import { ACTION_LOST } from "../../local/functions/scheduledRuns.js";
import { markCompleted } from "../../local/functions/scheduledTable.js";
import {
  COMPONENT_VERSION,
  lifeOf,
  type Finished,
  type LaneReply,
  type ProcessReport,
} from "../../src/shared/index.js";
import { COMPONENT } from "../races/deployment.js";
import { checkTables } from "../races/invariants.js";
import { must } from "../races/world.js";
import { mutation, type Line, type Row } from "./line.js";
import type { Call } from "./transactions.js";

interface Held {
  id: string;
  attempt: number;
  callSeq: number;
}

interface SessionRow extends Row {
  state: string;
  generation?: number;
  runsIn?: string;
  sweep?: object;
  callSeq: number;
  leases: Held[];
}

/** The rows of lanes, each with fields of its session's row. */
export interface LaneRow extends Row {
  queue: string;
  session: string;
  cap: number;
  under?: number;
  state: "awake" | "asleep";
  generation: number;
  /** The scheduled function in which it runs, or ran last. */
  runsIn: string | undefined;
  sweep: object | undefined;
}

/** Lanes run jobs of queues that have a handler. None is called here: its name is enough. */
export const HANDLER = {
  handle: "function://;app:work",
  kind: "action",
  takes: "payload",
} as const;

export function lanesOf(line: Line): LaneRow[] {
  return line.rows("lanes").map((row): LaneRow => {
    const { state, generation = 0, runsIn, sweep } = sessionOf(line, row);
    const of = { state: state === "active" ? "awake" : "asleep", generation, runsIn, sweep };
    return { ...row, ...of } as LaneRow;
  });
}

export function sessionOf(line: Line, lane: Row): SessionRow {
  return line.rows("sessions").find(({ _id }) => _id === lane["session"]) as SessionRow;
}

/** The latest lane that was started, of the first queue or another. */
export function awakeLane(line: Line, queue = line.queue): LaneRow {
  const awake = lanesOf(line).filter((lane) => lane.state === "awake" && lane.queue === queue.name);
  must(awake.length > 0, "no lane was started");
  return awake.at(-1)!;
}

export function guard(line: Line): LaneRow {
  const [gate] = line.rows("gates");
  const lane = lanesOf(line).find(({ _id }) => _id === gate?.["guard"]);
  must(lane !== undefined, "no lane guards the queue");
  return lane!;
}

// --- Processes -----------------------------------------------------------------------------------

export interface ProcessRow extends Row {
  number: number;
  state: "free" | "open" | "receiving";
  generation: number;
  openedAt: number;
  scheduledId?: string;
}

export function processesOf(line: Line): ProcessRow[] {
  return line.rows("processes") as ProcessRow[];
}

/** The process in which a lane runs. A lane of a single call has none. */
export function processOf(line: Line, { runsIn }: LaneRow): ProcessRow | undefined {
  return processesOf(line).find(
    ({ state, scheduledId }) => state !== "free" && scheduledId === runsIn,
  );
}

/** How a process names itself in its calls. */
export function named({ _id: process, generation }: ProcessRow) {
  return { process, generation };
}

/** How many jobs a process may run at once. */
export function placesOf(line: Line, { _id }: ProcessRow): number {
  const grant = line.rows("grants").find(({ process }) => process === _id);
  return 1 + Number(grant?.["extra"] ?? 0);
}

/** The lane's report on its process, if so many of its jobs have ended. */
function says(line: Line, lane: LaneRow, process: ProcessRow, ended: number): ProcessReport {
  const beside = lanesIn(line, process).filter(({ _id }) => _id !== lane._id);
  // It has heard of the lanes that have made a call.
  const known = beside.filter((other) => handOverOf(line, other) === undefined);
  const { leases, callSeq } = sessionOf(line, lane);
  const own = leases.length - ended;
  const running = known.reduce((sum, other) => sum + sessionOf(line, other).leases.length, own);
  const left = Math.max(0, placesOf(line, process) - running);
  const brought = leases.filter((held) => held.callSeq === callSeq).length;
  const places = Math.min(left, 2 * Math.max(brought, ended) + 2);
  return {
    ...named(process),
    ...{ version: COMPONENT_VERSION, endsAt: process.openedAt + lifeOf(false) },
    ...{ places, isFull: left <= places },
    ...(known.length === 0 && own === 0 ? { closes: true } : {}),
    ...(process.state === "receiving" ? { receivedUpTo: 0n } : {}),
  };
}

/** The lanes that a process runs, and lanes handed to it. */
export function lanesIn(line: Line, { scheduledId }: ProcessRow): LaneRow[] {
  return lanesOf(line).filter(({ state, runsIn }) => state === "awake" && runsIn === scheduledId);
}

function handOverOf(line: Line, { _id }: LaneRow): string | undefined {
  const rows = line.rows("handOvers") as (Row & { start: { lane: string } })[];
  return rows.find(({ start }) => start.lane === _id)?._id;
}

/** A process without lanes closes, if its last lane's call has not closed it. */
export async function closesIfDone(line: Line, process: ProcessRow): Promise<void> {
  if (lanesIn(line, process).length === 0)
    await line.do(mutation("push/mainLoop:closeProcess", named(process)));
}

// --- Calls of a lane -----------------------------------------------------------------------------

export interface Said {
  /** So many of its jobs have ended; all, if nothing is said. */
  ends?: number;
  /** So often it has looked in vain. */
  looks?: number;
  /** Further fields of its report on the process. */
  in?: Partial<ProcessReport>;
}

/** Its next call. */
export function steps(
  line: Line,
  row: Row,
  { ends = Infinity, looks = 0, ...said }: Said = {},
): Call {
  const lane = lanesOf(line).find(({ _id }) => _id === row._id)!;
  const session = sessionOf(line, lane);
  const finished = session.leases.slice(0, ends).map(({ id, attempt }): Finished => ({
    id,
    attempt,
    outcome: { kind: "succeeded", result: 1 },
  }));
  const process = processOf(line, lane);
  const handOver = handOverOf(line, lane);
  const callSeq = session.callSeq + 1;
  return mutation("push/laneStep:stepLane", {
    ...{
      lane: lane._id,
      generation: lane.generation,
      callSeq,
      lastAckedCall: callSeq - 1,
      finished,
      execute: [],
      looks,
    },
    ...(process === undefined
      ? {}
      : { in: { ...says(line, lane, process, finished.length), ...said.in } }),
    ...(handOver === undefined ? {} : { handOver }),
  });
}

/** It makes that call, and its process ends if nothing is left in it. */
export async function goes(line: Line, lane: Row, said: Said = {}): Promise<LaneReply> {
  const process = processOf(
    line,
    lanesOf(line).find(({ _id }) => _id === lane._id)!,
  );
  const reply = await line.do<LaneReply>(steps(line, lane, said));
  const now = processesOf(line).find(({ _id }) => _id === process?._id);
  if (now !== undefined && now.state !== "free" && now.generation === process!.generation)
    await closesIfDone(line, now);
  return reply;
}

/** Its machine is gone, and the platform says so. */
export async function loses(line: Line, lane: LaneRow): Promise<void> {
  const transaction = line.point.begin();
  const scheduled = { namespace: COMPONENT, id: lane.runsIn! };
  const state = { kind: "failed" as const, error: ACTION_LOST };
  await markCompleted(transaction, scheduled, state, line.now);
  line.point = line.point.commit(transaction, "a machine is gone")!;
}

const ROUND_MS = 500;
/** Long before the watchdog takes anything for forgotten. */
const ROUNDS_MAX = 8;

/**
 * Lanes go on by themselves: every job begins soon, also while these lanes are busy with their jobs; then they end, and all of
 * them sleep, no lane is relied on, and no process is left.
 */
export async function checkLanesRest(line: Line, ...busy: Row[]): Promise<void> {
  const isBusy = ({ _id }: Row) => busy.some((lane) => lane._id === _id);
  if (busy.length > 0) await goOn(line, (lane) => !isBusy(lane));
  const waiting = line.rows("jobs").filter(({ status }) => status === "pending");
  must(busy.length === 0 || waiting.length === 0, "a job is pending, and no lane scans");
  await goOn(line, () => true);
  await checkTables(line.point.begin());
  const open = line.rows("jobs").filter(isOpen);
  must(open.length === 0, `a job is ${String(open[0]?.status)}, and no lane scans`);
  must(
    lanesOf(line).every(({ state }) => state === "asleep"),
    "a lane does not go to sleep",
  );
  must(
    line.rows("gates").every(({ state }) => state === "quiet"),
    "a lane is relied on that has gone",
  );
  must(
    processesOf(line).every(({ state }) => state === "free"),
    "a process has no lane, and does not end",
  );
  must(line.rows("waitingQueues").length === 0, "a queue waits, and there is room");
}

const isOpen = ({ status }: Row) => status === "pending" || status === "running";

async function goOn(line: Line, isFree: (lane: Row) => boolean): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    await line.pass(ROUND_MS);
    const awake = lanesOf(line).filter((lane) => isRunning(line, lane) && isFree(lane));
    for (const lane of awake) await goes(line, lane, { looks: round });
    await rouses(line);
    const isWoken = line.transactions.due(line.point).length > 0;
    const waits = line.rows("jobs").some(({ status }) => status === "pending");
    if (awake.length === 0 && !isWoken && !waits) return;
  }
}

/** It is awake, and the scheduled function in which it runs is not gone. */
function isRunning(line: Line, { state, runsIn }: LaneRow): boolean {
  const run = line.rows("_scheduled_functions").find(({ _id }) => _id === runsIn);
  const { kind } = (run?.["state"] ?? {}) as { kind?: string };
  return state === "awake" && kind === "pending";
}

/** A process in state "receiving" wakes the queues that wait. */
async function rouses(line: Line): Promise<void> {
  const receiver = processesOf(line).find(({ state }) => state === "receiving");
  if (receiver === undefined || line.rows("waitingQueues").length === 0) return;
  await line.do(
    mutation("push/mainLoop:rouseQueues", { from: { ...named(receiver), givenBack: 0 } }),
  );
}
