/**
 * Arrivals: counts new jobs into the minute, hour and day of their enqueue, half a minute behind, so that an enqueue costs
 * nothing.
 *
 * It walks the jobs of all queues in the order of their creation, which the platform's own index has, up to half a
 * minute ago: a mutation that began before has committed by then, so that no row comes in below the count's place. Jobs
 * of callers that began in the same instant share their creation time; a step that ends at one takes all of that time.
 * A retry is no new job. One that is deleted before the count comes by is counted by its row in `arrived`: see
 * `uncounted.ts`.
 *
 * The walk rides along with the roll-up of any queue, and has an alarm of its own only where there is more than that,
 * or where nothing ends: half a minute later where as many are left as make a queue a busy one, else ten minutes. No
 * call depends on a job's being counted soon, so an enqueue arms nothing: a call that ends a job has it counted, and so
 * do a sweep and a cron that find a late one.
 *
 * Handshake: its alarm goes after a real read that no job is left to be counted. A roll-up that goes has done the
 * alarm's work: it takes the alarm with it after the same read, and else postpones it, so that where jobs come seldom,
 * and end, it never rings.
 *
 * Snapshot reads: jobs above its place. Reads for real: its row, `arrived`, the rows of the periods it adds to; its
 * alarm; with a new period old ones, with a new day old `events`; before its alarm goes, or a roll-up does, jobs
 * above its place. Writes: these but jobs, in `arrivals`, `arrived`, `timers`. Conflicts with: the roll-ups of queues
 * that it counts, another count or a purge that deletes the same old rows, and a deletion of a job; before either
 * alarm goes, with an enqueue, or where a job above its place is left, with each write of the first such job's row:
 * it is the count that retries.
 */
import { v, type Infer } from "convex/values";
import {
  ARRIVALS_JOBS,
  ARRIVALS_LAG_MS,
  ARRIVALS_LATE_MS,
  ARRIVALS_QUEUES,
  ARRIVALS_RARE_MS,
  RANGE_ROWS,
  ROLL_UP_EVERY_MS,
  ROLL_UP_LATELY_MS,
  ROLL_UP_STAYS_JOBS,
  Tallies,
} from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc } from "../_generated/dataModel.js";
import { internalQuery, type DatabaseReader, type MutationCtx } from "../_generated/server.js";
import { defineLoop, deferAlarm, ensureAlarm } from "../loops/loop.js";
import { addTallies } from "./periodRows.js";

/** How far new jobs have been counted, or `null` if none ever were. */
export async function findArrivals(db: DatabaseReader): Promise<Doc<"arrivals"> | null> {
  return await db.query("arrivals").first();
}

export const countNewJobs = defineLoop({
  kind: "arrivals",
  run: async (ctx, _alarm, now) => {
    const { lately, isFull, left } = await step(ctx, now);
    if (isFull) return { at: now };
    if (left > 0 || (await anyAbove(ctx.db))) return { at: now + waitFor(Math.max(lately, left)) };
    return "gone";
  },
});

/** Few may wait until they are many: an alarm for each would be a call a job. */
function waitFor(jobs: number): number {
  return jobs < ROLL_UP_STAYS_JOBS ? ARRIVALS_RARE_MS : ARRIVALS_LAG_MS;
}

/** Ensures that new jobs are counted by then. One point read when all is well. */
export async function ensureArrivals(ctx: MutationCtx, dueAt: number, now: number): Promise<void> {
  await ensureAlarm(ctx, { kind: "arrivals" }, dueAt, now);
}

/**
 * Counts new jobs beside something else: for a roll-up, which runs in any case. `goes`: it does not come again by
 * itself, and ensures the alarm.
 */
export async function countBeside(ctx: MutationCtx, now: number, goes: boolean): Promise<void> {
  const row = await findArrivals(ctx.db);
  // Another queue's has just been here: that an alarm comes later is all that is needed.
  if (row !== null && row.at > now - ROLL_UP_EVERY_MS) {
    if (goes) await ensureArrivals(ctx, now + ARRIVALS_RARE_MS, now);
    return;
  }
  const { isFull, left } = await step(ctx, now);
  if (isFull) await ensureArrivals(ctx, now, now);
  else if (goes) {
    // The alarm's work has just been done.
    const isNeeded = left > 0 || (await anyAbove(ctx.db));
    const dueAt = isNeeded ? now + waitFor(left) : null;
    await deferAlarm(ctx, { kind: "arrivals" }, dueAt, now);
  }
}

/** Whether a new job has long not been counted. For snapshot reads: a real read would depend on new jobs. */
export async function isLate(db: DatabaseReader, now: number): Promise<boolean> {
  const first = await firstAbove(db, (await findArrivals(db))?.upTo ?? 0);
  return first !== null && first < now - ARRIVALS_LATE_MS;
}

// --- One step -----------------------------------------------------------------------------------

interface Step {
  /** How many of the counted jobs are not old, as far as that goes half a minute behind. */
  lately: number;
  /** Whether there is more than one step counts. */
  isFull: boolean;
  /** How many were left, or are too new: up to as many as make a queue a busy one. */
  left: number;
}

async function step(ctx: MutationCtx, now: number): Promise<Step> {
  const row = await findArrivals(ctx.db);
  const after = row?.upTo ?? 0;
  const { gone, until, isFull: manyGone } = await goneUpTo(ctx.db, now - ARRIVALS_LAG_MS);
  const args = { after, until, but: gone.map(({ job }) => job) };
  const found: Found = await ctx.runQuery(internal.count.arrivals.findNewJobs, args, {
    useStaleSnapshot: true,
  });
  const ofGone = gone.filter(({ creationTime }) => !found.isFull || creationTime <= found.upTo);
  const upTo = Math.max(after, found.upTo, ...ofGone.map(({ creationTime }) => creationTime));
  const byQueue = new Map<string, Tallies>();
  for (const { queue, enqueuedAt } of [...found.jobs, ...ofGone]) {
    const tallies = byQueue.get(queue) ?? new Tallies();
    byQueue.set(queue, tallies);
    tallies.countNew(enqueuedAt);
  }
  const added = [...byQueue].map(([queue, tallies]) => [queue, tallies.all()] as const);
  await addTallies(ctx, new Map(added));
  await Promise.all(ofGone.map(({ _id }) => ctx.db.delete("arrived", _id)));
  if (row === null) await ctx.db.insert("arrivals", { upTo, at: now });
  else if (upTo > after) await ctx.db.patch("arrivals", row._id, { upTo, at: now });
  const isFull = found.isFull || manyGone;
  const left = Math.max(found.left, isFull || (await anyGone(ctx.db)) ? 1 : 0);
  const since = now - ARRIVALS_LAG_MS - ROLL_UP_LATELY_MS;
  const lately = [...found.jobs, ...ofGone].filter(({ enqueuedAt }) => enqueuedAt > since).length;
  return { lately, isFull, left };
}

/**
 * The rows of jobs that are gone, up to a creation time: where there are too many, up to an earlier one, with all that
 * share it. For real: a transaction that deletes a job which is counted here conflicts.
 */
async function goneUpTo(
  db: DatabaseReader,
  until: number,
): Promise<{ gone: Doc<"arrived">[]; until: number; isFull: boolean }> {
  const rows = await db
    .query("arrived")
    .withIndex("creationTime", (q) => q.lte("creationTime", until))
    .take(ARRIVALS_JOBS);
  const gone = ofFewQueues(rows, ({ creationTime }) => creationTime);
  const last = gone.at(-1)?.creationTime;
  if (last === undefined) return { gone, until, isFull: false };
  if (gone.length < rows.length) return { gone, until: last, isFull: true };
  if (rows.length < ARRIVALS_JOBS) return { gone, until, isFull: false };
  const known = new Set(gone.map(({ _id }) => _id));
  const tied = await db
    .query("arrived")
    .withIndex("creationTime", (q) => q.eq("creationTime", last))
    .collect();
  return {
    gone: [...gone, ...tied.filter(({ _id }) => !known.has(_id))],
    until: last,
    isFull: true,
  };
}

/**
 * The first of these rows, of so many queues as one step counts, with all that share the last one's time. Each queue has
 * rows of its own to read and to write.
 */
function ofFewQueues<Row extends { queue: string }>(
  rows: readonly Row[],
  timeOf: (row: Row) => number,
): Row[] {
  const queues = new Set<string>();
  const end = rows.findIndex((row, i) => {
    queues.add(row.queue);
    return queues.size > ARRIVALS_QUEUES && timeOf(row) !== timeOf(rows[i - 1]!);
  });
  return end === -1 ? [...rows] : rows.slice(0, end);
}

async function anyGone(db: DatabaseReader): Promise<boolean> {
  return (await db.query("arrived").take(RANGE_ROWS)).length > 0;
}

/** Whether any job is left to be counted, however new. For real: a new job conflicts with the caller. */
async function anyAbove(db: DatabaseReader): Promise<boolean> {
  return (await firstAbove(db, (await findArrivals(db))?.upTo ?? 0)) !== null;
}

async function firstAbove(db: DatabaseReader, upTo: number): Promise<number | null> {
  const [first] = await jobsAbove(db, upTo, 1);
  return first?._creationTime ?? null;
}

async function jobsAbove(db: DatabaseReader, upTo: number, count: number): Promise<Doc<"jobs">[]> {
  return await db
    .query("jobs")
    .withIndex("by_creation_time", (q) => q.gt("_creationTime", upTo))
    .take(count);
}

// --- Snapshot reads ---------------------------------------------------------------------------------

const vFound = v.object({
  jobs: v.array(v.object({ queue: v.string(), enqueuedAt: v.number() })),
  /** The last creation time up to which all jobs are in `jobs`. */
  upTo: v.number(),
  isFull: v.boolean(),
  /** How many jobs there are above, newer than `until` or not, up to `ROLL_UP_STAYS_JOBS`. */
  left: v.number(),
});
type Found = Infer<typeof vFound>;

/** The jobs that were created after `after` and up to `until`. May not be called but with `useStaleSnapshot`. */
export const findNewJobs = internalQuery({
  args: { after: v.number(), until: v.number(), but: v.array(v.id("jobs")) },
  returns: vFound,
  handler: async (ctx, { after, until, but }): Promise<Found> => {
    const rows = await ctx.db
      .query("jobs")
      .withIndex("by_creation_time", (q) =>
        q.gt("_creationTime", after).lte("_creationTime", until),
      )
      .take(ARRIVALS_JOBS);
    const few = ofFewQueues(rows, ({ _creationTime }) => _creationTime);
    const isCut = few.length < rows.length;
    const isFull = isCut || rows.length === ARRIVALS_JOBS;
    const upTo = few.at(-1)?._creationTime ?? after;
    // None of its time may be left behind: the next step begins after it.
    if (isFull && !isCut) few.push(...(await tiedWith(ctx.db, rows)));
    const gone = new Set(but);
    const jobs = few.filter(({ _id }) => !gone.has(_id));
    return {
      jobs: jobs.map(({ queue, enqueuedAt }) => ({ queue, enqueuedAt })),
      upTo,
      isFull,
      left: (await jobsAbove(ctx.db, upTo, ROLL_UP_STAYS_JOBS)).length,
    };
  },
});

async function tiedWith(db: DatabaseReader, rows: readonly Doc<"jobs">[]): Promise<Doc<"jobs">[]> {
  const known = new Set(rows.map(({ _id }) => _id));
  const tied = await db
    .query("jobs")
    .withIndex("by_creation_time", (q) => q.eq("_creationTime", rows.at(-1)!._creationTime))
    .collect();
  return tied.filter(({ _id }) => !known.has(_id));
}
