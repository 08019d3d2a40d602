/** Large batches, from a mutation and from an action. */
import { v } from "convex/values";
import { internalAction, internalMutation } from "./_generated/server.js";
import { secrets, sums } from "./queues.js";

const args = { count: v.number(), bytes: v.number() };

function payloads({ count, bytes }: { count: number; bytes: number }) {
  return Array.from({ length: count }, (_, n) => ({ n, padding: "x".repeat(bytes) }));
}

export const atOnce = internalMutation({
  args,
  returns: v.number(),
  handler: async (ctx, size) => (await secrets.enqueueBatch(ctx, payloads(size))).length,
});

/** All with these options. */
export const sumsWith = internalMutation({
  args: { payloads: v.array(v.any()), options: v.any() },
  returns: v.array(v.string()),
  handler: async (ctx, { payloads: jobs, options }) =>
    await sums.enqueueBatch(ctx, jobs, () => options as object),
});

/** Each with all the rows that a job can have. */
export const full = internalMutation({
  args: { count: v.number() },
  returns: v.number(),
  handler: async (ctx, { count }) => {
    const ids = await secrets.enqueueBatch(ctx, payloads({ count, bytes: 600 }), ({ n }) => ({
      ...{ key: `key-${n}`, runAfter: 60_000 + n * 1_000, expiresAfterMs: 60_000, leaseMs: 5_000 },
      ...{ labels: ["gpu"], priority: 5, tags: ["a"], group: "g", context: "x".repeat(600) },
    }));
    return ids.length;
  },
});

export const inParts = internalAction({
  args,
  returns: v.number(),
  handler: async (ctx, size) => (await secrets.enqueueBatch(ctx, payloads(size))).length,
});
