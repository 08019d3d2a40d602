/** Queues with jobs that Convex itself runs, with a handler of each kind. */
import { v } from "convex/values";
import { internal } from "./_generated/api.js";
import {
  internalAction,
  internalMutation,
  internalQuery,
  mutation,
  query,
} from "./_generated/server.js";
import { conveyor } from "./queues.js";

const vWork = v.object({
  n: v.number(),
  /** How long it takes. */
  ms: v.number(),
  /** Whether it is noted when it begins and ends. */
  noted: v.optional(v.boolean()),
  /** It throws this often, and then succeeds. */
  fails: v.optional(v.number()),
});

export const pushed = conveyor.queue("pushed", { payload: vWork, retry: { maxAttempts: 3 } });
pushed.handledBy(internal.pushed.work);

export const booked = conveyor.queue("booked", { payload: vWork, retry: { maxAttempts: 3 } });
booked.handledBy({ mutation: internal.pushed.book });

/** Left to workers outside for two seconds; then Convex does them. */
export const mixed = conveyor.queue("mixed", {
  payload: vWork,
  result: v.object({ square: v.number() }),
  fallbackAfterMs: 2_000,
  leaseMs: 600_000,
});
mixed.handledBy(internal.pushed.square);

export const { enqueue, status, cancel } = pushed.api({ authorize: "public", enqueue: true });

export const work = internalAction({
  args: vWork,
  returns: v.object({ n: v.number() }),
  handler: async (ctx, { n, ms, noted = false, fails = 0 }) => {
    if (noted) await ctx.runMutation(internal.pushed.note, { n, what: "began" });
    await new Promise((resolve) => setTimeout(resolve, ms));
    if (noted) await ctx.runMutation(internal.pushed.note, { n, what: "ended" });
    if (fails > 0) throw new Error("It was to fail.");
    return { n };
  },
});

export const square = internalAction({
  args: vWork,
  returns: v.object({ square: v.number() }),
  handler: (_ctx, { n }) => Promise.resolve({ square: n * n }),
});

export const enqueueMixed = mutation({
  args: { payloads: v.array(vWork) },
  returns: v.array(v.string()),
  handler: (ctx, { payloads }): Promise<string[]> => mixed.enqueueBatch(ctx, payloads),
});

/** Jobs of the same queue with options, in one transaction. */
export const enqueueMixedJobs = mutation({
  args: {
    jobs: v.array(v.object({ group: v.optional(v.string()), cost: v.optional(v.number()) })),
  },
  returns: v.array(v.string()),
  handler: async (ctx, { jobs }) => {
    const ids: string[] = [];
    for (const options of jobs) ids.push(await mixed.enqueue(ctx, { n: 1, ms: 0 }, options));
    return ids;
  },
});

export const mixedStatus = query({
  args: { ids: v.array(v.string()) },
  handler: async (ctx, { ids }) => await mixed.statusBatch(ctx, ids),
});

export const note = internalMutation({
  args: { n: v.number(), what: v.string() },
  returns: v.null(),
  handler: async (ctx, { n, what }) => {
    await ctx.db.insert("notes", { n, what, at: Date.now() });
    return null;
  },
});

/** A scheduled function of the app's own, which has nothing to do with jobs. */
export const noteLater = mutation({
  args: { n: v.number() },
  returns: v.null(),
  handler: async (ctx, { n }) => {
    await ctx.scheduler.runAfter(0, internal.pushed.note, { n, what: "later" });
    return null;
  },
});

/** A mutation that is a handler: its note is there if and only if its job has succeeded. */
export const book = internalMutation({
  args: vWork,
  returns: v.object({ n: v.number() }),
  handler: async (ctx, { n, fails = 0 }) => {
    await ctx.db.insert("notes", { n, what: "booked", at: Date.now() });
    if (fails > 0) throw new Error("It was to fail.");
    return { n };
  },
});

export const look = internalQuery({
  args: vWork,
  returns: v.object({ n: v.number() }),
  handler: async (_ctx, { n }) => ({ n }),
});

export const enqueueBooked = mutation({
  args: { payloads: v.array(vWork) },
  returns: v.array(v.string()),
  handler: (ctx, { payloads }) => booked.enqueueBatch(ctx, payloads),
});

export const enqueueQueried = mutation({
  args: { payload: vWork },
  returns: v.string(),
  handler: (ctx, { payload }): Promise<string> =>
    pushed.enqueue(ctx, payload, { handler: { query: internal.pushed.look } }),
});

export const notes = query({
  args: {},
  handler: async (ctx) => await ctx.db.query("notes").take(8_000),
});

export const counts = query({
  args: { queue: v.string() },
  handler: async (ctx, { queue }) =>
    queue === "booked" ? await booked.counts(ctx) : await pushed.counts(ctx),
});
