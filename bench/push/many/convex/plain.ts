/** The same jobs with the scheduler alone, and a row each that says how it ended. There are no queues, and no bounds. */
import { v, type GenericId } from "convex/values";
import { app, counts, internalAction, internalMutation, vWork } from "./builders.js";
import { count } from "./counter.js";
import { entry } from "./entries.js";
import { work } from "./jobs.js";

export const enqueue = entry(async (ctx, _queue, kind, works) => {
  for (const given of works) {
    const task = await ctx.db.insert("tasks", { status: "pending" });
    if (kind === "act") await ctx.scheduler.runAfter(0, app.plain.run, { ...given, task });
    else await ctx.scheduler.runAfter(0, app.plain.booked, { ...given, task });
  }
});

const args = { ...vWork.fields, task: v.string() };

export const run = internalAction({
  args,
  handler: async (ctx, { task, ...given }) => {
    await work(ctx, given);
    await ctx.runMutation(app.plain.ended, { ...given, task });
    return null;
  },
});

export const ended = internalMutation({
  args,
  handler: async (ctx, { n, task }) => {
    await ctx.db.patch("tasks", task as GenericId<"tasks">, { status: "succeeded" });
    if (counts === "callback") await count(ctx);
    console.log(`recorded ${n}`);
    return null;
  },
});

/** The job is the mutation that records its own end. */
export const booked = internalMutation({
  args,
  handler: async (ctx, { n, task }) => {
    console.log(`began ${n}`);
    if (counts === "handler") await count(ctx);
    console.log(`ended ${n}`);
    await ctx.db.patch("tasks", task as GenericId<"tasks">, { status: "succeeded" });
    console.log(`recorded ${n}`);
    return null;
  },
});
