/** A queue, its handler, its callback and an enqueuer in one module, which names itself by `internal` and has no annotation. */
import { v } from "convex/values";
import { internal } from "./_generated/api";
import { internalMutation, internalQuery, mutation } from "./_generated/server";
import { conveyor } from "./conveyor";

export const emails = conveyor.queue("emails", {
  payload: { to: v.string(), body: v.string() },
  result: v.object({ messageId: v.string() }),
  progress: v.object({ percent: v.number() }),
  action: () => internal.emails.send,
  onComplete: () => internal.emails.sent,
  maxParallelism: 20,
  retry: { maxAttempts: 4 },
  deadlineMs: 24 * 60 * 60_000,
});

export const send = emails.action(async (ctx, job) => {
  const bounced = await ctx.runQuery(internal.emails.bounced, { to: job.payload.to });
  const until: number = bounced.length;
  job.progress({ percent: until });
  job.log(`to ${job.payload.to}`);
  await ctx.runMutation(internal.emails.note, { to: job.payload.to });
  return { messageId: job.idempotencyKey };
});

export const sent = emails.completed(async (ctx, { payload, outcome }) => {
  if (outcome.status === "succeeded") return;
  await ctx.db.insert("bounces", { to: payload.to, why: outcome.status });
  await ctx.runMutation(internal.emails.note, { to: payload.to });
});

export const welcome = mutation({
  args: { to: v.string() },
  handler: async (ctx, { to }) => {
    return await emails.enqueue(
      ctx,
      { to, body: "Welcome" },
      { runAfter: 60_000, deadlineMs: 90_000 },
    );
  },
});

export const bounced = internalQuery({
  args: { to: v.string() },
  handler: async (ctx, { to }) => {
    const all = await ctx.db.query("bounces").collect();
    return all.filter((one) => one.to === to);
  },
});

export const note = internalMutation({
  args: { to: v.string() },
  handler: async (ctx, { to }) => {
    await ctx.db.insert("bounces", { to, why: "noted" });
    return await emails.enqueue(ctx, { to, body: "Again" });
  },
});

/** The types of the module's own references. */
export const typed = internalMutation({
  args: {},
  handler: async (ctx) => {
    const id: string = await ctx.runMutation(internal.emails.note, { to: "a" });
    // @ts-expect-error 'number' is not assignable to type 'string'
    await ctx.runMutation(internal.emails.note, { to: 1 });
    return id;
  },
});

export const tally = conveyor.queue("tally", { mutation: () => internal.emails.count });
export const count = tally.mutation(async (ctx, job) => {
  job.log("counted with the rest");
  await ctx.runMutation(internal.emails.note, { to: job.id });
});

export const sums = conveyor.queue("sums", {
  result: v.number(),
  query: () => internal.emails.sum,
});
export const sum = sums.query(async (ctx) => {
  const bounces = await ctx.runQuery(internal.emails.bounced, { to: "a" });
  return bounces.length;
});

export const pings = conveyor.queue("pings", {
  payload: { url: v.string() },
  inline: () => internal.emails.ping,
});
export const ping = pings.inline(async (ctx, { payload, signal }) => {
  signal.throwIfAborted();
  await ctx.runMutation(internal.emails.note, { to: payload.url });
});
