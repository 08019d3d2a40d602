/** A lane that grows into the room of lanes that sleep, where there are more than one snapshot read asks about. */
import { afterEach, expect, test, vi } from "vitest";
import { LANE_WIDTH } from "../../shared/index.js";
import type { MutationCtx } from "../_generated/server.js";
import { findQueue } from "../rows/queues.js";
import { newWorld, type World } from "../setup.test.js";
import { LANES_ASKED, lanesOf, newLane, setCap, widthFor } from "./lanes.js";

afterEach(() => vi.restoreAllMocks());

const inOne = async (world: World, run: (ctx: MutationCtx) => Promise<void>) =>
  await world.t.run((ctx) => run(ctx as unknown as MutationCtx));

test("it grows as far as was found, whichever lanes are asked whether they sleep", async () => {
  const world = await newWorld({ push: true, maxParallelism: 100 });
  await world.enqueue();
  await inOne(world, async (ctx) => {
    for (let n = 0; n <= 3 * LANES_ASKED; n += 1) {
      const { session } = await newLane(ctx, (await findQueue(ctx.db, "tiles"))!, n, Date.now(), {
        ...{ cap: 1, under: 100 },
      });
      // The first of them sleep.
      if (n > LANES_ASKED) await ctx.db.patch("sessions", session._id, { state: "active" });
    }
  });
  await inOne(world, async (ctx) => {
    const queue = (await findQueue(ctx.db, "tiles"))!;
    const lane = (await lanesOf(ctx.db, "tiles")).at(-1)!;
    // The ones that sleep are asked first, and then ones that are awake.
    vi.spyOn(Math, "random").mockReturnValueOnce(0).mockReturnValue(0.5);
    const found = await widthFor(ctx, queue, lane, { running: 0, isWideEnough: false });
    const { width } = found;
    expect(width).toBe(LANE_WIDTH);
    await setCap(ctx, queue, lane, { ...found, cap: width });
    const caps = (await lanesOf(ctx.db, "tiles")).map(({ cap }) => cap);
    expect(caps.at(-1)).toBe(width);
    expect(caps.reduce((sum, cap) => sum + cap)).toBeLessThanOrEqual(100);
  });
  await inOne(world, async (ctx) => {
    for (const { _id } of await ctx.db.query("sessions").collect())
      await ctx.db.delete("sessions", _id);
  });
});
