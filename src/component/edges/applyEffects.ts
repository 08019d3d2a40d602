/**
 * Applies the effects of edges: wakes, alarms of due times, alarms of the roll-up, callbacks; once for all jobs that a step
 * has moved.
 *
 * Reads for real: for each segment of a due time the alarm that comes for it, but as a rule none that is near; for
 * each queue with an end to be counted the alarm of its roll-up; then as `callbacks.ts`. Snapshot reads: the alarms
 * of these segments. Writes: these alarms where there is none (`timers`); schedules wakes, and notes its wake in the
 * row of a new job: of several of one call in the first. Conflicts with: the ring of such an alarm; where a queue has
 * no roll-up's alarm, another transaction that inserts it; a callback of the app with the writes of the app.
 */
import type { MutationCtx } from "../_generated/server.js";
import { ensureUpkeep } from "../count/rollUp.js";
import { ensureSegments } from "../loops/segments.js";
import type { DueTime, EdgeCtx, Effects } from "../rows/effects.js";
import { oweAll } from "./callbacks.js";
import { scheduleWakes } from "./wakes.js";

interface Step extends Partial<Pick<EdgeCtx, "now" | "bySession">> {
  /** Runs the callbacks, or owes them, as by default. */
  deliver?: typeof oweAll;
}

/**
 * Runs a step that moves jobs, and applies the effects of its edges when it has returned. A callback runs code of the app: rows
 * that were read before are read again after it.
 */
export async function withEffects<Result>(
  ctx: MutationCtx,
  { now = Date.now(), bySession = false, deliver = oweAll }: Step,
  run: (ctx: EdgeCtx) => Promise<Result>,
): Promise<Result> {
  const effects: Effects = {
    ...{ wakes: new Map(), dueTimes: [], callbacks: [], laterCallbacks: [] },
    toCount: new Set(),
  };
  const step: EdgeCtx = { ...ctx, now, bySession, effects };
  const result = await run(step);
  // An edge that begins later fails: nothing would apply its effects.
  delete (step as Partial<EdgeCtx>).effects;
  await applyEffects(ctx, effects, now);
  await oweAll(ctx, effects.laterCallbacks);
  await deliver(ctx, effects.callbacks);
  return result;
}

async function applyEffects(ctx: MutationCtx, effects: Effects, now: number): Promise<void> {
  for (const wakes of effects.wakes.values()) await scheduleWakes(ctx, wakes);
  // Jobs of one segment share its alarm: one call for all of them.
  const groups = new Map<string, DueTime & { ats: number[] }>();
  for (const one of effects.dueTimes) {
    const key = JSON.stringify([one.kind, one.isNew === true, one.queue]);
    const group = groups.get(key) ?? { ...one, ats: [] };
    group.ats.push(one.at);
    groups.set(key, group);
  }
  for (const { kind, queue, isNew, ats } of groups.values())
    await ensureSegments(ctx, kind, queue, ats, now, { isLong: isNew !== true });
  for (const queue of effects.toCount) await ensureUpkeep(ctx, queue, now);
}
