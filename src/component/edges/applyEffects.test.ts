/** A step applies the effects of its edges once, at its end; an edge without a step fails, and with it its transaction. */
import { expect, test } from "vitest";
import type { Id } from "../_generated/dataModel.js";
import type { EdgeCtx } from "../rows/effects.js";
import { getQueue } from "../rows/queues.js";
import { newToldWorld, type World } from "../setup.test.js";
import { tellAll } from "./callbacks.js";
import { cancel, insertJob } from "./transitions.js";

const DAY_MS = 24 * 60 * 60_000;

async function applied({ t }: World) {
  return await t.run(async (ctx) => {
    const scheduled = await ctx.db.system.query("_scheduled_functions").collect();
    return {
      wakes: scheduled.filter(({ name }) => name === "push/wake:wake").length,
      timers: (await ctx.db.query("timers").collect()).map(({ kind }) => kind).sort(),
      told: (await ctx.db.query("told").collect()).map(({ status }) => status),
    };
  });
}

const NOTHING = { wakes: 0, timers: [], told: [] };
const fields = { payload: { inline: 1 }, enqueuedAt: 0 };

/** One job is canceled, two become claimable, and two are due in a day. */
async function moveSome(ctx: EdgeCtx, id: Id<"jobs">): Promise<void> {
  const queue = await getQueue(ctx.db, "tiles");
  await cancel(ctx, (await ctx.db.get("jobs", id))!, queue);
  for (const dueAt of [null, null, ctx.now + DAY_MS, ctx.now + DAY_MS])
    await insertJob(ctx, queue, fields, dueAt);
}

/** A queue with a handler and a callback, and a job that no alarm stands for. */
async function quiet(): Promise<{ world: World; id: Id<"jobs"> }> {
  const world = await newToldWorld({ push: true });
  const id = await world.enqueue({}, { runAfter: 1_000 });
  await world.t.run(async (ctx) => {
    for (const { _id } of await ctx.db.query("timers").collect())
      await ctx.db.delete("timers", _id);
  });
  return { world, id };
}

test("all effects of a step are applied at its end, one for many jobs", async () => {
  const { world, id } = await quiet();
  await world.step(
    async (ctx) => {
      await moveSome(ctx, id);
      expect(await ctx.db.query("timers").collect()).toEqual([]);
      expect(ctx.effects).toMatchObject({ dueTimes: [{}, {}], callbacks: [{}] });
    },
    { deliver: tellAll },
  );
  expect(await applied(world)).toEqual({
    wakes: 1,
    timers: ["dispatcher", "rollUp"],
    told: ["canceled"],
  });
});

test("a call of the session that holds a job arms no roll-up, and a callback that is to run later is owed", async () => {
  const { world, id } = await quiet();
  await world.step(async (ctx) => void (await moveSome(ctx, id)), { bySession: true });
  expect(await applied(world)).toEqual({ wakes: 1, timers: ["dispatcher", "janitor"], told: [] });
  expect(await world.all("callbacks")).toMatchObject([{ job: id, state: "owed" }]);
});

test("an edge without a step fails, and one that begins when its step is over", async () => {
  const { world, id } = await quiet();
  await expect(world.t.run((ctx) => moveSome(ctx as unknown as EdgeCtx, id))).rejects.toThrow();
  let late: EdgeCtx | undefined;
  await world.step(async (ctx) => {
    late = ctx;
  });
  await expect(world.t.run(() => moveSome(late!, id))).rejects.toThrow();
  expect(await applied(world)).toEqual(NOTHING);
  expect(await world.job(id)).toMatchObject({ status: "scheduled" });
});
