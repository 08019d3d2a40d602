/** Queues with jobs that Convex itself runs, and handlers that note each attempt: each run has a row of theirs. */
import { v } from "convex/values";
import { internal } from "./_generated/api.js";
import { internalAction, internalMutation, mutation } from "./_generated/server.js";
import { conveyor } from "./queues.js";

const vTrace = v.object({
  n: v.number(),
  /** How long an action takes. */
  ms: v.number(),
  /** So many attempts throw at their end. Defaults to 0. */
  fails: v.optional(v.number()),
  /** Makes it large. */
  pad: v.optional(v.string()),
});
/** One that was lost with its lane is tried again: these actions may run twice. */
const options = {
  payload: vTrace,
  maxResets: 3,
  retry: { maxAttempts: 3, initialBackoffMs: 500, maxBackoffMs: 500 },
};

/** Declared by hand, since tests name them as handlers of other queues too. */
export const acted = conveyor.queue("acted", options);
acted.handledBy({ action: internal.traced.act, job: true });

export const written = conveyor.queue("written", options);
written.handledBy({ mutation: internal.traced.write, job: true });

/** Pages subscribe to it. */
export const { stats } = acted.api({ authorize: "public" });

export const act = internalAction({
  args: acted.handlerArgs,
  returns: v.object({ n: v.number() }),
  handler: async (ctx, { payload: { n, ms, fails = 0 }, job: { attempt, failures } }) => {
    await ctx.runMutation(internal.traced.note, { n, what: `began ${attempt}` });
    await new Promise((resolve) => setTimeout(resolve, ms));
    await ctx.runMutation(internal.traced.note, { n, what: `ended ${attempt}` });
    if (failures < fails) throw new Error("It was to fail.");
    return { n };
  },
});

/** Its note is there if and only if its job has succeeded. */
export const write = internalMutation({
  args: written.handlerArgs,
  returns: v.object({ n: v.number() }),
  handler: async (ctx, { payload: { n, fails = 0 }, job: { failures } }) => {
    await ctx.db.insert("notes", { n, what: "written", at: Date.now() });
    if (failures < fails) throw new Error("It was to fail.");
    return { n };
  },
});

export const note = internalMutation({
  args: { n: v.number(), what: v.string() },
  returns: v.null(),
  handler: async (ctx, { n, what }) => {
    await ctx.db.insert("notes", { n, what, at: Date.now() });
    return null;
  },
});

const vOptions = v.object({ runAfter: v.optional(v.number()), timeoutMs: v.optional(v.number()) });
const enqueues = {
  args: { payloads: v.array(vTrace), options: v.optional(vOptions) },
  returns: v.array(v.string()),
};

export const enqueue = mutation({
  ...enqueues,
  handler: (ctx, { payloads, options: given }): Promise<string[]> =>
    acted.enqueueBatch(ctx, payloads, given),
});

export const enqueueWritten = mutation({
  ...enqueues,
  handler: (ctx, { payloads, options: given }): Promise<string[]> =>
    written.enqueueBatch(ctx, payloads, given),
});

/** A caller with a mutation that goes on for a while after its enqueue: so many reads, one after the other. */
export const enqueueSlowly = mutation({
  args: { payloads: v.array(vTrace), reads: v.number() },
  returns: v.null(),
  handler: async (ctx, { payloads, reads }) => {
    await acted.enqueueBatch(ctx, payloads);
    for (let i = 0; i < reads; i++) {
      await ctx.db
        .query("notes")
        .withIndex("n", (q) => q.eq("n", -1 - i))
        .first();
    }
    return null;
  },
});
