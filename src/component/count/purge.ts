/**
 * The purge: deletes finished jobs after their retention, with all their rows, and other rows after their time: keys
 * with a passed window, old events, old minutes, hours and days, routes and priorities without waiting jobs.
 *
 * It follows each finished status by the whole key and never goes back, so that the index entries of deleted jobs are
 * not walked again; never past the roll-up's keys, nor past a job with an `onComplete` still to be delivered. Each step
 * is bounded by jobs, rows and bytes, and one job's rows may take any number of steps.
 *
 * Handshake: the roll-up ensures its alarm whenever it has counted something, and everything that finishes is counted.
 * It goes after a real read that no job of the queue has finished and none keeps a key, or, seen from the other side,
 * nothing can finish uncounted while it goes.
 *
 * Reads for real: its alarm, the queue, `counted`, the jobs it deletes and the rows that name them; where nothing
 * more is to be deleted now, up to 64 finished jobs of each status and the keys that are kept, without an upper
 * bound: a range with fewer, if they are not large, is read to its end. Writes: deletes these, old `events`; its alarm
 * (`timers`). Conflicts with: a retry, a deletion or a late report of a job that it deletes, the delivery of its callback; the roll-up;
 * where a range is read to its end, a transaction that finishes a job of the queue in that status, or keeps a key.
 */
import {
  msOfCommit,
  commitTimeOf,
  FINISHED_STATUSES,
  PERS,
  PURGE_BUSY_MS,
  PURGE_IDLE_MS,
  PURGE_LATE_MIN_MS,
  PURGE_LATE_PART,
  PURGE_OWED_MS,
  RANGE_ROWS,
  REMOVE_BYTES,
  REMOVE_JOBS,
  type FinishedStatus,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { MutationCtx } from "../_generated/server.js";
import { defineLoop, ensureAlarm, findAlarm, rearm } from "../loops/loop.js";
import { compareKeys, type Key } from "../rows/cursors.js";
import { findCounted, finishedFrom, keyOfStatus } from "./finished.js";
import { forgetWindows, windowsOf } from "../rows/keys.js";
import { forgetPeriods } from "./periodRows.js";
import { forgetEvents } from "../rows/events.js";
import { findQueue, type Queue } from "../rows/queues.js";
import { bytesOf, takeWithin } from "../rows/rowBytes.js";
import { isSpent, newRoom, removeJob, type Place, type Room } from "./remove.js";
import { ensureUpkeep } from "./rollUp.js";
import { dropUnusedRoutes } from "../rows/routes.js";

/** The bytes of one status's finished jobs, read before it is known whether one of them must stay. */
const FINISHED_BYTES = REMOVE_BYTES / 8;

/** Kept in the alarm's row. */
interface Position {
  /** Of the queue: after a restore, rows with an old `seq` may have come in. */
  epoch: number;
  /** Of each status the first key that has not been dealt with. */
  from: ({ status: FinishedStatus } & Key)[];
  /** A job of which a part is gone. */
  place?: Place;
}

// --- Arming -------------------------------------------------------------------------------------

/** Ensures that jobs which have just finished in these statuses are deleted when their time comes. */
export async function ensurePurge(
  ctx: MutationCtx,
  queue: string,
  statuses: readonly FinishedStatus[],
  now: number,
): Promise<void> {
  const retention = (await findQueue(ctx.db, queue))?.config.retention;
  if (retention === undefined || statuses.length === 0) return;
  const shortest = Math.min(...statuses.map((status) => retention[`${status}Ms`]));
  const dueAt = now + shortest + lateness(shortest);
  await ensureAlarm(ctx, { kind: "purge", queue }, dueAt, now);
}

/**
 * Ensures that the key that a deleted job keeps for a window goes when that is over. Nothing else need ever come for
 * it: a deleted job does not finish, and is not counted.
 */
export async function ensureWindowPurged(
  ctx: MutationCtx,
  { queue, keyUntil }: Pick<Doc<"jobs">, "queue" | "keyUntil">,
  now: number,
): Promise<void> {
  if (keyUntil === undefined) return;
  const dueAt = Math.max(keyUntil, now) + PURGE_IDLE_MS;
  await ensureAlarm(ctx, { kind: "purge", queue }, dueAt, now);
}

/** The purge runs again at once: retention has been made shorter. */
export async function hastenPurge(ctx: MutationCtx, queue: string, now: number): Promise<void> {
  const alarm = await findAlarm(ctx.db, { kind: "purge", queue });
  if (alarm !== null && alarm.dueAt > now) await rearm(ctx, alarm, { at: now });
}

/** How much later than it must a purge may come, so that it finds more than one job. */
function lateness(retentionMs: number): number {
  return Math.min(PURGE_IDLE_MS, Math.max(PURGE_LATE_MIN_MS, retentionMs / PURGE_LATE_PART));
}

// --- A run --------------------------------------------------------------------------------------

export const purgeQueue = defineLoop({
  kind: "purge",
  run: async (ctx, alarm, now) => {
    const queue = await findQueue(ctx.db, alarm.queue!);
    if (queue === null) return "gone";
    const run = await deleteFinished(ctx, queue, alarm, now);
    const { position } = run;
    if (run.isFull || (await sweepRest(ctx, queue.name, now))) return { at: now, position };
    const at = run.isHeld ? now + PURGE_OWED_MS : await nextAt(ctx, queue, run, now);
    return at === null ? "gone" : { at, position };
  },
});

interface Run {
  position: Position;
  deleted: number;
  /** Stopped by its bounds: there is more to do at once. */
  isFull: boolean;
  /** Stopped at a job with an `onComplete` still to be delivered, or that is not counted yet. */
  isHeld: boolean;
}

async function deleteFinished(
  ctx: MutationCtx,
  { name, epoch, config }: Queue,
  alarm: Doc<"timers">,
  now: number,
): Promise<Run> {
  const kept = alarm.position as Position | undefined;
  const { from, place } = kept?.epoch === epoch ? kept : { from: [], place: undefined };
  const counted = (await findCounted(ctx.db, name))?.upTo ?? [];
  const room = newRoom();
  const run: Run = { position: { epoch, from: [] }, deleted: 0, isFull: false, isHeld: false };
  for (const status of FINISHED_STATUSES) {
    let key: Key = keyOfStatus(from, status);
    if (!run.isFull) {
      const cutoff = commitTimeOf(now - config.retention[`${status}Ms`]);
      const wanted = REMOVE_JOBS - run.deleted;
      const bounds = { before: cutoff, bytes: FINISHED_BYTES };
      const jobs = await finishedFrom(ctx.db, name, status, key, wanted, bounds);
      const upTo = keyOfStatus(counted, status);
      const passed = await deleteJobs(ctx, jobs, upTo, { room, run, place, now });
      if (passed !== null) key = passed;
      run.isFull ||= run.deleted >= REMOVE_JOBS || isSpent(room);
    }
    run.position.from.push({ status, ...key });
  }
  return run;
}

/** Deletes these jobs in their order, up to one that cannot go yet. Returns the key after the last that is gone. */
async function deleteJobs(
  ctx: MutationCtx,
  jobs: readonly Doc<"jobs">[],
  counted: Key,
  { room, run, place, now }: { room: Room; run: Run; place: Place | undefined; now: number },
): Promise<Key | null> {
  let passed: Key | null = null;
  for (const job of jobs) {
    const key = { seq: job.seq as bigint, creationTime: job._creationTime };
    const isUncounted = compareKeys(key, counted) >= 0;
    if (isUncounted) await ensureUpkeep(ctx, job.queue, now);
    if (isUncounted || (await isOwed(ctx, job))) {
      run.isHeld = true;
      return passed;
    }
    if (isSpent(room)) {
      run.isFull = true;
      return passed;
    }
    const rest = await removeJob(ctx, job, room, { from: place });
    if (rest !== null) {
      run.isFull = true;
      run.position.place = rest;
      return passed;
    }
    run.deleted += 1;
    // Not past it: another that came in the same instant may have its key, and still be there.
    passed = key;
  }
  // Of large rows no more were read.
  run.isFull ||= jobs.reduce((sum, job) => sum + bytesOf(job), 0) >= FINISHED_BYTES;
  return passed;
}

/** Whether an `onComplete` of the job is still to be delivered. An end that was given up is not waited for. */
async function isOwed(ctx: MutationCtx, job: Doc<"jobs">): Promise<boolean> {
  const owed = ctx.db
    .query("callbacks")
    .withIndex("job", (q) => q.eq("job", job._id).eq("state", "owed"));
  return (await takeWithin(owed, RANGE_ROWS, 1)).rows.length > 0;
}

/**
 * When to come again, or `null` if there is nothing left to come for. The reads have no upper bound: a status with fewer
 * than `RANGE_ROWS` kept jobs, if these are not large, is read to its end, so that each job which finishes in it meanwhile
 * makes this retry.
 */
async function nextAt(
  ctx: MutationCtx,
  { name, config }: Queue,
  run: Run,
  now: number,
): Promise<number | null> {
  let next = Infinity;
  for (const status of FINISHED_STATUSES) {
    const from = keyOfStatus(run.position.from, status);
    const bounds = { bytes: FINISHED_BYTES };
    const [first] = await finishedFrom(ctx.db, name, status, from, RANGE_ROWS, bounds);
    if (first === undefined) continue;
    const retentionMs = config.retention[`${status}Ms`];
    const dueAt = msOfCommit(first.seq as bigint) + retentionMs;
    // With more than a handful at a time there is nothing to be gained by waiting for more.
    const late = run.deleted > RANGE_ROWS ? PURGE_BUSY_MS : lateness(retentionMs);
    next = Math.min(next, Math.max(dueAt, now) + Math.min(late, lateness(retentionMs)));
  }
  const [window] = await windowsOf(ctx.db, name, RANGE_ROWS);
  if (window !== undefined) next = Math.min(next, Math.max(window.until, now) + PURGE_IDLE_MS);
  return next === Infinity ? null : next;
}

// --- Other rows after their time --------------------------------------------------------------------

/** Whether something was as much as one transaction deletes, so that there may be more. */
async function sweepRest(ctx: MutationCtx, queue: string, now: number): Promise<boolean> {
  let most = await forgetWindows(ctx.db, queue, REMOVE_JOBS, now);
  for (const per of PERS)
    most = Math.max(most, await forgetPeriods(ctx.db, queue, per, REMOVE_JOBS, now));
  most = Math.max(most, await forgetEvents(ctx.db, REMOVE_JOBS, now));
  await dropUnusedRoutes(ctx, queue);
  return most === REMOVE_JOBS;
}
