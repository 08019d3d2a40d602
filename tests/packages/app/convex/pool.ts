/** The work pool: actions and mutations, a bound on how many run, retries, completion, cancellation. */
import { vOnCompleteArgs, vWorkId, Workpool, type WorkId } from "@convex-dev/workpool";
import { v } from "convex/values";
import { components, internal } from "./_generated/api.js";
import { internalAction, internalMutation, mutation, query } from "./_generated/server.js";
import { write } from "./lines.js";

export const PARALLELISM = 3;

const pool = new Workpool(components.narrowPool, {
  maxParallelism: PARALLELISM,
  retryActionsByDefault: true,
  defaultRetryBehavior: { maxAttempts: 3, initialBackoffMs: 50, base: 1.1 },
});

export const enqueueActions = mutation({
  args: { count: v.number(), ms: v.number() },
  handler: async (ctx, { count, ms }): Promise<WorkId[]> => {
    const works = Array.from({ length: count }, (_, n) => ({ n, ms }));
    return pool.enqueueActionBatch(ctx, internal.pool.takeTime, works, {
      onComplete: internal.pool.completed,
      context: { about: "actions" },
    });
  },
});

export const takeTime = internalAction({
  args: { n: v.number(), ms: v.number() },
  handler: async (ctx, { n, ms }) => {
    await ctx.runMutation(internal.lines.add, { about: "running", text: "+" });
    await new Promise((resolve) => setTimeout(resolve, ms));
    await ctx.runMutation(internal.lines.add, { about: "running", text: "-" });
    return n;
  },
});

export const enqueueMutations = mutation({
  args: { count: v.number() },
  handler: async (ctx, { count }) => {
    for (let n = 0; n < count; n++) {
      await pool.enqueueMutation(
        ctx,
        internal.pool.square,
        { n },
        { onComplete: internal.pool.completed, context: { about: "mutations" } },
      );
    }
  },
});

export const square = internalMutation({
  args: { n: v.number() },
  handler: async (_ctx, { n }) => n * n,
});

export const enqueueFlaky = mutation({
  args: { about: v.string(), failures: v.number() },
  handler: (ctx, args): Promise<WorkId> =>
    pool.enqueueAction(ctx, internal.pool.flaky, args, {
      onComplete: internal.pool.completed,
      context: { about: args.about },
    }),
});

export const flaky = internalAction({
  args: { about: v.string(), failures: v.number() },
  handler: async (ctx, { about, failures }): Promise<number> => {
    const attempt: number = await ctx.runMutation(internal.pool.countAttempt, { about });
    if (attempt <= failures) throw new Error(`attempt ${attempt} fails`);
    return attempt;
  },
});

export const countAttempt = internalMutation({
  args: { about: v.string() },
  handler: async (ctx, { about }) => {
    await write(ctx, `${about} attempts`, "attempt");
    const attempts = await ctx.db
      .query("lines")
      .withIndex("about", (q) => q.eq("about", `${about} attempts`))
      .collect();
    return attempts.length;
  },
});

export const completed = internalMutation({
  args: vOnCompleteArgs(v.object({ about: v.string() })),
  handler: async (ctx, { context, result }) => {
    const said =
      result.kind === "success"
        ? JSON.stringify(result.returnValue)
        : result.kind === "failed"
          ? result.error
          : "";
    await write(ctx, context.about, `${result.kind} ${said}`.trim());
  },
});

export const enqueueLater = mutation({
  args: {},
  handler: (ctx): Promise<WorkId> =>
    pool.enqueueMutation(
      ctx,
      internal.pool.square,
      { n: 2 },
      {
        runAfter: 3_600_000,
        onComplete: internal.pool.completed,
        context: { about: "canceled" },
      },
    ),
});

export const cancel = mutation({
  args: { id: vWorkId },
  handler: (ctx, { id }) => pool.cancel(ctx, id),
});

export const status = query({
  args: { id: vWorkId },
  handler: (ctx, { id }) => pool.status(ctx, id),
});
