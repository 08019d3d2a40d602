/**
 * Invariants after every single commit of a round, and at its end. The states are the engine's own snapshots, taken as the
 * commits were published and read when the round is over: a check changes no interleaving.
 */
import { onlyForgets } from "../support/forgetting.js";
import type { Transaction } from "../../local/engine/types.js";
import { ARGS_TABLE, SCHEDULED_TABLE } from "../../local/functions/scheduledTable.js";
import { boundsIn, type Bound } from "./cursor.js";
import { COMPONENT } from "./deployment.js";
import { checkLanes } from "./laneInvariants.js";
import { must, RESTLESS, rowsOf, Violation, type World } from "./world.js";

/** The janitor's slack after a lease's end and the tolerance of a timer, and a little for a commit's own time. */
const SWEEP_WITHIN_MS = 100 + 250 + 50;

/** Claims in which one worker must get everything: a snapshot may lag three commits behind. */
const COLLECTOR_TRIES = 40;

/** As far as it is looked at here. */
export interface Job {
  _id: string;
  queue: string;
  status: string;
  attempt: number;
  session?: string;
  order: number;
  shard: number;
  seq: bigint;
  _creationTime: number;
}
export interface Session {
  _id: string;
  state: string;
  expiresAt: number;
  leases: { id: string; attempt: number }[];
  lane?: string;
  /** Of a lane: the scheduled function in which it runs. */
  runsIn?: string;
}
interface Published {
  queue: string;
  bounds: Bound[];
  floor?: Pick<Bound, "seq" | "creationTime">;
}
interface Timer {
  _id: string;
  kind: string;
  dueAt: number;
  queue?: string;
  start?: number;
  width?: number;
  generation?: number;
  /** A wide segment's alarm that hands over says from where on it is still to be relied on. */
  position?: { from?: number };
}
export interface Scheduled {
  _id: string;
  target: { path: string };
  args: { timer?: string; generation?: number } | undefined;
  state: { kind: string };
}
interface Expiry {
  queue: string;
  at: number;
}
export type Read = <T>(table: string) => Promise<T[]>;
type Told = { attempt: number; [field: string]: unknown };

/** Every commit's state. */
export async function checkCommits(world: World): Promise<void> {
  for (const [at, { state }] of world.stage.commits.entries()) await checkState(world, state, at);
  checkLooks(world);
}

async function checkState(world: World, state: Transaction, at: number): Promise<void> {
  await checkTables(state);
  const jobs = (await rowsOf(state, COMPONENT, "jobs")) as unknown as Job[];
  for (const { cursor, since } of world.cursors) if (since <= at) checkCursor(cursor, jobs);
}

/** The invariants of the rows after any commit. */
export async function checkTables(state: Transaction): Promise<void> {
  const read = async <T>(table: string, namespace = COMPONENT) =>
    (await rowsOf(state, namespace, table)) as unknown as T[];
  const jobs = await read<Job>("jobs");
  const sessions = await read<Session>("sessions");
  checkLeases(jobs, sessions);
  if (sessions.some((session) => session.leases.length > 0)) {
    // A sweep that has more to do goes on under the same timer, and leaves its row as it is.
    const timers = (await read<Timer>("timers")).filter(({ kind }) => kind === "janitor");
    const scheduled = await readScheduled(read);
    const armed = timers.filter(({ _id }) =>
      scheduled.some(({ args, state: { kind } }) => args?.timer === _id && kind === "pending"),
    );
    const ends = Math.min(
      ...sessions.filter(({ state }) => state === "active").map(({ expiresAt }) => expiresAt),
    );
    must(armed.length > 0, "leased without a timer");
    must(
      Math.min(...armed.map(({ dueAt }) => dueAt)) <= ends + SWEEP_WITHIN_MS,
      "leased, and the timer comes too late",
    );
  }
  await checkAlarms(read, jobs);
  const told = await read<Told>("told", "");
  const owed = await read<Told>("callbacks");
  const queues = await read<{ name: string; config: { onComplete?: string } }>("queues");
  const untold = queues.filter(({ config }) => config.onComplete === undefined);
  for (const job of jobs)
    if (!untold.some(({ name }) => name === job.queue)) checkTold(job, told, owed);
  await checkLanes(read, jobs, sessions);
  const cursors = await read<Published>("cursors");
  for (const { queue, bounds, floor } of cursors) {
    checkBounds("published", queue, bounds, jobs);
    if (floor !== undefined) checkFloor(queue, bounds, floor, jobs);
  }
}

/** Of a cursor that a call returned, after that call and ever after. */
export function checkCursor(cursor: string, jobs: readonly Job[]): void {
  for (const [queue, bounds] of boundsIn(cursor)) checkBounds("returned", queue, bounds, jobs);
}

/** With their arguments, which have rows of their own. */
async function readScheduled(read: Read): Promise<Scheduled[]> {
  const rows = await read<Scheduled & { argsId: string }>(SCHEDULED_TABLE);
  const args = await read<{ _id: string; args: Scheduled["args"][] }>(ARGS_TABLE);
  const byId = new Map(args.map((row) => [row._id, row.args[0]]));
  return rows.map((row) => ({ ...row, args: byId.get(row.argsId) }));
}

/** Every due time has an alarm that will ring for it: its function is scheduled, and is of its generation. */
async function checkAlarms(read: Read, jobs: readonly Job[]): Promise<void> {
  const timers = await read<Timer>("timers");
  const scheduled = await readScheduled(read);
  const armed = timers.filter(({ _id, generation = 0 }) =>
    scheduled.some(
      ({ args, state: { kind } }) =>
        kind === "pending" && args?.timer === _id && args.generation === generation,
    ),
  );
  const isSeenTo = (kind: string, queue: string, at: number) =>
    armed.some(
      ({ start = 0, width = 0, position, ...timer }) =>
        timer.kind === kind &&
        timer.queue === queue &&
        Math.max(start, position?.from ?? start) <= at &&
        at < start + width,
    );
  for (const { status, queue, order } of jobs) {
    if (status !== "scheduled") continue;
    must(isSeenTo("dispatcher", queue, order), "scheduled, and no alarm will ring for it");
  }
  for (const { queue, at } of await read<Expiry>("expiries")) {
    must(isSeenTo("expiry", queue, at), "it expires, and no alarm will ring for it");
  }
}

/**
 * Running if and only if it stands in the leases of its session, with that attempt; and nowhere else. An attempt that has ended
 * apart stands in its lane's until the lane reports that.
 */
function checkLeases(jobs: readonly Job[], sessions: readonly Session[]): void {
  const leases = sessions.flatMap(({ _id, leases, lane }) =>
    leases.map((lease) => ({ ...lease, session: _id, isLanes: lane !== undefined })),
  );
  for (const { _id, status, attempt, session } of jobs) {
    const isOver = (one: (typeof leases)[number]) =>
      one.isLanes && (status !== "running" || one.attempt < attempt);
    const own = leases.filter((one) => one.id === _id && !isOver(one));
    must(own.length <= 1, "two attempts hold one job");
    const stands = own[0]?.session === session && own[0]?.attempt === attempt;
    if (status === "running") must(own.length === 1 && stands, "running, in no lease");
    else must(own.length === 0, "leased, and not running");
  }
}

/**
 * Every finished job's callback has run exactly once, or is owed; no attempt has two, and none before an earlier one that is
 * owed.
 */
function checkTold(job: Job, told: readonly Told[], owed: readonly Told[]): void {
  const mine = told.filter(({ id }) => id === job._id);
  const attempts = new Set(mine.map(({ attempt }) => attempt));
  must(attempts.size === mine.length, "an attempt had two callbacks");
  const first = owed.filter((row) => row["job"] === job._id && row["state"] === "owed");
  must(
    !mine.some(({ attempt }) => first.some((row) => row.attempt < attempt)),
    "a callback ran before an earlier one",
  );
  if (!["succeeded", "failed", "canceled", "timedOut"].includes(job.status)) return;
  const heard = mine.filter(({ attempt }) => attempt === job.attempt).length;
  const due = owed.filter((row) => row["job"] === job._id && row.attempt === job.attempt).length;
  must(heard + due > 0, "finished, with a callback neither run nor owed");
  must(heard + due === 1, "run, and owed as well");
}

function checkBounds(
  whose: string,
  queue: string,
  bounds: readonly Bound[],
  jobs: readonly Job[],
): void {
  for (const { order, shard, seq, creationTime } of bounds) {
    const passed = jobs.some(
      (job) =>
        job.status === "pending" &&
        job.queue === queue &&
        job.order === order &&
        job.shard === shard &&
        (job.seq < seq || (job.seq === seq && job._creationTime < creationTime)),
    );
    must(!passed, `a pending job below a ${whose} cursor`);
  }
}

/** The floor is the bound of every place that is not named. */
function checkFloor(
  queue: string,
  bounds: readonly Bound[],
  floor: Pick<Bound, "seq" | "creationTime">,
  jobs: readonly Job[],
): void {
  const waiting = jobs.filter((job) => job.status === "pending" && job.queue === queue);
  for (const { order, shard } of waiting) {
    const isNamed = bounds.some((bound) => bound.order === order && bound.shard === shard);
    if (!isNamed) checkBounds("published", queue, [{ order, shard, ...floor }], jobs);
  }
}

/** An idle worker is woken: for every "no work" some later commit that enqueues lies in the query's read set. */
function checkLooks({ looks, stage: { commits } }: World): void {
  for (const { hasWork, ts, reads } of looks) {
    if (hasWork) continue;
    const missed = commits.filter(
      ({ commit }) =>
        commit.ts > ts && commit.source.includes("lib:enqueue") && !commit.touches(reads),
    );
    must(missed.length === 0, "an idle worker is not woken");
  }
}

/**
 * The end of a round: all calls stop until the leases have been ended, then one more worker does all jobs, and the world must
 * come to rest with no such row left.
 */
export async function checkEnd(world: World): Promise<void> {
  await world.call("", "app:mend");
  await atRest(world);
  const collector = world.session("collector");
  // Longer than a claimer waits before it takes from foreign shards.
  await world.sleep(1_000);
  for (let tries = 0; tries < COLLECTOR_TRIES; tries += 1) {
    const pending = (await world.rows("jobs")).filter(({ status }) => status === "pending");
    if (pending.length === 0) break;
    const jobs = await collector.claim(8);
    if (jobs.length > 0) await collector.complete(jobs);
  }
  await atRest(world);
  const jobs = await world.rows("jobs");
  const open = jobs.filter(({ status }) => ["pending", "running"].includes(status as string));
  must(open.length === 0, "a job is stuck");
  const sessions = await world.rows("sessions");
  const now = world.stage.clock.now();
  const left = (await world.rows("timers")).filter(
    (timer) => !KEPT_TIMERS.has(timer["kind"]) && !onlyForgets(timer, sessions, now),
  );
  must(left.length === 0, `a timer of the ${String(left[0]?.["kind"])} remains`);
  must((await world.rows("callbacks")).length === 0, "a callback is stuck");
}

/** Finished jobs are kept for longer than any round goes on, and new ones may be counted ten minutes later. */
export const KEPT_TIMERS = new Set<unknown>(["purge", "arrivals"]);

async function atRest(world: World): Promise<void> {
  if (!(await world.stage.rest())) throw new Violation(RESTLESS);
}
