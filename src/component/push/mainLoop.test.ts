/** Where a lane begins, by a snapshot that is older than the slots are; and queues that wait for places. */
import { expect, test } from "vitest";
import { limitsOf, placesLeft, PROCESS_FULL, ROUSED } from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { MutationCtx } from "../_generated/server.js";
import { findQueue } from "../rows/queues.js";
import { newWorld } from "../setup.test.js";
import { chooseTarget, takeBackFrom } from "./mainLoop.js";
import { mountViewOf } from "./mount.js";

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

test("a poll says that there are places where the queue that they are kept for waits behind many that run more", async () => {
  const { t } = await newWorld();
  const process = await t.run(async (ctx) => {
    const of = { state: "receiving", generation: 1, openedAt: Date.now() } as const;
    const id = await ctx.db.insert("processes", { ...of, number: 0 });
    const extra = limitsOf("s16").any - 1;
    expect(placesLeft(limitsOf("s16"), [{ extra }])).toEqual({ any: 0, few: 5 });
    await ctx.db.insert("grants", { process: id, extra });
    for (let n = 0; n < ROUSED; n += 1)
      await ctx.db.insert("waitingQueues", { queue: `large ${n}`, isServed: true });
    return id;
  });
  const arePlaces = async () => {
    const args = { process, generation: 1, upTo: 0n };
    return (await t.query(internal.push.mainLoop.readProcesses, args)).arePlaces;
  };
  expect(await arePlaces()).toBe(false);
  await t.run((ctx) => ctx.db.insert("waitingQueues", { queue: "small", isServed: false }));
  expect(await arePlaces()).toBe(true);
});

test("a lane's step that gives places back has the queue woken that waits for them, and one that gives none wakes none", async () => {
  const { t } = await newWorld();
  const process = await t.run(async (ctx) => {
    const of = { state: "open", generation: 1, openedAt: Date.now(), number: 0 } as const;
    const id = await ctx.db.insert("processes", of);
    await ctx.db.insert("grants", { process: id, extra: 9 });
    await ctx.db.insert("waitingQueues", { queue: "small", isServed: false });
    return id;
  });
  const back = async (givenBack: number) =>
    await t.run(async (raw) => {
      const ctx = raw as unknown as MutationCtx;
      await takeBackFrom(ctx, { process, generation: 1, givenBack });
      const scheduled = await ctx.db.system.query("_scheduled_functions").collect();
      return scheduled.filter(({ name }) => name.includes("rouseQueues")).length;
    });
  expect(await back(0)).toBe(0);
  expect(await back(4)).toBe(1);
  expect(await back(4)).toBe(1);
});

test("where one process may have all places lanes are handed to it however many it has, since a second one could only share them", async () => {
  const { t } = await newWorld();
  await t.run(async (ctx) => {
    const of = { state: "receiving", generation: 1, openedAt: Date.now(), number: 0 } as const;
    const id = await ctx.db.insert("processes", of);
    await ctx.db.insert("grants", { process: id, extra: PROCESS_FULL });
    // All slots but the kept ones have a process.
    for (const [number, state] of (["open", "free", "free"] as const).entries())
      await ctx.db.insert("processes", { ...of, state, number: number + 1 });
    const receivers = async (deploymentClass: string) =>
      (await mountViewOf(ctx.db, deploymentClass)).receivers.map((one) => one.id);
    expect(await receivers("s16")).toEqual([id]);
  });
});

test("where one process cannot have all places no lane is handed to a full one", async () => {
  const { t } = await newWorld();
  await t.run(async (ctx) => {
    const { slots } = limitsOf("s256");
    const of = { state: "receiving", generation: 1, openedAt: Date.now() } as const;
    const ids = [];
    for (let number = 0; number < slots - 2; number += 1)
      ids.push(await ctx.db.insert("processes", { ...of, number }));
    await ctx.db.insert("grants", { process: ids[0]!, extra: PROCESS_FULL });
    const { receivers } = await mountViewOf(ctx.db, "s256");
    expect(receivers.map(({ id }) => id)).toEqual(ids.slice(1));
  });
});
