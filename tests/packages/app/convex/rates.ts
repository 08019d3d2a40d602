/** Rate limits: by token bucket and fixed window, by key, reserved, sharded, and applied in the background. */
import { MINUTE, RateLimiter } from "@convex-dev/rate-limiter";
import { v } from "convex/values";
import { components } from "./_generated/api.js";
import { mutation, query } from "./_generated/server.js";
import { write } from "./lines.js";

const rateLimiter = new RateLimiter(components.rateLimiter, {
  signUps: { kind: "fixed window", rate: 2, period: MINUTE, start: 0 },
  messages: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
  tokens: { kind: "token bucket", rate: 1000, period: MINUTE, shards: 2 },
  budget: { kind: "token bucket", rate: 5, period: MINUTE, applyUpdates: "asynchronously" },
});

const vName = v.union(
  v.literal("signUps"),
  v.literal("messages"),
  v.literal("tokens"),
  v.literal("budget"),
);

export const limit = mutation({
  args: { name: vName, key: v.optional(v.string()), count: v.optional(v.number()) },
  handler: (ctx, { name, key, count }) =>
    rateLimiter.limit(ctx, name, {
      ...(key === undefined ? {} : { key }),
      ...(count === undefined ? {} : { count }),
    }),
});

/** A limit that is taken by a mutation which fails is not taken. */
export const limitAndFail = mutation({
  args: { key: v.string() },
  handler: async (ctx, { key }) => {
    await rateLimiter.limit(ctx, "messages", { key, throws: true });
    await write(ctx, "rates", "never seen");
    throw new Error("after the limit");
  },
});

export const reserve = mutation({
  args: { key: v.string(), count: v.number() },
  handler: (ctx, { key, count }) =>
    rateLimiter.limit(ctx, "messages", { key, count, reserve: true }),
});

export const check = query({
  args: { name: vName, key: v.optional(v.string()) },
  handler: (ctx, { name, key }) => rateLimiter.check(ctx, name, key === undefined ? {} : { key }),
});

export const reset = mutation({
  args: { name: vName, key: v.string() },
  handler: (ctx, { name, key }) => rateLimiter.reset(ctx, name, { key }),
});
