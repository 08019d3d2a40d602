/**
 * An app that uses a work pool as the package's documentation shows: retries, completion with a context, exclusions, batches,
 * a pool of one, status, cancellation, a configuration that is changed at run time. The same code is here before an app's move to Conveyor and after it.
 */
import {
  NonRetryableError,
  vOnCompleteArgs,
  vOnCompleteValidator,
  vWorkId,
  vWorkIdValidator,
  Workpool,
  type RunResult,
  type WorkId,
} from "convex-conveyor/workpool";
import { v, type VString } from "convex/values";
import { components, internal } from "./_generated/api.js";
import type { DataModel } from "./_generated/dataModel.js";
import {
  internalAction,
  internalMutation,
  internalQuery,
  mutation,
  query,
  type QueryCtx,
} from "./_generated/server.js";
import { write } from "./lines.js";

const pool = new Workpool(components.ours, {
  maxParallelism: 4,
  retryActionsByDefault: true,
  defaultRetryBehavior: { maxAttempts: 3, initialBackoffMs: 100, base: 2 },
});
const tuned = new Workpool(components.oursTuned, {});

// --- Work -------------------------------------------------------------------------------------

const vSend = v.object({
  to: v.string(),
  ms: v.optional(v.number()),
  fails: v.optional(v.number()),
  empty: v.optional(v.boolean()),
});

export const send = internalAction({
  args: vSend,
  handler: async (ctx, { to, ms = 0, fails = 0, empty = false }): Promise<unknown> => {
    const attempt: number = await ctx.runMutation(internal.ours.begin, { to });
    if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
    if (!to.includes("@")) throw new NonRetryableError("Invalid email address");
    if (attempt <= fails) throw new Error(`The mail server refused ${to}.`);
    return empty ? undefined : { to, attempt };
  },
});

export const begin = internalMutation({
  args: { to: v.string() },
  returns: v.number(),
  handler: async (ctx, { to }) => {
    await write(ctx, `ours attempts of ${to}`, "began");
    return (await about(ctx.db, `attempts of ${to}`)).length;
  },
});

/** Prone to conflicts with itself, unless it runs in a pool of one. */
export const increment = internalMutation({
  args: {},
  handler: async (ctx) => {
    const count = (await about(ctx.db, "count")).length + 1;
    await write(ctx, "ours count", String(count));
    return count;
  },
});

export const book = internalMutation({
  args: { to: v.string() },
  handler: async (ctx, { to }) => {
    await write(ctx, "ours booked", to);
    if (!to.includes("@")) throw new Error("No guest to book for.");
  },
});

export const countOf = internalQuery({
  args: { what: v.string() },
  handler: async (ctx, { what }) => (await about(ctx.db, what)).length,
});

// --- Callbacks --------------------------------------------------------------------------------

export const sent = internalMutation({
  args: vOnCompleteValidator(v.object({ to: v.string(), again: v.optional(v.boolean()) })),
  handler: async (ctx, { workId, context, result }) => {
    await write(ctx, "ours told", JSON.stringify({ context, result }));
    await write(ctx, "ours ids", workId);
    if (result.kind !== "failed" || context.again !== true) return;
    await pool.enqueueAction(
      ctx,
      internal.ours.send,
      { to: `again-${context.to}` },
      {
        retry: { maxAttempts: 10, initialBackoffMs: 250, base: 2 },
        onComplete: internal.ours.defined,
        context: context.to,
      },
    );
  },
});

export const defined = pool.defineOnComplete<DataModel, VString>({
  context: v.string(),
  handler: async (ctx, { context, result }) => {
    await write(ctx, "ours told", JSON.stringify({ context, result }));
  },
});

export const plain = internalMutation({
  args: vOnCompleteArgs(),
  handler: async (ctx, { context, result }: { context?: unknown; result: RunResult }) => {
    const given = context === undefined ? "none" : context;
    await write(ctx, "ours told", JSON.stringify({ context: given, result }));
  },
});

// --- Calls ------------------------------------------------------------------------------------

export const enqueue = mutation({
  args: {
    mail: vSend,
    again: v.optional(v.boolean()),
    retry: v.optional(v.boolean()),
    runAfter: v.optional(v.number()),
    exclude: v.optional(v.array(v.union(v.literal("success"), v.literal("failed")))),
  },
  returns: vWorkId,
  handler: (ctx, { mail, again, retry, runAfter, exclude }): Promise<WorkId> =>
    pool.enqueueAction(ctx, internal.ours.send, mail, {
      onComplete: internal.ours.sent,
      context: { to: mail.to, ...(again === undefined ? {} : { again }) },
      ...(retry === undefined ? {} : { retry }),
      ...(exclude === undefined ? {} : { onCompleteExcludeKinds: exclude }),
      ...(runAfter === undefined ? {} : { runAfter }),
    }),
});

export const enqueueAt = mutation({
  args: { to: v.string(), runAt: v.number() },
  handler: (ctx, { to, runAt }): Promise<WorkId> =>
    pool.enqueueAction(ctx, internal.ours.send, { to }, { runAt, name: "at" }),
});

export const enqueueOthers = mutation({
  args: {},
  handler: async (ctx): Promise<void> => {
    const onComplete = internal.ours.plain;
    await pool.enqueueMutation(ctx, internal.ours.book, { to: "a@b" }, { onComplete });
    await pool.enqueueMutation(ctx, internal.ours.book, { to: "ab" }, { onComplete, context: 1 });
    const counted = { onComplete, context: null };
    await pool.enqueueQuery(ctx, internal.ours.countOf, { what: "nothing" }, counted);
    await pool.enqueueQueryBatch(ctx, internal.ours.countOf, [{ what: "nothing" }], counted);
    await pool.enqueueMutationBatch(ctx, internal.ours.book, [{ to: "c@d" }], counted);
  },
});

export const enqueueMany = internalAction({
  args: { count: v.number() },
  handler: async (ctx, { count }): Promise<WorkId[]> => {
    const mails = Array.from({ length: count }, (_, n) => ({ to: `${n}@many`, ms: 50 }));
    return await pool.enqueueActionBatch(ctx, internal.ours.send, mails);
  },
});

export const doSomethingAndCount = mutation({
  args: {},
  handler: async (ctx): Promise<WorkId> =>
    await tuned.enqueueMutation(ctx, internal.ours.increment, {}),
});

export const tune = mutation({
  args: { maxParallelism: v.number() },
  handler: async (ctx, { maxParallelism }) => {
    await ctx.runMutation(components.oursTuned.config.update, { maxParallelism });
  },
});

export const cancel = mutation({
  args: { id: vWorkIdValidator },
  handler: (ctx, { id }) => pool.cancel(ctx, id),
});

export const cancelAll = mutation({
  args: { limit: v.optional(v.number()) },
  handler: (ctx, { limit }) => pool.cancelAll(ctx, limit === undefined ? {} : { limit }),
});

export const status = query({
  args: { ids: v.array(vWorkId) },
  handler: async (ctx, { ids }) => {
    const [first] = ids;
    const one = first === undefined ? null : await pool.status(ctx, first);
    return { one, all: await pool.statusBatch(ctx, ids) };
  },
});

export const tunedStatus = query({
  args: { id: vWorkId },
  handler: (ctx, { id }) => tuned.status(ctx, id),
});

export const look = query({
  args: { what: v.string() },
  handler: async (ctx, { what }) => await about(ctx.db, what),
});

async function about(db: QueryCtx["db"], what: string): Promise<string[]> {
  const lines = await db
    .query("lines")
    .withIndex("about", (q) => q.eq("about", `ours ${what}`))
    .collect();
  return lines.map(({ text }) => text);
}
