/**
 * The roll-up: counts finished jobs into `periods`, some seconds behind, so that no job's own life costs a write
 * more; has new jobs counted beside (`arrivals.ts`); and while it stays, keeps the queue's row in `gauges`.
 *
 * It follows each finished status by the whole key, from one snapshot at a time: jobs that the snapshot does not show
 * have a greater `seq`, so that every job that is found finished is counted exactly once. The end of a job that is
 * retried or deleted before it was counted is found in `ended` (`uncounted.ts`); one that is retried and finishes again
 * is counted again. A round of a circular queue finishes nothing and is not counted here: the item says how often it
 * came round.
 *
 * Handshake: a worker that finishes jobs need not know of the roll-up. The janitor's sweeps, of which one comes after
 * the last lease has ended, ensure it where they see an uncounted end and no run comes soon, and the last of them where
 * it reads so for real. A transaction that finishes jobs without a lease, or without a call of the session, does so
 * itself (`ensureUpkeep`), and so does a lane that cancels the sweep. A run that finds little reads
 * everything above its keys for real before its alarm goes. So of it and a job that finishes meanwhile one comes later
 * and sees the other.
 *
 * Snapshot reads: finished jobs above its keys, new jobs, how the queue stands; of a quiet queue seven alarms of the
 * next. Reads for real: its alarm, and the alarms of other queues that it does beside; of each queue its `counted` row,
 * the rows of `ended`, the periods it adds to, the gauge; with a new period old ones, with a new day old `events`; before
 * it goes, finished jobs above its keys. Writes: these rows but jobs, and its alarm (`timers`). Conflicts with: another
 * count or a purge that deletes the same old rows; `ensureUpkeep`; a retry or deletion of a job that it counts
 * just now; when it goes, a commit that finishes a job of the queue.
 */
import { v, type Infer } from "convex/values";
import {
  EVER,
  FINISHED_STATUSES,
  msOfCommit,
  RANGE_ROWS,
  ROLL_UP_EVERY_MS,
  ROLL_UP_JOBS,
  ROLL_UP_LATELY_MS,
  ROLL_UP_REST_MS,
  ROLL_UP_SPREAD_MS,
  ROLL_UP_STAYS_JOBS,
  Tallies,
  vFinishedStatus,
  vPer,
  vSample,
  type CountedEnd,
  type FinishedStatus,
  type Tally,
} from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc } from "../_generated/dataModel.js";
import { internalQuery, type DatabaseReader, type MutationCtx } from "../_generated/server.js";
import {
  alarmsAfter,
  conclude,
  defineLoop,
  ensureAlarm,
  findAlarm,
  isOverdue,
  takeAlarm,
  type Next,
} from "../loops/loop.js";
import { countBeside } from "./arrivals.js";
import { compareKeys, justAfter, type Key } from "../rows/cursors.js";
import { findCounted, finishedFrom, keyOfStatus, tiedWithLast } from "./finished.js";
import { keepGauge } from "./gauge.js";
import { samplesOf } from "./queueFlow.js";
import { addTallies } from "./periodRows.js";
import { ensurePurge } from "./purge.js";

/**
 * Ensures that the finished jobs of a queue are counted soon, and deleted when their time comes: the roll-up, which
 * finds every finished job, ensures the purge. One point read when all is well.
 */
export async function ensureUpkeep(
  ctx: MutationCtx,
  queue: string,
  now: number,
  withinMs: number = ROLL_UP_EVERY_MS,
): Promise<void> {
  const dueAt = now + withinMs;
  // Sweeps ensure many queues' at once: on class S16 thirty at the same moment would hold up all that is scheduled.
  const early = Math.floor(ROLL_UP_SPREAD_MS * Math.random());
  await ensureAlarm(ctx, { kind: "rollUp", queue }, dueAt, now, early);
}

/** Whether a roll-up of the queue comes, however late, and is not overdue. */
export async function hasRollUp(db: DatabaseReader, queue: string, now: number): Promise<boolean> {
  const alarm = await findAlarm(db, { kind: "rollUp", queue });
  return alarm !== null && !isOverdue(alarm, now);
}

/**
 * The same for queues of a session that is over, where something has finished and no roll-up comes: the last sweep sees the
 * queues of sessions that live. Five ranges a queue and a row.
 */
export async function ensureAllCounted(
  ctx: MutationCtx,
  queues: readonly string[],
  now: number,
): Promise<void> {
  const without: string[] = [];
  for (const queue of queues) if (!(await hasRollUp(ctx.db, queue, now))) without.push(queue);
  for (const queue of await findUncounted(ctx.db, without))
    await ensureUpkeep(ctx, queue, now, ROLL_UP_REST_MS);
}

/**
 * Of a queue of few jobs a roll-up does, beside its own, the roll-ups of other queues that come soon: six queues that have a job every ten
 * minutes cost one call for all of them. It ends with the first that stays or has counted many: a transaction has room for one.
 */
export const countEnds = defineLoop({
  kind: "rollUp",
  run: async (ctx, alarm, now) => {
    const { next, isFew } = await rollUp(ctx, alarm.queue!, now);
    if (isFew) await rollUpOthers(ctx, alarm.queue!, now);
    return next;
  },
});

async function rollUpOthers(ctx: MutationCtx, after: string, now: number): Promise<void> {
  const [from, to] = [now + BESIDE_AFTER_MS, now + ROLL_UP_EVERY_MS];
  const soon = await ctx.runQuery(
    internal.count.rollUp.nextRollUps,
    { after, from, to },
    { useStaleSnapshot: true },
  );
  for (const id of soon) {
    const alarm = await takeAlarm(ctx, id, from, to);
    if (alarm === null) continue;
    const { next, isFew } = await rollUp(ctx, alarm.queue!, now);
    await conclude(ctx, alarm, next);
    if (!isFew) return;
  }
}

/** One that comes sooner is about to run. */
const BESIDE_AFTER_MS = 1_000;
const BESIDE_MAX = 7;

/**
 * Roll-ups of the queues that come next by name, as far as they are due then, up to one that is about to run: it takes the
 * ones behind it, and two that took the same ones would conflict. To be called with `useStaleSnapshot`.
 */
export const nextRollUps = internalQuery({
  args: { after: v.string(), from: v.number(), to: v.number() },
  returns: v.array(v.id("timers")),
  handler: async (ctx, { after, from, to }) => {
    const next = await alarmsAfter(ctx.db, "rollUp", after, BESIDE_MAX);
    const sooner = next.findIndex((alarm) => alarm.dueAt < from && !isOverdue(alarm, from));
    const own = sooner === -1 ? next : next.slice(0, sooner);
    return own.filter(({ dueAt }) => dueAt >= from && dueAt <= to).map(({ _id }) => _id);
  },
});

/** `isFew`: it goes and has counted few. */
async function rollUp(
  ctx: MutationCtx,
  queue: string,
  now: number,
): Promise<{ next: Next; isFew: boolean }> {
  const [row, gone] = await Promise.all([findCounted(ctx.db, queue), endsGone(ctx.db, queue)]);
  const upTo = row?.upTo ?? [];
  const since = now - ROLL_UP_LATELY_MS;
  const found: Found = await ctx.runQuery(
    internal.count.rollUp.findEnds,
    { queue, upTo, since, ...exceptOf(gone) },
    { useStaleSnapshot: true },
  );
  const { passed, keys } = await passGone(ctx.db, queue, found.upTo, gone);
  const count = found.count + passed.length;
  await Promise.all([
    addTallies(ctx, new Map([[queue, found.tallies]])),
    ensurePurge(ctx, queue, found.ended, now),
    ...passed.map(({ _id }) => ctx.db.delete("ended", _id)),
  ]);
  // Both may name one period.
  await addTallies(ctx, new Map([[queue, talliesOf(passed)]]));
  if (count > 0 && row === null) await ctx.db.insert("counted", { queue, upTo: keys });
  else if (count > 0) await ctx.db.patch("counted", row!._id, { upTo: keys });
  const isFull = found.isFull || gone.length >= ENDS_READ;
  const lately = found.lately + passed.filter(({ endedAt }) => endedAt > since).length;
  const goes = lately < ROLL_UP_STAYS_JOBS && !isFull && !(await hasMore(ctx.db, queue, keys));
  if (!isFull) await countBeside(ctx, now, goes);
  await keepGauge(ctx, queue, found.samples, goes, now);
  if (goes) return { next: "gone", isFew: count < ROLL_UP_STAYS_JOBS };
  const isAtOnce = isFull || count === 0;
  return { next: { at: isAtOnce ? now : now + ROLL_UP_EVERY_MS }, isFew: false };
}

// --- Snapshot reads ---------------------------------------------------------------------------------

const vKeys = v.array(
  v.object({ status: vFinishedStatus, seq: v.int64(), creationTime: v.number() }),
);

const vTally = v.object({
  ...{
    per: v.union(vPer, v.literal(EVER)),
    at: v.number(),
    enqueued: v.number(),
    started: v.number(),
  },
  ...{ succeeded: v.number(), failed: v.number(), canceled: v.number(), timedOut: v.number() },
  ...{ waitMs: v.array(v.number()), runMs: v.array(v.number()) },
  ...{ waitSumMs: v.number(), runSumMs: v.number() },
});

const vFound = v.object({
  count: v.number(),
  /** How many of them ended after `since`. */
  lately: v.number(),
  /** Whether there is more than one run counts. */
  isFull: v.boolean(),
  tallies: v.array(vTally),
  /** The statuses of the jobs found. */
  ended: v.array(vFinishedStatus),
  /** How the last of them ended, newest first. */
  samples: v.array(vSample),
  upTo: vKeys,
});
type Found = Infer<typeof vFound>;

/**
 * Counts the jobs that have finished above these keys, as one snapshot shows them, except ends that are known to be
 * gone; `before`: by commits before that one. May not be called but with `useStaleSnapshot`.
 */
export const findEnds = internalQuery({
  args: {
    queue: v.string(),
    upTo: vKeys,
    since: v.number(),
    but: v.array(v.object({ job: v.id("jobs"), seq: v.int64() })),
    before: v.optional(v.int64()),
  },
  returns: vFound,
  handler: async (ctx, { queue, upTo, since, but, before }): Promise<Found> => {
    const gone = new Set(but.map(({ job, seq }) => `${job} ${seq}`));
    const tallies = new Tallies();
    const keys: Infer<typeof vKeys> = [];
    const counted: Doc<"jobs">[] = [];
    let room = ROLL_UP_JOBS;
    for (const status of FINISHED_STATUSES) {
      const from = keyOfStatus(upTo, status);
      const jobs =
        room === 0 ? [] : await finishedFrom(ctx.db, queue, status, from, room, { before });
      // None of its key may be left behind: the next run begins after it.
      if (room > 0 && jobs.length === room)
        jobs.push(...(await tiedWithLast(ctx.db, queue, status, jobs)));
      counted.push(...jobs.filter(({ _id, seq }) => !gone.has(`${_id} ${seq as bigint}`)));
      room = Math.max(0, room - jobs.length);
      const last = jobs.at(-1);
      const key =
        last === undefined
          ? from
          : justAfter({ seq: last.seq as bigint, creationTime: last._creationTime });
      keys.push({ status, ...key });
    }
    for (const job of counted) tallies.countEnd(endOf(job));
    return {
      count: counted.length,
      lately: counted.filter(({ seq }) => msOfCommit(seq as bigint) > since).length,
      isFull: room === 0,
      tallies: tallies.all(),
      ended: FINISHED_STATUSES.filter((status) => counted.some((job) => job.status === status)),
      samples: samplesOf(counted),
      upTo: keys,
    };
  },
});

function endOf(job: Doc<"jobs">): CountedEnd {
  const { status, seq, enqueuedAt, startedAt, finishedAt } = job;
  const endedAt = msOfCommit(seq as bigint);
  return { status: status as FinishedStatus, endedAt, enqueuedAt, startedAt, finishedAt };
}

// --- Ends that are gone -------------------------------------------------------------------------

/** Rows that one run reads, and the rows of the last one's commit: a run counts whole commits. */
const ENDS_READ = ROLL_UP_JOBS;

/** For real: a transaction that takes away an end which is counted here conflicts. */
async function endsGone(db: DatabaseReader, queue: string): Promise<Doc<"ended">[]> {
  const gone = await db
    .query("ended")
    .withIndex("queue", (q) => q.eq("queue", queue))
    .take(ENDS_READ);
  if (gone.length < ENDS_READ) return gone;
  const { seq } = gone.at(-1)!;
  const ofCommit = await db
    .query("ended")
    .withIndex("queue", (q) => q.eq("queue", queue).eq("seq", seq))
    .collect();
  return [...gone.filter((row) => row.seq !== seq), ...ofCommit];
}

/** The ends that a snapshot read must leave out: where not all rows were read, it reads no further than their commits. */
function exceptOf(gone: readonly Doc<"ended">[]) {
  const but = gone.flatMap(({ job, seq }) => (seq === undefined ? [] : [{ job, seq }]));
  if (gone.length < ENDS_READ) return { but };
  return { but, before: (gone.at(-1)!.seq ?? -1n) + 1n };
}

/**
 * The ends that are gone and lie below the counted keys, and may be counted and forgotten: no later snapshot read,
 * however old its snapshot, shows them. Where nothing else has finished before them, for real, the keys move on past
 * them.
 */
async function passGone(
  db: DatabaseReader,
  queue: string,
  keys: Infer<typeof vKeys>,
  gone: readonly Doc<"ended">[],
): Promise<{ passed: Doc<"ended">[]; keys: Infer<typeof vKeys> }> {
  const moved: Infer<typeof vKeys> = [];
  for (const { status, ...key } of keys) {
    const above = gone.flatMap((row) => {
      const its = keyOfEnd(row);
      return row.status === status && its !== null && compareKeys(its, key) >= 0 ? [its] : [];
    });
    const [first] =
      above.length === 0 ? [] : await finishedFrom(db, queue, status, key, RANGE_ROWS);
    const next = first && { seq: first.seq as bigint, creationTime: first._creationTime };
    const free = above.filter((one) => next === undefined || compareKeys(one, next) < 0);
    const last = free.sort(compareKeys).at(-1);
    moved.push({ status, ...(last === undefined ? key : justAfter(last)) });
  }
  const passed = gone.filter((row) => {
    const key = keyOfEnd(row);
    return key === null || compareKeys(key, keyOfStatus(moved, row.status)) < 0;
  });
  return { passed, keys: moved };
}

/** `null`: no snapshot ever showed it. */
function keyOfEnd({ seq, creationTime }: Doc<"ended">): Key | null {
  return seq === undefined ? null : { seq, creationTime };
}

function talliesOf(gone: readonly Doc<"ended">[]): Tally[] {
  const tallies = new Tallies();
  for (const end of gone) tallies.countEnd(end);
  return tallies.all();
}

// --- Remaining work ---------------------------------------------------------------------------------

/**
 * The ones of these queues with finished jobs that are not counted. For snapshot reads: a real read would depend on
 * every end.
 */
export async function findUncounted(
  db: DatabaseReader,
  queues: readonly string[],
): Promise<string[]> {
  const found = await Promise.all(
    queues.map(async (queue) => {
      const upTo = (await findCounted(db, queue))?.upTo ?? [];
      return (await hasMore(db, queue, upTo)) ? [queue] : [];
    }),
  );
  return found.flat();
}

/**
 * The ones of these queues to which no roll-up comes soon. For snapshot reads: the alarm that it shows may have gone
 * since.
 */
export async function findUnattended(
  db: DatabaseReader,
  queues: readonly string[],
  now: number,
): Promise<string[]> {
  const found = await Promise.all(
    queues.map(async (queue) => {
      const alarm = await findAlarm(db, { kind: "rollUp", queue });
      const comes = alarm !== null && alarm.dueAt <= now + ROLL_UP_LATELY_MS;
      return comes && !isOverdue(alarm, now) ? [] : [queue];
    }),
  );
  return found.flat();
}

/** Whether anything has finished above these keys. For real: a job that finishes now conflicts with the caller. */
async function hasMore(
  db: DatabaseReader,
  queue: string,
  upTo: Infer<typeof vKeys>,
): Promise<boolean> {
  for (const status of FINISHED_STATUSES) {
    const from = keyOfStatus(upTo, status);
    if ((await finishedFrom(db, queue, status, from, 1)).length > 0) return true;
  }
  return false;
}
