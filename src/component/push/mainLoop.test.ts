/** Where a lane begins, by a snapshot that is older than the slots are. */
import { expect, test } from "vitest";
import type { MutationCtx } from "../_generated/server.js";
import { findQueue } from "../rows/queues.js";
import { newWorld } from "../setup.test.js";
import { chooseTarget } from "./mainLoop.js";

const HANDLER = { handle: "function://;app:work", kind: "action", takes: "payload" } as const;

test("a lane is handed to no process of another action that has begun in the slot of the receiver that was seen", async () => {
  const world = await newWorld({ push: true, handler: HANDLER });
  await world.cancel(await world.enqueue());
  await world.t.run(async (raw) => {
    const ctx = raw as unknown as MutationCtx;
    const queue = (await findQueue(ctx.db, "tiles"))!;
    const openedAt = Date.now();
    const { _id: scheduledId } = (await ctx.db.system.query("_scheduled_functions").first())!;
    const id = await ctx.db.insert("processes", {
      ...{ number: 3, state: "receiving", generation: 2, openedAt, scheduledId },
      action: "function://;app:inline",
    });
    const seen = {
      ...{ slots: [], kept: 2, receivers: [{ id, openedAt: openedAt - 1_000 }] },
      left: { any: 10, few: 10 },
    };
    const target = await chooseTarget(ctx, queue, seen, 1_000, Date.now());
    expect(target.kind).not.toBe("handOver");
  });
});
