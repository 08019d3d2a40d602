/**
 * Workers that could take a job: the workers outside that are alive and serve its queue, and the lanes in which Convex
 * itself runs it. For people; claims do not use it.
 *
 * Reads for real: sessions by when they were last seen, up to a hundred idle and a hundred active ones; running jobs up
 * to the number that may run at once, of large rows fewer; the queue's row in `waitingQueues`. A subscription is
 * invalidated by every call of one of these workers.
 */
import {
  CREW_READ,
  IDLE_LIVE_MS,
  INSIDE_READ,
  msOfCommit,
  NAMED,
  OUTSIDE_READ,
  SESSIONS_READ_BYTES,
  type CrewFacts,
  type InsideFacts,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { DatabaseReader } from "../_generated/server.js";
import { takeWithin } from "../rows/rowBytes.js";
import { rulesOf } from "../rows/jobRules.js";
import { mayRunInside } from "../edges/mayTake.js";
import { mayClaim, mayGoOutside, offerIn, offersOutside } from "../index/outsideWorkers.js";
import { allows } from "../rows/conditions.js";
import type { Queue } from "../rows/queues.js";

type Job = Doc<"jobs">;

export async function eligibleWorkersOf(
  db: DatabaseReader,
  job: Job,
  now: number,
): Promise<CrewFacts> {
  const read = async (state: "idle" | "active", since: number) =>
    await takeWithin(
      db
        .query("sessions")
        .withIndex("state", (q) => q.eq("state", state).gte("expiresAt", since))
        .order("desc"),
      CREW_READ,
      SESSIONS_READ_BYTES / 2,
    );
  const [idle, active] = await Promise.all([read("idle", now - IDLE_LIVE_MS), read("active", now)]);
  const alive = [...idle.rows, ...active.rows].filter(
    ({ lane, queues }) => lane === undefined && queues.includes(job.queue),
  );
  const serving = alive.filter(mayClaim);
  const fitting = serving.filter((session) => allows(offerIn(session), job));
  const busy = fitting.filter(({ leases }) => leases.length > 0);
  return {
    serving: serving.length,
    quiet: alive.length - serving.length,
    fitting: fitting.length,
    idle: fitting.length - busy.length,
    held: busy.reduce((sum, { leases }) => sum + leases.length, 0),
    names: fitting.slice(0, NAMED).map(({ name }) => name),
    more: [idle, active].some(({ rows, isCut }) => isCut || rows.length === CREW_READ),
  };
}

/** The bytes of running jobs: more than as many rows of the usual size have. */
const RUNNING_BYTES = 2 ** 19;

/** `null` for a queue that is not pushed, for a job with labels, which no lane has, and for a job without a handler. */
export async function insideOf(
  db: DatabaseReader,
  queue: Queue,
  job: Job,
  now: number,
): Promise<InsideFacts | null> {
  const { push, maxParallelism, fallbackAfterMs } = queue.config;
  if (!push || !mayRunInside(job)) return null;
  if ((await rulesOf(db, queue, job)).handler === undefined) return null;
  const most = Math.min(maxParallelism, INSIDE_READ) + OUTSIDE_READ;
  const [offers, waiting, { rows, isCut }] = await Promise.all([
    fallbackAfterMs > 0 ? offersOutside(db, queue.name, now) : [],
    db
      .query("waitingQueues")
      .withIndex("queue", (q) => q.eq("queue", queue.name))
      .first(),
    takeWithin(
      db
        .query("jobs")
        .withIndex("status", (q) => q.eq("queue", queue.name).eq("status", "running")),
      most,
      RUNNING_BYTES,
    ),
  ]);
  const inside = rows.filter(({ worker }) => worker?.startsWith(`${queue.name}#`) === true);
  return {
    maxParallelism,
    running: inside.length,
    more: isCut || rows.length === most,
    names: inside.slice(0, NAMED).map(({ _id, name }) => name ?? _id),
    isWaiting: waiting !== null,
    leftUntil: msOfCommit(job.seq as bigint) + (mayGoOutside(offers, job) ? fallbackAfterMs : 0),
  };
}
