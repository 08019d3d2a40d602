/**
 * Alarms: timers (rows of `timers`) that belong to a queue. The handshake is the same for all of them:
 *
 * - Whoever leaves work for later makes sure, in the same transaction, that an alarm exists: a point read, and only if it
 *   is absent, overdue or too late, an insert or patch and a scheduled function.
 * - Whoever an alarm calls checks its generation first, does its work, and then either arms the alarm anew or lets it go,
 *   after a real read that no work is left. So of one who leaves work and an alarm that goes, one runs again.
 *
 * Janitor's timers are in `timers.ts`: claims may not depend on them when they can help it.
 */
import type { FunctionReference, RegisteredMutation } from "convex/server";
import { v, type Infer, type Value } from "convex/values";
import { ALARM_SLOTS } from "../../shared/index.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import { internalMutation, type DatabaseReader, type MutationCtx } from "../_generated/server.js";
import { logAlways } from "../rows/log.js";
import type { vTimerKind } from "../rows/stored.js";
import { isOverdue, isStillborn } from "./timers.js";

export type AlarmKind = Exclude<Infer<typeof vTimerKind>, "janitor">;

/** Whom an alarm calls. */
type Called = { timer: Id<"timers">; generation: number };

/** What an alarm calls, as {@link ringOf} makes it. */
export type Ring = FunctionReference<"mutation", "internal", Called, null>;

/** A kind's ring: does the work with the alarm's row, and nothing if it was called by an older generation. */
export function ringOf(
  work: (ctx: MutationCtx, alarm: Doc<"timers">) => Promise<void>,
): RegisteredMutation<"internal", Called, Promise<null>> {
  return internalMutation({
    args: { timer: v.id("timers"), generation: v.number() },
    returns: v.null(),
    handler: async (ctx, called): Promise<null> => {
      const alarm = await current(ctx.db, called);
      if (alarm !== null) await work(ctx, alarm);
      return null;
    },
  });
}

export interface AlarmKey {
  kind: AlarmKind;
  /** Absent for one of all queues. */
  queue?: string;
  /** Of the segment, where the kind has segments. */
  start?: number;
  width?: number;
  /** Where a segment may have several alarms: which of them. Absent is the first. */
  slot?: number;
}

/** The alarm of this key. A real read: whoever relies on the answer runs again when the alarm goes. */
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
 * The first alarms of this key, whatever their slots: as many as there are slots for who relies on one, or the very first
 * alone. Behind them may be some that rely on nobody, and on which nobody relies.
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

/**
 * Makes sure that the alarm rings by `dueAt`. One that rings later is brought forward; one that is overdue is revived.
 *
 * `false` if nothing could be armed: what is scheduled under a canceled scheduled function is born canceled, and the next
 * caller from elsewhere will arm it.
 */
export async function ensureAlarm(
  ctx: MutationCtx,
  key: AlarmKey,
  ring: Ring,
  dueAt: number,
  now: number,
  position?: Value,
): Promise<boolean> {
  const timer = await findAlarm(ctx.db, key);
  if (timer === null) return await insertAlarm(ctx, key, ring, dueAt, position);
  if (isOverdue(timer, now)) return await revive(ctx, timer, ring, now);
  return timer.dueAt <= dueAt || (await rearm(ctx, timer, ring, dueAt));
}

/**
 * Has the alarm ring at `dueAt` and not before, or, for `null`, not at all: for who has just done what it would do, and read
 * for real what is left. What was scheduled is canceled, and costs no call.
 */
export async function deferAlarm(
  ctx: MutationCtx,
  key: AlarmKey,
  ring: Ring,
  dueAt: number | null,
  now: number,
): Promise<void> {
  const timer = await findAlarm(ctx.db, key);
  if (dueAt === null) {
    if (timer === null) return;
    await ctx.db.delete("timers", timer._id);
  } else if (timer === null || isOverdue(timer, now)) {
    await ensureAlarm(ctx, key, ring, dueAt, now);
    return;
  } else if (!(await rearm(ctx, timer, ring, dueAt))) return;
  if (timer.scheduledId === undefined) return;
  // One that has begun finds the row changed, or gone, and does nothing.
  const scheduled = await ctx.db.system.get("_scheduled_functions", timer.scheduledId);
  if (scheduled?.state.kind === "pending") await ctx.scheduler.cancel(timer.scheduledId);
}

/** A new alarm. That there is none is the caller's to have read. */
export async function insertAlarm(
  ctx: MutationCtx,
  key: AlarmKey,
  ring: Ring,
  dueAt: number,
  position?: Value,
): Promise<boolean> {
  const kept = position === undefined ? {} : { position };
  const id = await ctx.db.insert("timers", { ...key, ...kept, dueAt, generation: 0 });
  if (await schedule(ctx, id, ring, dueAt, 0)) return true;
  await ctx.db.delete("timers", id);
  return false;
}

/**
 * Schedules an overdue alarm once more. Under the same generation: the first may be late and not dead, and with a new one
 * a scheduler that is always late would never come to a ring that counts. Whichever rings first moves the generation on or
 * deletes the row, and the other does nothing.
 */
export async function revive(
  ctx: MutationCtx,
  timer: Doc<"timers">,
  ring: Ring,
  now: number,
): Promise<boolean> {
  const scheduled =
    timer.scheduledId === undefined
      ? null
      : await ctx.db.system.get("_scheduled_functions", timer.scheduledId);
  if (!(await schedule(ctx, timer._id, ring, now, timer.generation ?? 0))) return false;
  const { kind, queue, dueAt } = timer;
  logAlways("warn", "alarmRevived", { kind, queue, overdueMs: now - dueAt });
  if (scheduled?.state.kind === "failed") {
    await ctx.db.patch("timers", timer._id, { failures: (timer.failures ?? 0) + 1 });
  }
  return true;
}

/** The row of the alarm that was called, or `null` if it was called by an older generation, or is gone. */
async function current(
  db: DatabaseReader,
  { timer, generation }: Called,
): Promise<Doc<"timers"> | null> {
  const row = await db.get("timers", timer);
  return row !== null && (row.generation ?? 0) === generation ? row : null;
}

/** Arms an alarm for another time, under a new generation: what was scheduled before does nothing any more. */
export async function rearm(
  ctx: MutationCtx,
  timer: Doc<"timers">,
  ring: Ring,
  dueAt: number,
  position?: Value,
): Promise<boolean> {
  return await schedule(ctx, timer._id, ring, dueAt, (timer.generation ?? 0) + 1, position);
}

async function schedule(
  ctx: MutationCtx,
  id: Id<"timers">,
  ring: Ring,
  dueAt: number,
  generation: number,
  position?: Value,
): Promise<boolean> {
  const scheduledId = await ctx.scheduler.runAt(dueAt, ring, { timer: id, generation });
  if (await isStillborn(ctx, scheduledId)) return false;
  const kept = position === undefined ? {} : { position };
  await ctx.db.patch("timers", id, { ...kept, dueAt, scheduledId, generation });
  return true;
}
