/** Shared by tests of scheduled jobs: putting them in, and reading alarms. */
import { expect, test, vi } from "vitest";
import { internal } from "../_generated/api.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import type { MutationCtx } from "../_generated/server.js";
import { findQueue } from "../rows/queues.js";
import { newWorld, type World } from "../setup.test.js";
import { insertJob, type NewFields } from "./transitions.js";

/** As under a scheduled function that has been canceled: its scheduled functions are canceled from the start. */
export function underCanceled(ctx: object): MutationCtx {
  const of = ctx as MutationCtx;
  const born = async (scheduling: ReturnType<MutationCtx["scheduler"]["runAt"]>) => {
    const id = await scheduling;
    await of.scheduler.cancel(id);
    return id;
  };
  return {
    ...of,
    scheduler: {
      ...of.scheduler,
      runAt: (time, reference, ...args) => born(of.scheduler.runAt(time, reference, ...args)),
      runAfter: (ms, reference, ...args) => born(of.scheduler.runAfter(ms, reference, ...args)),
    },
  };
}

/** Puts jobs that are due at these times into the queue, as any step that schedules does. */
export async function schedule(
  world: World,
  dueAts: number[],
  fields: Partial<NewFields> = {},
): Promise<Id<"jobs">[]> {
  if ((await world.all("queues")).length === 0) await world.enqueue();
  return await world.step(async (ctx) => {
    const queue = (await findQueue(ctx.db, "tiles"))!;
    const ids: Id<"jobs">[] = [];
    for (const dueAt of dueAts) {
      const all = { payload: { inline: dueAt }, enqueuedAt: ctx.now, ...fields };
      ids.push(await insertJob(ctx, queue, all, dueAt));
    }
    return ids;
  });
}

/** Lets time go by in leaps from alarm to alarm: where nothing else is scheduled, a day costs a few steps. */
export async function pass(world: World, ms: number): Promise<void> {
  const end = Date.now() + ms;
  for (;;) {
    await world.settle();
    const dueAts = (await world.all("timers")).map(({ dueAt }) => Math.max(dueAt, Date.now() + 1));
    const next = Math.min(end, ...dueAts);
    if (Date.now() >= end) return;
    vi.advanceTimersByTime(next - Date.now());
  }
}

/** The alarms of segments, by their beginning. */
export async function alarms(world: World): Promise<Doc<"timers">[]> {
  const timers: Doc<"timers">[] = await world.all("timers");
  return timers
    .filter(({ kind }) => kind === "dispatcher" || kind === "expiry")
    .sort((a, b) => a.start! - b.start!);
}

/** Rings an alarm, as if its time had come. */
export async function ringOf(
  world: World,
  { kind, _id: timer, generation = 0 }: Doc<"timers">,
): Promise<void> {
  const ring =
    kind === "expiry"
      ? internal.edges.startDeadlines.endExpired
      : internal.edges.dispatcher.promoteDue;
  await world.t.mutation(ring, { timer, generation });
}

/** Whether the dispatcher has been here: the job that opens the queue was never scheduled. */
export function promoted(job: Doc<"jobs">): boolean {
  return (
    job.status === "pending" && "inline" in job.payload && typeof job.payload.inline === "number"
  );
}

test("a job that is scheduled lies at its due time, and has an alarm", async () => {
  const world = await newWorld();
  const [id] = await schedule(world, [Date.now() + 1_000]);
  expect(await world.job(id!)).toMatchObject({ status: "scheduled", order: Date.now() + 1_000 });
  expect(await alarms(world)).toHaveLength(1);
  await world.advance(1_200);
});
