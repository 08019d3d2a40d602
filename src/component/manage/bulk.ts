/**
 * Many jobs at once: the first step in the caller's transaction; the remaining jobs follow in a task of the
 * component's, one step per transaction, until no job is left, or are requested by the caller, step by step.
 *
 * A task is an alarm of its own, and the alarm's row keeps the order and the position reached: after a crash the call
 * that finds the alarm overdue restarts it from there. Each step is a sub-transaction. One that throws is tried with
 * ever fewer jobs; a single job that throws is passed over, and an event says so: a broken row never stops the other
 * jobs.
 *
 * Reads for real: its alarm; as `bulkStep.ts`. Writes: its alarm (`timers`), and as `bulkStep.ts`. Conflicts with: a
 * call that moves one of these very jobs; `stopTask`, which deletes its alarm.
 */
import { getConvexSize, v } from "convex/values";
import {
  errorText,
  BULK_CHANGED,
  checkInteger,
  checkLength,
  ERROR_MAX_BYTES,
  EVENTS_DEFAULT,
  FILTER_MAX,
  FILTER_MAX_BYTES,
  isConveyorError,
  vBulkAction,
  vJobFilter,
  type BulkReply,
  type BulkState,
} from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import { internalMutation, type MutationCtx, type QueryCtx } from "../_generated/server.js";
import { alarmOf, conclude, defineLoop, insertAlarm } from "../loops/loop.js";
import { decodeCursor, encodeCursor, FIRST, statusesOf, step, type Order } from "./bulkStep.js";
import { recordEvent } from "../rows/events.js";
import { cutError } from "../rows/payloads.js";
import { getQueue } from "../rows/queues.js";
import { newRoom, removeRows, type Place } from "../count/remove.js";

/** Kept in the alarm's row. */
type Position =
  | Bulk
  /** A job that is gone already, and of which rows are left. */
  | { leftovers: Place };

interface Bulk {
  order: Order;
  cursor: string;
  /** How many jobs the next step may change: fewer after one that threw. */
  limit: number;
  changed: number;
  failed: number;
  startedAt: number;
}

export async function changeMany(
  ctx: MutationCtx,
  args: Order & { cursor?: string; limit?: number; goOn?: boolean },
): Promise<BulkReply> {
  const { cursor, limit = BULK_CHANGED, goOn = true, ...asked } = args;
  const order = goOn ? closed(asked) : asked;
  checkOrder(order, limit);
  await getQueue(ctx.db, order.queue);
  const from = cursor === undefined ? FIRST : decodeCursor(ctx.db, cursor);
  if (!goOn) {
    // With paging, the caller receives the error of a job that throws.
    const { changed, next } = await step(ctx, order, from, { limit });
    return next === null
      ? { changed, isDone: true }
      : { changed, isDone: false, cursor: encodeCursor(next) };
  }
  const begun = { order, limit, changed: 0, failed: 0, startedAt: Date.now() };
  const { changed, ...next } = await firstStep(ctx, { ...begun, cursor: encodeCursor(from) });
  if (next.cursor === null) return { changed, isDone: true };
  const position = { ...begun, limit: next.limit, changed, cursor: next.cursor };
  const task = await start(ctx, order.queue, position);
  // Where nothing can be scheduled, the reply has the cursor for the caller's next call.
  return { changed, isDone: false, ...(task === null ? { cursor: next.cursor } : { task }) };
}

/** In the caller's transaction, which a job that throws must not undo: the task's later steps will isolate that job. */
async function firstStep(
  ctx: MutationCtx,
  { order, cursor, limit }: Bulk,
): Promise<StepReply & { limit: number }> {
  try {
    const args = { order, cursor, limit, skip: false };
    return {
      ...(await ctx.runMutation(internal.manage.bulk.runBulkStep, args)),
      limit: BULK_CHANGED,
    };
  } catch (error) {
    if (isConveyorError(error)) throw error;
    return { changed: 0, cursor, limit: fewer(limit) };
  }
}

function fewer(limit: number): number {
  return Math.ceil(limit / 4);
}

/** A task ends, however many jobs come in meanwhile: it covers only jobs enqueued before it began. */
function closed(order: Order): Order {
  if (order.action === "retry") return order;
  const enqueuedBefore = order.filter.enqueuedBefore ?? Date.now() + 1;
  return { ...order, filter: { ...order.filter, enqueuedBefore } };
}

function checkOrder(order: Order, limit: number): void {
  checkInteger("limit", limit, 1, BULK_CHANGED);
  checkInteger("A filter, in bytes,", getConvexSize(order.filter), 0, FILTER_MAX_BYTES);
  statusesOf(order);
  const { tags, labels } = order.filter;
  if (tags !== undefined) checkLength("The tags of a filter", tags, 1, FILTER_MAX);
  if (labels !== undefined) checkLength("The labels of a filter", labels, 1, FILTER_MAX);
  if (order.reason !== undefined) {
    checkInteger("The length of reason", order.reason.length, 0, ERROR_MAX_BYTES);
  }
}

/** Deletes the remaining rows of a deleted job, a part per transaction: the job is gone, and nothing else ever comes for them. */
export async function startLeftovers(
  ctx: MutationCtx,
  queue: string,
  leftovers: Place,
): Promise<void> {
  await start(ctx, queue, { leftovers }, true);
}

/** An alarm of its own for each, which no other call can take for its own. */
async function start(
  ctx: MutationCtx,
  queue: string,
  position: Position,
  stays = false,
): Promise<Id<"timers"> | null> {
  const now = Date.now();
  const key = { kind: "bulk" as const, queue, start: now, width: Math.random() };
  return await insertAlarm(ctx, key, now, position, stays);
}

// --- Going on -----------------------------------------------------------------------------------

export const continueBulk = defineLoop({
  kind: "bulk",
  run: async (ctx, alarm, now) => {
    const from = alarm.position as Position;
    const position =
      "leftovers" in from
        ? await removeLeftovers(ctx, from.leftovers)
        : await goOn(ctx, alarm, from);
    return position === null ? "gone" : { at: now, position };
  },
});

async function removeLeftovers(ctx: MutationCtx, from: Place): Promise<Position | null> {
  const rest = await removeRows(ctx.db, from.job, newRoom(), from);
  return rest === null ? null : { leftovers: rest };
}

async function goOn(
  ctx: MutationCtx,
  alarm: Doc<"timers">,
  position: Bulk,
): Promise<Position | null> {
  const { order, cursor, limit } = position;
  // Jobs that the call's own transaction has enqueued since are of the same millisecond.
  const { _creationTime: createdBefore } = alarm;
  let done: StepReply;
  let { failed } = position;
  try {
    done = await ctx.runMutation(internal.manage.bulk.runBulkStep, {
      ...{ order, cursor, limit, createdBefore },
      skip: false,
    });
  } catch (error) {
    if (limit > 1) return { ...position, limit: fewer(limit) };
    done = await ctx.runMutation(internal.manage.bulk.runBulkStep, {
      ...{ order, cursor, limit, createdBefore },
      skip: true,
    });
    failed += 1;
    const message = `A job could not be changed and was passed over: ${cutError(errorText(error))}`;
    const details = { task: alarm._id, action: order.action, job: done.skipped ?? null };
    await recordEvent(ctx, { kind: "bulkSkipped", queue: order.queue, message, details });
  }
  const changed = position.changed + done.changed;
  // Another pass finds the same failing jobs again.
  if (done.isNewPass) failed = 0;
  if (done.cursor !== null) {
    const wider = Math.min(BULK_CHANGED, limit * 2);
    return { ...position, cursor: done.cursor, limit: wider, changed, failed };
  }
  await recordEnd(ctx, alarm._id, { ...position, changed, failed }, "done");
  return null;
}

interface StepReply {
  changed: number;
  cursor: string | null;
  skipped?: Id<"jobs">;
  /** Whether the next step begins at the beginning again. */
  isNewPass?: boolean;
}

/** The sub-transaction: if it throws, nothing of it stands. */
export const runBulkStep = internalMutation({
  args: {
    order: v.object({
      queue: v.string(),
      action: vBulkAction,
      filter: vJobFilter,
      reason: v.optional(v.string()),
    }),
    cursor: v.string(),
    limit: v.number(),
    skip: v.boolean(),
    createdBefore: v.optional(v.number()),
  },
  returns: v.object({
    changed: v.number(),
    cursor: v.union(v.string(), v.null()),
    skipped: v.optional(v.id("jobs")),
    isNewPass: v.optional(v.boolean()),
  }),
  handler: async (ctx, { order, cursor, ...options }): Promise<StepReply> => {
    const from = decodeCursor(ctx.db, cursor);
    const { changed, next, skipped } = await step(ctx, order, from, options);
    return {
      changed,
      cursor: next === null ? null : encodeCursor(next),
      ...(skipped === undefined ? {} : { skipped }),
      ...(next !== null && next.passes > from.passes ? { isNewPass: true } : {}),
    };
  },
});

// --- Following and stopping ---------------------------------------------------------------------

async function recordEnd(
  ctx: MutationCtx,
  task: Id<"timers">,
  { order, changed, failed, startedAt }: Bulk,
  state: "done" | "stopped",
): Promise<void> {
  const { queue, action } = order;
  const details = { task, action, changed, failed, startedAt, state };
  const message = `${action} of many jobs is ${state}: ${changed} changed, ${failed} passed over.`;
  await recordEvent(ctx, { kind: ENDED, queue, message, details });
}

const ENDED = "bulkEnded" as const;

/** How far a task has come; of one that has ended as long as that is among its queue's last hundred events. */
export async function taskState(
  ctx: QueryCtx,
  task: string,
  queue: string,
): Promise<BulkState | null> {
  const found = await findTask(ctx, task, queue);
  if (found !== null) {
    const { order, changed, failed, startedAt } = found.position;
    return { queue, action: order.action, state: "running", changed, failed, startedAt };
  }
  const events = await ctx.db
    .query("events")
    .withIndex("queue", (q) => q.eq("queue", queue))
    .order("desc")
    .take(EVENTS_DEFAULT);
  const ended = events.find(({ kind, details }) => kind === ENDED && details?.task === task);
  if (ended === undefined) return null;
  const { action, state, changed, failed, startedAt } = ended.details as BulkState;
  return { queue, action, state, changed, failed, startedAt };
}

/** Stops a task after the step that it is in. Its changes so far stay. */
export async function stopTask(
  ctx: MutationCtx,
  task: string,
  queue: string,
): Promise<{ stopped: boolean }> {
  const found = await findTask(ctx, task, queue);
  if (found === null) return { stopped: false };
  await conclude(ctx, found.alarm, "gone");
  await recordEnd(ctx, found.alarm._id, found.position, "stopped");
  return { stopped: true };
}

async function findTask(ctx: QueryCtx, task: string, queue: string) {
  const alarm = await alarmOf(ctx.db, "bulk", task);
  if (alarm?.queue !== queue) return null;
  const position = alarm.position as Position;
  return "leftovers" in position ? null : { alarm, position };
}
