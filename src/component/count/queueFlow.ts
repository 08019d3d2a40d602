/**
 * The flow of a queue: the job that waits longest, the time of the last claim, the workers that could take it. For
 * people; a judgement of it is in `shared/health.ts`. Reads a few rows of each kind, at any size of the queue; may not
 * write.
 */
import {
  bandsOf,
  BLOCKED_SHOWN_MS,
  FINISHED_STATUSES,
  IDLE_LIVE_MS,
  lastPeriods,
  msOfCommit,
  ORDER_BY_COMMIT,
  percentileOf,
  SESSIONS_READ_BYTES,
  addHistograms,
  type QueueFlow,
  type Sample,
  type Status,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { DatabaseReader } from "../_generated/server.js";
import { mayClaim } from "../index/outsideWorkers.js";
import { lastBlocked } from "../rows/events.js";
import { countQuickly } from "./counts.js";
import { bytesOf, takeWithin } from "../rows/rowBytes.js";
import { oldestJobIn, RANGES_READ } from "./oldest.js";
import { rowsBetween } from "./periodRows.js";
import type { Queue } from "../rows/queues.js";

/** The waits of fewer jobs are not representative. */
const USUAL_JOBS_MIN = 20;
/**
 * Sessions that are read to find the ones which serve the queue; and in one transaction, while these are small, to find any
 * that does.
 */
const SESSIONS_READ = 32;
const SESSIONS_READ_MAX = 256;
const SMALL_BYTES = SESSIONS_READ_BYTES / 8;

/**
 * The flow of a queue, and when the job was enqueued that has been claimable for longest. `beside`: how many queues one
 * transaction reads so.
 */
export async function movementOf(
  db: DatabaseReader,
  queue: Queue,
  now: number,
  beside: number,
): Promise<{ flow: Omit<QueueFlow, "running">; oldestPendingAt?: number }> {
  const [blocked, oldest, claimedAt, usualWaitMs] = await Promise.all([
    lastBlocked(db, queue.name),
    oldestPendingIn(db, queue, beside),
    lastClaimIn(db, queue),
    usualWaitIn(db, queue.name, now),
  ]);
  const workers =
    oldest === null
      ? { idleWorkers: 0, hasWorkers: false }
      : await workersOf(db, queue.name, now, beside);
  return {
    flow: {
      ...workers,
      ...(oldest === null ? {} : { claimableAt: msOfCommit(oldest.seq as bigint) }),
      ...(claimedAt === null ? {} : { claimedAt }),
      ...(usualWaitMs === null ? {} : { usualWaitMs }),
      ...(blocked === null || blocked.at < now - BLOCKED_SHOWN_MS ? {} : { blocked }),
    },
    ...(oldest === null ? {} : { oldestPendingAt: oldest.enqueuedAt }),
  };
}

/** How the last `count` jobs ended that were not canceled, newest first. */
export async function lastEnds(
  db: DatabaseReader,
  queue: string,
  count: number,
): Promise<Sample[]> {
  const ended = await Promise.all(
    FINISHED_STATUSES.map((status) => newestOf(db, queue, status, count, ENDS_BYTES)),
  );
  return samplesOf(ended.flat()).slice(0, count);
}

/** The results of these jobs, newest first, except canceled ones: a cancel is no evidence of the queue's health. */
export function samplesOf(jobs: readonly Doc<"jobs">[]): Sample[] {
  return jobs
    .filter(({ status }) => status !== "canceled")
    .sort((a, b) => ((a.seq as bigint) < (b.seq as bigint) ? 1 : -1))
    .map(({ status, startedAt, finishedAt }) => ({
      succeeded: status === "succeeded",
      ...(startedAt === undefined || finishedAt === undefined
        ? {}
        : { ms: finishedAt - startedAt }),
    }));
}

/** Where nothing waits, one range says so, and not one for each place. */
async function oldestPendingIn(
  db: DatabaseReader,
  queue: Queue,
  beside: number,
): Promise<Doc<"jobs"> | null> {
  const { count } = await countQuickly(db, queue.name, "pending", 1);
  return count === 0 ? null : await oldestJobIn(db, queue, Math.floor(RANGES_READ / beside));
}

/** When a job was last claimed, as far as the present jobs show; `null` if they show nothing. */
export async function lastClaimIn(
  db: DatabaseReader,
  { name: queue, config }: Queue,
): Promise<number | null> {
  const [running, ...ended] = await Promise.all(
    (["running", ...FINISHED_STATUSES] as const).map((status) => newestOf(db, queue, status, 1)),
  );
  // A running job was last written by its claim.
  const claims = running!.map(({ seq }) => msOfCommit(seq as bigint));
  const starts = ended.flat().flatMap(({ startedAt }) => startedAt ?? []);
  const rounds = config.circular ? await lastRoundsIn(db, queue) : [];
  const all = [...claims, ...starts, ...rounds];
  return all.length === 0 ? null : Math.max(...all);
}

/**
 * When items of a ring last ended a round, which is no end of a job, and leaves no start: of the newest one in line, in the
 * place of a ring that has one priority and shard, and of the one that rests longest.
 */
async function lastRoundsIn(db: DatabaseReader, queue: string): Promise<number[]> {
  const [, order] = bandsOf(0);
  const newest = await Promise.all([
    db
      .query("jobs")
      .withIndex("status", (q) =>
        q.eq("queue", queue).eq("status", "pending").eq("order", order).eq("shard", 0),
      )
      .order("desc")
      .first(),
    db
      .query("jobs")
      .withIndex("status", (q) => q.eq("queue", queue).eq("status", "scheduled"))
      .order("desc")
      .first(),
  ]);
  return newest.flatMap((job) => job?.finishedAt ?? []);
}

/** Bytes of the last ends of each status: of jobs with long errors fewer are read. */
const ENDS_BYTES = 2 ** 18;

async function newestOf(
  db: DatabaseReader,
  queue: string,
  status: Status,
  count: number,
  bytes = Infinity,
): Promise<Doc<"jobs">[]> {
  const newest = db
    .query("jobs")
    .withIndex("status", (q) =>
      q.eq("queue", queue).eq("status", status).eq("order", ORDER_BY_COMMIT).eq("shard", 0),
    )
    .order("desc");
  return (await takeWithin(newest, count, bytes)).rows;
}

async function usualWaitIn(db: DatabaseReader, queue: string, now: number): Promise<number | null> {
  const [from, to] = lastPeriods(now, "day", 2) as [number, number];
  const rows = await rowsBetween(db, { queue, per: "day", from, to, count: 2 });
  const waits = rows.reduce<number[]>((sum, row) => addHistograms(sum, row.waitMs), []);
  const jobs = waits.reduce((sum, count) => sum + count, 0);
  return jobs < USUAL_JOBS_MIN ? null : percentileOf(waits, 0.95);
}

/**
 * Idle ones first, the latest, among which are lanes: where there are any, no other session is read. Active sessions write
 * their rows with every call. One that is quiet or about to stop is given no job.
 */
async function workersOf(
  db: DatabaseReader,
  queue: string,
  now: number,
  beside: number,
): Promise<Pick<QueueFlow, "idleWorkers" | "hasWorkers">> {
  const serving = async (sessions: AsyncIterable<Doc<"sessions">>, since: number) => {
    let [read, bytes, found] = [0, 0, 0];
    for await (const one of sessions) {
      if (mayClaim(one) && one.expiresAt >= since && one.queues.includes(queue)) found += 1;
      read += 1;
      bytes += bytesOf(one);
      const isEnough = found > 0 || bytes >= SMALL_BYTES;
      const most = isEnough ? SESSIONS_READ : Math.max(SESSIONS_READ, SESSIONS_READ_MAX / beside);
      if (read >= most || bytes >= SESSIONS_READ_BYTES / beside) break;
    }
    return found;
  };
  const latest = db
    .query("sessions")
    .withIndex("state", (q) => q.eq("state", "idle").gte("expiresAt", now - IDLE_LIVE_MS))
    .order("desc");
  const idleWorkers = await serving(latest, now - IDLE_LIVE_MS);
  if (idleWorkers > 0) return { idleWorkers, hasWorkers: true };
  // Without a token they are lanes, which may be more than are read.
  const active = db
    .query("sessions")
    .withIndex("standing", (q) => q.eq("state", "active").gt("token", undefined));
  return { idleWorkers, hasWorkers: (await serving(active, now)) > 0 };
}
