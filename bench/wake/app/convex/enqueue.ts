/** Four ways for a caller to ensure that its job is taken. */
import { v } from "convex/values";
import { app, internalQuery, mutation, type MutationCtx, type Reader } from "./builders.js";
import type { Way } from "./gate.js";
import { ownWork } from "./own.js";

const args = { reads: v.number(), lanes: v.number() };

/**
 * The gate is read from a snapshot, without depending on it. A stale "quiet" schedules a wake too many, which does no
 * harm; a stale "busy" would lose the job, so it is read for real.
 */
export const glancing = mutation({
  args,
  handler: async (ctx, { reads, lanes }) => {
    await ownWork(ctx, reads);
    await insertPending(ctx, lanes);
    const seen: string = await ctx.runQuery(app.enqueue.gate, {}, { useStaleSnapshot: true });
    if (seen === "quiet" || (await gateState(ctx.db)) === "quiet") await scheduleWake(ctx);
  },
});

/** The gate is read for real: a caller retries whenever it changes meanwhile. */
export const depending = mutation({
  args,
  handler: async (ctx, { reads, lanes }) => {
    await ownWork(ctx, reads);
    await insertPending(ctx, lanes);
    if ((await gateState(ctx.db)) === "quiet") await scheduleWake(ctx);
  },
});

/**
 * As `glancing`, but a caller that saw a busy gate depends on the door, which is shut some time after the gate was
 * turned.
 */
export const announced = mutation({
  args,
  handler: async (ctx, { reads, lanes }) => {
    await ownWork(ctx, reads);
    await insertPending(ctx, lanes);
    const seen: string = await ctx.runQuery(app.enqueue.gate, {}, { useStaleSnapshot: true });
    const relies = seen === "busy" && (await ctx.db.query("door").unique())!.open;
    if (!relies) await scheduleWake(ctx, "announce");
  },
});

/**
 * The caller wakes a sleeping lane itself and gives it the job, at the best this way can do: the lane starts without a
 * claim. Where all are awake it depends on that, and the job is left to them.
 */
export const patching = mutation({
  args,
  handler: async (ctx, { reads, lanes }) => {
    await ownWork(ctx, reads);
    const lane = await sleepingLane(ctx.db, Math.floor(Math.random() * lanes));
    if (lane === null) return insertPending(ctx, lanes);
    const { commitTs } = ctx.db.vars;
    const stamps = { seq: commitTs, enqueuedTs: commitTs };
    const job = await ctx.db.insert("jobs", { status: "running", shard: lane.n, ...stamps });
    await ctx.db.patch("lanes", lane._id, { state: "awake" });
    const { _id, n, cap } = lane;
    await ctx.scheduler.runAfter(0, app.lane.run, {
      lane: _id,
      n,
      cap,
      way: "patch",
      jobs: [job],
    });
  },
});

export const gate = internalQuery({ args: {}, handler: ({ db }) => gateState(db) });

async function gateState(db: Reader): Promise<"quiet" | "busy"> {
  return (await db.query("gate").unique())!.state;
}

async function insertPending({ db }: MutationCtx, lanes: number): Promise<void> {
  const stamps = { seq: db.vars.commitTs, enqueuedTs: db.vars.commitTs };
  const shard = Math.floor(Math.random() * lanes);
  await db.insert("jobs", { status: "pending", shard, ...stamps });
}

async function scheduleWake(ctx: MutationCtx, way: Way = "wake"): Promise<void> {
  await ctx.scheduler.runAfter(0, app.wake.run, { way });
}

/** The first from a random number on. With none, all that could be one has been read. */
async function sleepingLane(db: Reader, from: number) {
  const after = await db
    .query("lanes")
    .withIndex("state", (q) => q.eq("state", "asleep").gte("n", from))
    .first();
  if (after !== null) return after;
  return db
    .query("lanes")
    .withIndex("state", (q) => q.eq("state", "asleep").lt("n", from))
    .first();
}
