/** A lane that grows into the room of lanes that sleep, where there are more than one snapshot read asks about. */
import { afterEach, expect, test, vi } from "vitest";
import {
  COMPONENT_VERSION,
  LANE_WIDTH,
  lifeOf,
  STEAL_AFTER_MS,
  type LaneJob,
} from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Id } from "../_generated/dataModel.js";
import type { MutationCtx } from "../_generated/server.js";
import { findQueue } from "../rows/queues.js";
import { newWorld, type World } from "../setup.test.js";
import { LANES_ASKED, lanesOf, newLane, setCap, widthFor } from "./lanes.js";

afterEach(() => vi.restoreAllMocks());

/** No test here calls it. */
const HANDLER = { handle: "function://;app:work", kind: "action", takes: "payload" } as const;

const inOne = async <T>(world: World, run: (ctx: MutationCtx) => Promise<T>) =>
  await world.t.run((ctx) => run(ctx as unknown as MutationCtx));

/** All lanes are gone: a session without leases would count as idle. */
const leave = async (world: World) =>
  await inOne(world, async (ctx) => {
    for (const { _id } of await ctx.db.query("sessions").collect())
      await ctx.db.delete("sessions", _id);
  });

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
  await leave(world);
});

test("a lane that fills its room with jobs that wait grows into the room of its queue, and polls, where no lane does", async () => {
  const world = await newWorld({ push: true, maxParallelism: 50, handler: HANDLER });
  for (let n = 0; n < 20; n += 1) await world.enqueue();
  // Younger ones have wakes of their own.
  vi.setSystemTime(Date.now() + 2 * STEAL_AFTER_MS);
  let id!: Id<"lanes">;
  let process!: Id<"processes">;
  await inOne(world, async (ctx) => {
    const queue = (await findQueue(ctx.db, "tiles"))!;
    const cap = { cap: 2, under: 50 };
    const { lane, session } = await newLane(ctx, queue, 1, Date.now(), cap);
    const runsIn = (await ctx.db.system.query("_scheduled_functions").first())!._id;
    await ctx.db.patch("sessions", session._id, {
      state: "active",
      runsIn,
      expiresAt: Date.now() + 60_000,
    });
    id = lane._id;
    const of = { number: 1, state: "open", generation: 0, openedAt: Date.now() } as const;
    process = await ctx.db.insert("processes", { ...of, scheduledId: runsIn });
  });
  const capOf = async () => (await world.all("lanes")).find(({ _id }) => _id === id)!.cap;
  let callSeq = 0;
  const step = async (ended: LaneJob[]) =>
    await world.t.mutation(internal.push.laneStep.stepLane, {
      ...{ lane: id, generation: 0, callSeq: (callSeq += 1), lastAckedCall: callSeq - 1 },
      ...{ looks: 0, execute: [] },
      in: {
        ...{
          process,
          generation: 0,
          version: COMPONENT_VERSION,
          endsAt: Date.now() + lifeOf(false),
        },
        ...{ places: LANE_WIDTH, isFull: false },
      },
      finished: ended.map(({ job: { id, attempt } }) => ({
        id,
        attempt,
        outcome: { kind: "succeeded" as const },
      })),
    });

  const first = await step([]);
  expect(first.jobs).toHaveLength(2);
  expect(await capOf()).toBe(LANE_WIDTH);
  expect(first.lookAfterMs).not.toBeNull();
  expect(await world.all("gates")).toMatchObject([{ state: "guarded", guard: id }]);
  const second = await step(first.jobs);
  expect(second.jobs).toHaveLength(18);
  await step(second.jobs);
  const counts = (await world.all("jobs")).map(({ status }) => status);
  expect(counts).toEqual(Array(20).fill("succeeded"));
  await leave(world);
});

test("where `maxParallelism` was lowered below the room that sleeping lanes keep, wakes take that room back, and a job begins", async () => {
  const world = await newWorld({ push: true, maxParallelism: 100, handler: HANDLER });
  await world.cancel(await world.enqueue());
  await inOne(world, async (ctx) => {
    const queue = (await findQueue(ctx.db, "tiles"))!;
    for (let n = 0; n < 100; n += 1)
      await newLane(ctx, queue, n, Date.now(), { cap: 1, under: 100 });
  });
  vi.setSystemTime(Date.now() + 20_000);
  world.queue.config = { ...world.queue.config, maxParallelism: 5 };
  const job = await world.enqueue();
  const done = new Set<string>();
  for (let runs = 0; runs < 10; runs += 1) {
    const planned = await inOne(world, (ctx) =>
      ctx.db.system.query("_scheduled_functions").collect(),
    );
    const wake = planned.find(({ _id, name }) => name === "push/wake:wake" && !done.has(_id));
    if (wake === undefined) break;
    done.add(wake._id);
    await world.t.mutation(internal.push.wake.wake, wake.args[0] as never);
  }
  expect((await world.job(job)).status).toBe("running");
  const caps = (await world.all("lanes")).map(({ cap }) => cap);
  expect(caps.reduce((sum, cap) => sum + cap)).toBeLessThanOrEqual(5);
});
