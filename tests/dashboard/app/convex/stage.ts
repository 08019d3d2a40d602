/** A test's calls to the queues, as the app's own code would make them. */
import { v } from "convex/values";
import { mutation } from "./_generated/server.js";
import { answers, imports, mails, renders, webhooks } from "./queues.js";

/** Every tenth mail fails at every attempt. */
export const sendMails = mutation({
  args: { from: v.number(), count: v.number() },
  returns: v.array(v.string()),
  handler: async (ctx, { from, count }): Promise<string[]> => {
    const payloads = Array.from({ length: count }, (_, i) => ({
      to: `reader-${from + i}@example.com`,
      subject: `Letter ${from + i}`,
      fails: (from + i) % 10 === 9,
    }));
    return await mails.enqueueBatch(ctx, payloads, ({ to }) => ({
      name: "newsletter",
      tags: [`list:${to.length % 3}`],
    }));
  },
});

export const ask = mutation({
  args: {
    question: v.string(),
    words: v.number(),
    everyMs: v.number(),
    priority: v.optional(v.number()),
  },
  returns: v.string(),
  handler: async (ctx, { priority, ...question }): Promise<string> =>
    await answers.enqueue(ctx, question, { name: "question", key: question.question, priority }),
});

export const callWebhooks = mutation({
  args: { count: v.number() },
  returns: v.array(v.string()),
  handler: async (ctx, { count }): Promise<string[]> =>
    await webhooks.enqueueBatch(
      ctx,
      Array.from({ length: count }, (_, i) => ({ url: `https://example.com/hooks/${i}` })),
    ),
});

export const render = mutation({
  args: { count: v.number(), ms: v.number(), labels: v.optional(v.array(v.string())) },
  returns: v.array(v.string()),
  handler: async (ctx, { count, ms, labels }): Promise<string[]> =>
    await renders.enqueueBatch(
      ctx,
      Array.from({ length: count }, (_, frame) => ({ frame, ms })),
      labels === undefined ? {} : { labels },
    ),
});

/** Without a worker: they wait. */
export const importFiles = mutation({
  args: { from: v.number(), count: v.number(), runAfter: v.optional(v.number()) },
  returns: v.array(v.string()),
  handler: async (ctx, { from, count, runAfter }): Promise<string[]> =>
    await imports.enqueueBatch(
      ctx,
      Array.from({ length: count }, (_, i) => ({ file: `archive/${from + i}.csv` })),
      runAfter === undefined ? {} : { runAfter },
    ),
});

/** The answers of the dashboard's `authorize` from now on. */
export const giveLeave = mutation({
  args: { see: v.boolean(), act: v.boolean(), hide: v.boolean(), trap: v.boolean() },
  returns: v.null(),
  handler: async (ctx, leave) => {
    const row = await ctx.db.query("leave").first();
    if (row === null) await ctx.db.insert("leave", leave);
    else await ctx.db.replace("leave", row._id, leave);
    return null;
  },
});
