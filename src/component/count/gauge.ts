/**
 * The gauge: a queue's state, for pages. Of a busy queue it is a row that the roll-up rewrites every ten seconds: a
 * subscription is invalidated with that row, and the jobs are counted once for any number of pages. Of a quiet one it
 * is read from the jobs themselves, exact and live.
 *
 * Handshake: a roll-up that goes says in the row that it is no longer kept. So a subscription that reads the row alone
 * is notified of both changes. One that finds a row with a dead roll-up ignores it.
 *
 * Snapshot reads (`readGauge`, for the roll-up): up to 1,000 jobs of each status, and the queue's flow. Reads for real,
 * and writes (`keepGauge`): the queue's row in `gauges`. Conflicts with: no call but another run of the same roll-up.
 * The queries write nothing.
 */
import { v, type Infer } from "convex/values";
import {
  ARRIVALS_LAG_MS,
  checkInteger,
  checkName,
  COUNT_MAX,
  GAUGE_ACTIVE_MS,
  GAUGE_FINISHED_MS,
  GAUGE_QUICK,
  HEALTH_DEFAULT,
  HEALTH_MAX,
  isFinished,
  PARALLELISM_MAX,
  judgeHealth,
  PERIOD_MS,
  periodOf,
  ROLL_UP_EVERY_MS,
  STATUSES,
  vCounts,
  vGauge,
  vQueueFlow,
  vSample,
  vStatus,
  type Counts,
  type Gauge,
  type Health,
  type Sample,
  type Setting,
  type Status,
} from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc } from "../_generated/dataModel.js";
import {
  internalQuery,
  type DatabaseReader,
  type MutationCtx,
  type QueryCtx,
} from "../_generated/server.js";
import { countEach, countQuickly } from "./counts.js";
import { lastEnds, movementOf } from "./queueFlow.js";
import { countsOf, rowsBetween } from "./periodRows.js";
import { findQueue, type Queue } from "../rows/queues.js";

type Row = Doc<"gauges">;
/** The content of a row, or of a read of the jobs. */
type Reading = Pick<Row, "at" | "counts" | "perMinute" | "flow" | "oldestPendingAt">;

// --- For pages ---------------------------------------------------------------------------------------

/**
 * The state of a queue. A page may watch one that never had a job. The jobs of a quiet one are counted up to `countTo`:
 * less than 1,000 for an overview of many queues, with each read `beside` the other ones.
 */
export async function gauge(
  ctx: QueryCtx,
  queue: string,
  { countTo, beside = 1 }: { countTo?: number | undefined; beside?: number } = {},
): Promise<Gauge> {
  checkName("The name of a queue", queue);
  const now = Date.now();
  const kept = await keptRow(ctx.db, queue, now);
  const reading = kept ?? (await readLive(ctx.db, queue, now, beside, countTo));
  const { at, counts, perMinute, oldestPendingAt, flow } = reading;
  const samples = kept?.samples ?? (await lastEnds(ctx.db, queue, HEALTH_DEFAULT));
  const setting = await settingOf(ctx.db, queue);
  return {
    ...{ at, counts, perMinute },
    ...(oldestPendingAt === undefined ? {} : { oldestPendingAt }),
    health: judgeHealth(samples.slice(0, HEALTH_DEFAULT), flow, setting, at),
  };
}

/** How the last jobs of a queue went, and whether it moves. */
export async function health(
  ctx: QueryCtx,
  queue: string,
  last: number = HEALTH_DEFAULT,
): Promise<Health> {
  checkName("The name of a queue", queue);
  checkInteger("last", last, 1, HEALTH_MAX);
  const now = Date.now();
  const setting = await settingOf(ctx.db, queue);
  const kept = await keptRow(ctx.db, queue, now);
  if (kept !== null) return judgeHealth(kept.samples.slice(0, last), kept.flow, setting, kept.at);
  const [samples, { flow }] = await Promise.all([
    lastEnds(ctx.db, queue, last),
    readMovement(ctx.db, queue, now, 1),
  ]);
  return judgeHealth(samples, flow, setting, now);
}

/** A row that is so old is no longer rewritten, even if it is marked as kept; nor is one of a clock that was set back since. */
const DEAD_AFTER_MS = 6 * ROLL_UP_EVERY_MS;

async function keptRow(db: DatabaseReader, queue: string, now: number): Promise<Row | null> {
  const row = await findGauge(db, queue);
  return row !== null && row.isKept && Math.abs(now - row.at) < DEAD_AFTER_MS ? row : null;
}

async function findGauge(db: DatabaseReader, queue: string): Promise<Row | null> {
  return await db
    .query("gauges")
    .withIndex("queue", (q) => q.eq("queue", queue))
    .unique();
}

async function settingOf(db: DatabaseReader, name: string): Promise<Setting> {
  const queue = await findQueue(db, name);
  const { push = false, maxParallelism = 0, fallbackAfterMs = 0 } = queue?.config ?? {};
  return {
    isPaused: queue?.isPaused ?? false,
    isDraining: queue?.isDraining ?? false,
    maxParallelism: push ? maxParallelism : null,
    fallbackAfterMs,
  };
}

// --- Reading ------------------------------------------------------------------------------------

async function readLive(
  db: DatabaseReader,
  queue: string,
  now: number,
  beside: number,
  countTo?: number,
): Promise<Reading> {
  const [counts, perMinute, moves] = await Promise.all([
    countEach(db, queue, STATUSES, countTo ?? COUNT_MAX, beside),
    perMinuteOf(db, queue, now),
    readMovement(db, queue, now, beside),
  ]);
  return { at: now, counts, perMinute, ...moves };
}

async function readMovement(
  db: DatabaseReader,
  name: string,
  now: number,
  beside: number,
): Promise<Pick<Reading, "flow" | "oldestPendingAt">> {
  const queue = await findQueue(db, name);
  if (queue === null) return { flow: { running: 0, idleWorkers: 0, hasWorkers: false } };
  const running = await runningIn(db, queue, beside);
  const { flow, ...oldest } = await movementOf(db, queue, now, beside);
  return { flow: { ...flow, running }, ...oldest };
}

/**
 * How many jobs run: where Convex itself runs many, and few queues are read, up to as many as may run, since room for one
 * more makes the difference. More than are counted are as many as may run anywhere.
 */
async function runningIn(db: DatabaseReader, queue: Queue, beside: number): Promise<number> {
  const { push = false, maxParallelism = 0 } = queue.config;
  const most = push && beside === 1 ? Math.min(maxParallelism, COUNT_MAX) : 0;
  const { count, more } =
    most <= GAUGE_QUICK
      ? await countQuickly(db, queue.name, "running")
      : (await countEach(db, queue.name, ["running"], most, RUNNING_PART)).running;
  return more ? PARALLELISM_MAX : count;
}

/** Of what counts may read, so small a part: no more than a few large rows, or hundreds of usual ones. */
const RUNNING_PART = 6;

/** The minute that runs, and four before it. New jobs are counted half a minute behind, and ends some seconds. */
const RATE_MINUTES = 5;

async function perMinuteOf(
  db: DatabaseReader,
  queue: string,
  now: number,
): Promise<Reading["perMinute"]> {
  const from = periodOf(now, "minute") - (RATE_MINUTES - 1) * PERIOD_MS.minute;
  const rows = await rowsBetween(db, {
    ...{ queue, per: "minute", from, to: Infinity, count: RATE_MINUTES },
  });
  const counts = rows.map(countsOf);
  const rate = (of: (one: (typeof counts)[number]) => number, behindMs: number) => {
    const minutes = (now - from - behindMs) / PERIOD_MS.minute;
    return counts.reduce((sum, one) => sum + of(one), 0) / minutes;
  };
  const behindMs = ROLL_UP_EVERY_MS / 2;
  return {
    enqueued: rate(({ enqueued }) => enqueued, ARRIVALS_LAG_MS + behindMs),
    finished: rate((one) => one.succeeded + one.failed + one.canceled + one.timedOut, behindMs),
    failed: rate(({ failed, timedOut }) => failed + timedOut, behindMs),
  };
}

// --- For the roll-up ----------------------------------------------------------------------------

/** Rewrites the queue's row, of one that was written a moment ago only how jobs ended; or says that it is kept no longer. */
export async function keepGauge(
  ctx: MutationCtx,
  queue: string,
  ended: readonly Sample[],
  goes: boolean,
  now: number,
): Promise<void> {
  const row = await findGauge(ctx.db, queue);
  if (goes) {
    if (row?.isKept === true) await ctx.db.patch("gauges", row._id, { isKept: false });
    return;
  }
  const before = row?.isKept === true ? row : null;
  const samples = [...ended, ...(before?.samples ?? [])].slice(0, HEALTH_MAX);
  if (before !== null && Math.abs(now - before.at) < ROLL_UP_EVERY_MS / 2) {
    // Counts are of a moment ago, but no later run is shown these ends.
    if (ended.length > 0) await ctx.db.patch("gauges", before._id, { samples });
    return;
  }
  const { all, quick } = toCount(before, now);
  const args = { queue, now, all, quick, withEnds: before === null };
  const { counts, ends, ...seen }: Seen = await ctx.runQuery(internal.count.gauge.readGauge, args, {
    useStaleSnapshot: true,
  });
  const countedAt = { ...before?.countedAt };
  for (const status of all) countedAt[status] = now;
  const fields = {
    ...{ queue, at: now, isKept: true, ...seen, countedAt },
    counts: { ...before?.counts, ...counts } as Counts,
    samples: ends ?? samples,
  };
  if (row === null) await ctx.db.insert("gauges", fields);
  else await ctx.db.replace("gauges", row._id, fields);
}

/**
 * Statuses to be counted as far as they ever are, and the other statuses to be counted only far enough to show whether
 * they are many still: to count a thousand jobs every ten seconds would cost more than to run some.
 */
function toCount(before: Row | null, now: number): { all: Status[]; quick: Status[] } {
  if (before === null) return { all: [...STATUSES], quick: [] };
  const isDue = (status: Status) => {
    if (before.counts[status].count <= GAUGE_QUICK) return true;
    const everyMs = isFinished(status) ? GAUGE_FINISHED_MS : GAUGE_ACTIVE_MS;
    return Math.abs(now - (before.countedAt[status] ?? 0)) >= everyMs;
  };
  return {
    all: STATUSES.filter(isDue),
    quick: STATUSES.filter((status) => !isDue(status) && !isFinished(status)),
  };
}

const vSeen = v.object({
  /** Of the statuses asked for; of statuses to be counted quickly, where they are few. */
  counts: vCounts.partial(),
  perMinute: vGauge.fields.perMinute,
  flow: vQueueFlow,
  oldestPendingAt: v.optional(v.number()),
  ends: v.optional(v.array(vSample)),
});
type Seen = Infer<typeof vSeen>;

/** May not be called but with `useStaleSnapshot`. */
export const readGauge = internalQuery({
  args: {
    ...{ queue: v.string(), now: v.number(), withEnds: v.boolean() },
    ...{ all: v.array(vStatus), quick: v.array(vStatus) },
  },
  returns: vSeen,
  handler: async (ctx, { queue, now, all, quick, withEnds }): Promise<Seen> => {
    const counts: Seen["counts"] = await countEach(ctx.db, queue, all, COUNT_MAX);
    for (const status of quick) {
      const few = await countQuickly(ctx.db, queue, status);
      if (!few.more) counts[status] = few;
    }
    const [perMinute, moves] = await Promise.all([
      perMinuteOf(ctx.db, queue, now),
      readMovement(ctx.db, queue, now, 1),
    ]);
    const ends = withEnds ? { ends: await lastEnds(ctx.db, queue, HEALTH_MAX) } : {};
    return { counts, perMinute, ...moves, ...ends };
  },
});
