import { describe, expect, test, vi } from "vitest";
import { internal } from "./_generated/api.js";
import type { Doc, Id } from "./_generated/dataModel.js";
import { ensureDispatch } from "./dispatcher.js";
import { findQueue } from "./queues.js";
import { newWorld, type World } from "./setup.test.js";
import { cancel, insertJob } from "./transitions.js";

/** Puts jobs that are due at these times into the queue, as any step that schedules does. */
export async function schedule(world: World, ...dueAts: number[]): Promise<Id<"jobs">[]> {
  if ((await world.all("queues")).length === 0) await world.enqueue();
  return await world.t.run(async (ctx) => {
    const queue = (await findQueue(ctx.db, "tiles"))!;
    const now = Date.now();
    await ensureDispatch(ctx, "tiles", dueAts, now);
    const ids: Id<"jobs">[] = [];
    for (const dueAt of dueAts) {
      const fields = { payload: { inline: dueAt }, enqueuedAt: now };
      ids.push(await insertJob(ctx.db, queue, fields, dueAt));
    }
    return ids;
  });
}

describe("a job that is due later", () => {
  test("becomes claimable within 250 ms of its time, and not before", async () => {
    const world = await newWorld();
    for (const delay of [40, 1_234, 61_000, 3_700_000]) {
      const [id] = await schedule(world, Date.now() + delay);
      await world.advance(delay - 1);
      expect(await world.status(id!)).toMatchObject({ status: "scheduled" });
      await world.advance(251);
      expect(await world.status(id!)).toMatchObject({ status: "pending" });
      expect(await world.all("timers")).toEqual([]);
    }
  });
});
