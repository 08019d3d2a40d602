import { v } from "convex/values";
import { internalMutation } from "./_generated/server.js";
import { races } from "./queues.js";

export const { enqueue, status, logs, output, list } = races.api({
  authorize: "public",
  enqueue: true,
});

/** Jobs that fall due one after another, the first in a day. */
export const enqueueFuture = internalMutation({
  args: { count: v.number(), everyMs: v.number() },
  returns: v.null(),
  handler: async (ctx, { count, everyMs }) => {
    const first = Date.now() + 24 * 3_600_000;
    const payloads = Array.from({ length: count }, (_, n) => ({ n }));
    await races.enqueueBatch(ctx, payloads, ({ n }) => ({ runAt: first + n * everyMs }));
    return null;
  },
});

/** Jobs that are due in so many milliseconds, each put in by a call of its own. */
export const enqueueAfter = internalMutation({
  args: { delays: v.array(v.number()) },
  returns: v.null(),
  handler: async (ctx, { delays }) => {
    for (const runAfter of delays) await races.enqueue(ctx, { n: 0 }, { runAfter });
    return null;
  },
});
