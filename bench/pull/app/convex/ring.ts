/**
 * The circular queue, "Distribution of Circular Queued Work in Node.js", in its plain form on Convex. From its text,
 * and done here:
 * - all items are rows, and active items are worked on in the order of their waiting time;
 * - workers fetch work themselves, when they have room, by one atomic step that marks as theirs the first item that is
 *   free, or that has a claim old enough to have failed;
 * - the work done, the item is free again, at the end.
 *
 * Its one `UPDATE` is a mutation here. "Free, or claimed long ago, and the oldest of them" is one range of one index:
 * an item has a place in time: when it was put at the end, and, while it is claimed, when that claim is too old. Where
 * it says nothing: an item has so many turns, here one, and is not active when it has had them; the claim is too old
 * after the same time as the lease of the other alternatives, and is renewed while a worker works, so that long work is
 * not done twice; a repeated end counts once. Its workers reach the database itself: here they show a secret.
 */
import { v } from "convex/values";
import { entries, LEASE_MS, mutation, query, type MutationCtx, type Work } from "./builders.js";

async function insert(ctx: MutationCtx, work: Work): Promise<void> {
  await ctx.db.insert("ringItems", { work, active: true, turns: 1, dueAt: Date.now() });
}

export const { enqueue, enqueueAll } = entries({ one: insert });

/** Whether one is free. When claims grow old is no change: workers also poll. */
export const hasWork = query({
  args: {},
  handler: async (ctx) => {
    const first = await ctx.db
      .query("ringItems")
      .withIndex("by_place", (range) => range.eq("active", true))
      .first();
    return first !== null && first.dueAt <= Date.now();
  },
});

const ofWorker = { secret: v.string(), worker: v.string() };

export const claim = mutation({
  args: ofWorker,
  handler: async (ctx, { secret, worker }) => {
    check(secret);
    const now = Date.now();
    const item = await ctx.db
      .query("ringItems")
      .withIndex("by_place", (range) => range.eq("active", true).lte("dueAt", now))
      .first();
    if (item === null) return null;
    await ctx.db.patch("ringItems", item._id, { worker, dueAt: now + LEASE_MS });
    return { item: item._id, work: item.work };
  },
});

const ofItem = { ...ofWorker, item: v.id("ringItems") };

export const renew = mutation({
  args: ofItem,
  handler: async (ctx, { secret, worker, item: id }) => {
    check(secret);
    const item = await ctx.db.get("ringItems", id);
    if (item?.worker !== worker) return null;
    await ctx.db.patch("ringItems", id, { dueAt: Date.now() + LEASE_MS });
    return null;
  },
});

export const putBack = mutation({
  args: ofItem,
  handler: async (ctx, { secret, worker, item: id }) => {
    check(secret);
    const item = await ctx.db.get("ringItems", id);
    if (item?.worker !== worker) return null;
    const turns = item.turns - 1;
    const free = { worker: undefined, dueAt: Date.now(), turns, active: turns > 0 };
    await ctx.db.patch("ringItems", id, free);
    console.log(`recorded ${item.work.n}`);
    return null;
  },
});

function check(secret: string): void {
  if (secret !== process.env.WORKER_SECRET) throw new Error("This is not the secret.");
}
