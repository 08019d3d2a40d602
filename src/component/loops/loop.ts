/**
 * Loops: work that runs later, and is sure to. A loop is a kind of row in `timers`, its alarm, and a run. Each run ends with
 * the time of the next one, or with the alarm gone. The handshake is the same for all loops:
 *
 * - A transaction that leaves work for later makes sure, in the same transaction, that an alarm exists: a point read, and only
 *   if it is absent, overdue or too late, an insert or patch and a scheduled function.
 * - A run does its work, and returns `"gone"` only after a real read that no work is left. So of a transaction that
 *   leaves work and an alarm that goes, one retries and sees the other.
 *
 * The files of this room are the only ones that touch `timers`. The janitor's alarms are in `timers.ts`: claims may not depend on
 * them when they can help it.
 */
import type { FunctionReference, RegisteredMutation } from "convex/server";
import { v, type Infer, type ObjectType, type PropertyValidators } from "convex/values";
import { ALARM_SLOTS, JANITOR_OVERDUE_MS, OVERDUE_ALARMS_MAX } from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import { internalMutation, type DatabaseReader, type MutationCtx } from "../_generated/server.js";
import { logAlways } from "../rows/log.js";
import type { vTimerKind } from "../rows/stored.js";

export type LoopKind = Infer<typeof vTimerKind>;

/** The alarm of a call. A call of an older generation does nothing. */
type Called = { timer: Id<"timers">; generation?: number };

/** The function of each kind: with its {@link defineLoop} and its name among the kinds all that a loop is. */
const FUNCTIONS: Record<LoopKind, FunctionReference<"mutation", "internal", Called, null>> = {
  janitor: internal.tend.janitor.sweep,
  dispatcher: internal.edges.dispatcher.promoteDue,
  expiry: internal.edges.startDeadlines.endExpired,
  rollUp: internal.count.rollUp.countEnds,
  arrivals: internal.count.arrivals.countNewJobs,
  purge: internal.count.purge.purgeQueue,
  bulk: internal.manage.bulk.continueBulk,
};

// --- A loop -------------------------------------------------------------------------------------

/** How a run ends. */
export type Next = "gone" | Again;

interface Again {
  at: number;
  /** How far the work has come, for the alarm's row; without it the row keeps the last. */
  position?: object;
  /** The alarm is no longer to take less than it may because it has failed. */
  failures?: 0;
  /**
   * Arguments for the next run alone. That run comes without a write of the alarm's row, on which transactions depend, unless
   * the row is about to count as dead.
   */
  carried?: object;
}

/**
 * The mutation of a loop. `run` gets the alarm's row, read for real, and does not write it. `carried`: the arguments, all
 * optional, that a run may hand to the next.
 */
export function defineLoop<Carried extends PropertyValidators = Record<never, never>>({
  kind,
  carried,
  run,
}: {
  kind: LoopKind;
  carried?: Carried;
  run: (
    ctx: MutationCtx,
    alarm: Doc<"timers">,
    now: number,
    carried: ObjectType<Carried>,
  ) => Promise<Next>;
}): RegisteredMutation<"internal", Called & ObjectType<Carried>, Promise<null>> {
  return internalMutation({
    args: { timer: v.id("timers"), generation: v.optional(v.number()), ...carried },
    returns: v.null(),
    handler: async (ctx, called: any): Promise<null> => {
      const { timer, generation = 0 } = called as Called;
      const alarm = await ctx.db.get("timers", timer);
      if (alarm?.kind !== kind || (alarm.generation ?? 0) !== generation) return null;
      await conclude(ctx, alarm, await run(ctx, alarm, Date.now(), called));
      return null;
    },
  });
}

/**
 * Arms the alarm's next run, or deletes its row. Where nothing can be armed the row stays as it is: it is soon overdue, and the
 * next transaction that finds it so revives it. The janitor's goes, since the next claim inserts another. Returns `false` there.
 */
export async function conclude(
  ctx: MutationCtx,
  alarm: Doc<"timers">,
  next: Next,
): Promise<boolean> {
  const isArmed = next !== "gone" && (await rearm(ctx, alarm, next));
  if (next === "gone" || (!isArmed && alarm.kind === "janitor"))
    await ctx.db.delete("timers", alarm._id);
  return isArmed || next === "gone";
}

/**
 * An alarm that is due between these times, for a transaction that does its work now and {@link conclude}s it. Its scheduled
 * function is canceled.
 */
export async function takeAlarm(
  ctx: MutationCtx,
  id: Id<"timers">,
  from: number,
  to: number,
): Promise<Doc<"timers"> | null> {
  const alarm = await ctx.db.get("timers", id);
  if (alarm === null || alarm.dueAt < from || alarm.dueAt > to) return null;
  if (alarm.scheduledId !== undefined) await ctx.scheduler.cancel(alarm.scheduledId);
  return alarm;
}

// --- Finding alarms -----------------------------------------------------------------------------

export interface AlarmKey {
  kind: LoopKind;
  /** Absent for one of all queues. */
  queue?: string;
  /** Of the segment, where the kind has segments. */
  start?: number;
  width?: number;
  /** Where a segment may have several alarms: which of them. Absent is the first. */
  slot?: number;
}

/** The alarm of this key. A real read: a transaction that relies on the answer conflicts with the alarm's going. */
export async function findAlarm(
  db: DatabaseReader,
  { kind, queue, start, width, slot }: AlarmKey,
): Promise<Doc<"timers"> | null> {
  return await db
    .query("timers")
    .withIndex("kind", (q) =>
      q.eq("kind", kind).eq("queue", queue).eq("start", start).eq("width", width).eq("slot", slot),
    )
    .first();
}

/**
 * The first alarms of this key, in any slots: as many as there are slots, or the very first alone. Behind them may be
 * some that rely on no other alarm, and on which no transaction relies.
 */
export async function findAlarms(
  db: DatabaseReader,
  { kind, queue, start, width }: AlarmKey,
  count: number = ALARM_SLOTS,
): Promise<Doc<"timers">[]> {
  return await db
    .query("timers")
    .withIndex("kind", (q) =>
      q.eq("kind", kind).eq("queue", queue).eq("start", start).eq("width", width),
    )
    .take(count);
}

/** The alarm of an id that a caller names, if it is one of this kind. */
export async function alarmOf(
  db: DatabaseReader,
  kind: LoopKind,
  id: string,
): Promise<Doc<"timers"> | null> {
  const timer = db.normalizeId("timers", id);
  const alarm = timer === null ? null : await db.get("timers", timer);
  return alarm?.kind === kind ? alarm : null;
}

/** The alarm that a snapshot has shown, read for real, if it is due. */
export async function findDue(
  db: DatabaseReader,
  id: Id<"timers">,
  now: number,
): Promise<Doc<"timers"> | null> {
  const alarm = await db.get("timers", id);
  return alarm === null || alarm.dueAt > now ? null : alarm;
}

/** Alarms of a kind in the order of their queues' names, from behind this queue on. */
export async function alarmsAfter(
  db: DatabaseReader,
  kind: LoopKind,
  queue: string,
  count: number,
): Promise<Doc<"timers">[]> {
  return await db
    .query("timers")
    .withIndex("kind", (q) => q.eq("kind", kind).gt("queue", queue))
    .take(count);
}

/**
 * Whether an alarm counts as dead. A scheduled function that failed, was canceled or is backing off seems armed for
 * ever.
 */
export function isOverdue(timer: { dueAt: number }, now: number): boolean {
  return now > timer.dueAt + JANITOR_OVERDUE_MS;
}

/** The alarm that is due first, of all queues: for views. */
export async function firstAlarm(db: DatabaseReader): Promise<Doc<"timers"> | null> {
  return await db.query("timers").withIndex("dueAt").first();
}

/** Some of the alarms that count as dead, of all kinds but the janitor's: claims replace that one. For snapshot queries. */
export async function findDead(db: DatabaseReader, now: number): Promise<Doc<"timers">[]> {
  const late = await db
    .query("timers")
    .withIndex("dueAt", (q) => q.lt("dueAt", now - JANITOR_OVERDUE_MS))
    .take(4 * OVERDUE_ALARMS_MAX);
  return late.filter(({ kind }) => kind !== "janitor").slice(0, OVERDUE_ALARMS_MAX);
}

// --- Arming -------------------------------------------------------------------------------------

/**
 * Ensures that the alarm's run comes by `dueAt`. One that comes later is brought forward; one that is overdue is
 * revived. Nothing is armed under a canceled scheduled function, since its own are born canceled: the next caller will
 * arm it. A new one comes earlier by `early` milliseconds.
 */
export async function ensureAlarm(
  ctx: MutationCtx,
  key: AlarmKey,
  dueAt: number,
  now: number,
  early = 0,
): Promise<void> {
  const timer = await findAlarm(ctx.db, key);
  if (timer === null) await insertAlarm(ctx, key, dueAt - early);
  else if (isOverdue(timer, now)) await revive(ctx, timer, now);
  else if (timer.dueAt > dueAt) await rearm(ctx, timer, { at: dueAt });
}

/**
 * Has the alarm's run come at `dueAt` and not before, or, for `null`, not at all: for a transaction that has just done
 * its work, and has read for real that no work, or later work, is left. The scheduled function is canceled, and costs
 * no call.
 */
export async function deferAlarm(
  ctx: MutationCtx,
  key: AlarmKey,
  dueAt: number | null,
  now: number,
): Promise<void> {
  const timer = await findAlarm(ctx.db, key);
  if (dueAt === null) {
    if (timer === null) return;
    await ctx.db.delete("timers", timer._id);
  } else if (timer === null || isOverdue(timer, now)) {
    await ensureAlarm(ctx, key, dueAt, now);
    return;
  } else if (!(await rearm(ctx, timer, { at: dueAt }))) return;
  if (timer.scheduledId === undefined) return;
  // One that has begun finds the row changed, or gone, and does nothing.
  const scheduled = await ctx.db.system.get("_scheduled_functions", timer.scheduledId);
  if (scheduled?.state.kind === "pending") await ctx.scheduler.cancel(timer.scheduledId);
}

/**
 * A new alarm; `null` where nothing can be armed. That there is none is the caller's to have read. `stays`: its row is there all
 * the same, soon overdue, and the next check revives it.
 */
export async function insertAlarm(
  ctx: MutationCtx,
  key: AlarmKey,
  dueAt: number,
  position?: object,
  stays = false,
): Promise<Id<"timers"> | null> {
  const kept = position === undefined ? {} : { position };
  const id = await ctx.db.insert("timers", { ...key, ...kept, dueAt, generation: 0 });
  if (await rearm(ctx, { _id: id, kind: key.kind, dueAt }, { at: dueAt }, 0)) return id;
  if (!stays) await ctx.db.delete("timers", id);
  return null;
}

/**
 * Schedules an overdue alarm once more. Under the same generation: the first may be late and not dead, and with a new one
 * a scheduler that is always late would never come to a run that counts. The first of the two moves the generation on or
 * deletes the row, and the other does nothing.
 */
export async function revive(ctx: MutationCtx, timer: Doc<"timers">, now: number): Promise<void> {
  const scheduled =
    timer.scheduledId === undefined
      ? null
      : await ctx.db.system.get("_scheduled_functions", timer.scheduledId);
  const failures = scheduled?.state.kind === "failed" ? (timer.failures ?? 0) + 1 : undefined;
  if (!(await rearm(ctx, timer, { at: now }, timer.generation ?? 0))) return;
  const { kind, queue, dueAt } = timer;
  logAlways("warn", "alarmRevived", { kind, queue, overdueMs: now - dueAt });
  if (failures !== undefined) await ctx.db.patch("timers", timer._id, { failures });
}

/** The same for one that {@link findDead} has shown, unless another transaction has revived it. */
export async function reviveDead(ctx: MutationCtx, id: Id<"timers">, now: number): Promise<void> {
  const timer = await ctx.db.get("timers", id);
  if (timer === null || timer.kind === "janitor" || !isOverdue(timer, now)) return;
  await revive(ctx, timer, now);
}

/** Arms an alarm for another time, under a new generation: the function scheduled before does nothing any more. */
export async function rearm(
  ctx: MutationCtx,
  alarm: Pick<Doc<"timers">, "_id" | "kind" | "generation" | "dueAt">,
  { at: dueAt, carried, ...kept }: Again,
  newGeneration = (alarm.generation ?? 0) + 1,
): Promise<boolean> {
  const isKept = carried !== undefined && !isOverdue(alarm, Date.now() + JANITOR_OVERDUE_MS / 2);
  const generation = isKept ? (alarm.generation ?? 0) : newGeneration;
  const args = { timer: alarm._id, generation, ...carried };
  const scheduledId = await ctx.scheduler.runAt(dueAt, FUNCTIONS[alarm.kind], args);
  if (await isStillborn(ctx, scheduledId)) return false;
  if (!isKept) await ctx.db.patch("timers", alarm._id, { ...kept, dueAt, scheduledId, generation });
  return true;
}

/**
 * The platform inserts as canceled every function that is scheduled under a canceled one. The row was inserted by this
 * transaction, so reading it conflicts with nothing.
 */
export async function isStillborn(
  ctx: MutationCtx,
  scheduledId: Id<"_scheduled_functions">,
): Promise<boolean> {
  const scheduled = await ctx.db.system.get("_scheduled_functions", scheduledId);
  return scheduled === null || scheduled.state.kind === "canceled";
}
