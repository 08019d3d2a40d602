/** A row that the whole app patches, the callback of a queue included. */
import { v } from "convex/values";
import { internal } from "./_generated/api.js";
import {
  internalAction,
  internalMutation,
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server.js";
import { conveyor, hot } from "./queues.js";

export const { enqueue, status } = hot.api({ authorize: "public", enqueue: true });

async function row(ctx: Pick<QueryCtx, "db">) {
  const found = await ctx.db.query("hot").first();
  if (found === null) throw new Error("Create the row first.");
  return found;
}

export const create = mutation({
  args: {},
  returns: v.null(),
  handler: async (ctx) => {
    await ctx.db.insert("hot", { bumps: 0, told: 0 });
    return null;
  },
});

export const bump = mutation({
  args: {},
  returns: v.null(),
  handler: async (ctx) => {
    const { _id, bumps } = await row(ctx);
    await ctx.db.patch(_id, { bumps: bumps + 1 });
    return null;
  },
});

export const tell = internalMutation({
  args: hot.onCompleteArgs,
  returns: v.null(),
  handler: async (ctx, { id, payload, outcome, attempt }) => {
    const { _id, told } = await row(ctx);
    await ctx.db.patch(_id, { told: told + 1 });
    await ctx.db.insert("done", { job: id, n: payload.n, status: outcome.status, attempt });
    return null;
  },
});

async function count(ctx: MutationCtx): Promise<void> {
  const { _id, told } = await row(ctx);
  await ctx.db.patch(_id, { told: told + 1 });
}

/** Run by Convex: its handler patches the row; or its callback does. */
const pushed = { payload: v.object({ n: v.number() }), maxParallelism: 10 };
export const patched = conveyor.queue("patched", pushed);
patched.handledBy({ mutation: internal.hot.patch });
export const heard = conveyor.queue("heard", { ...pushed, onComplete: () => internal.hot.hear });
heard.handledBy({ action: internal.hot.nothing });

/** Its callback writes a row of its own: no conflict with the rest of the app. */
export const noted = conveyor.queue("noted", {
  payload: v.object({ n: v.number() }),
  maxParallelism: 40,
  onComplete: () => internal.hot.note,
});
noted.handledBy({ action: internal.hot.wait });

export const wait = internalAction({
  args: { n: v.number() },
  returns: v.null(),
  handler: async () => {
    await new Promise((resolve) => setTimeout(resolve, 200));
    return null;
  },
});

export const note = internalMutation({
  args: noted.onCompleteArgs,
  returns: v.null(),
  handler: async (ctx, { id, payload, outcome, attempt }) => {
    await ctx.db.insert("done", { job: id, n: payload.n, status: outcome.status, attempt });
    return null;
  },
});

export const patch = internalMutation({
  args: { n: v.number() },
  returns: v.null(),
  handler: async (ctx) => {
    await count(ctx);
    return null;
  },
});

export const nothing = internalAction({
  args: { n: v.number() },
  returns: v.null(),
  handler: () => null,
});

export const hear = internalMutation({
  args: heard.onCompleteArgs,
  returns: v.null(),
  handler: async (ctx) => {
    await count(ctx);
    return null;
  },
});

export const push = mutation({
  args: {
    queue: v.union(v.literal("patched"), v.literal("heard"), v.literal("noted")),
    n: v.number(),
  },
  returns: v.null(),
  handler: async (ctx, { queue, n }) => {
    await { heard, patched, noted }[queue].enqueue(ctx, { n });
    return null;
  },
});

export const read = query({
  args: {},
  returns: v.object({ bumps: v.number(), told: v.number() }),
  handler: async (ctx) => {
    const { bumps, told } = await row(ctx);
    return { bumps, told };
  },
});
