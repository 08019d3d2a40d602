/** What plain scheduling runs: the job, and the note of how it ended. */
import { v, type GenericId } from "convex/values";
import { app, internalAction, internalMutation, vWork } from "./builders.js";
import { booked, work } from "./work.js";

const args = { ...vWork.fields, task: v.string() };
type TaskId = GenericId<"tasks">;

export const act = internalAction({
  args,
  handler: async (ctx, { n, ms, task }) => {
    let status: "succeeded" | "failed" = "succeeded";
    try {
      await work(n, ms);
    } catch {
      status = "failed";
    }
    await ctx.runMutation(app.tasks.ended, { n, task, status });
    return null;
  },
});

export const ended = internalMutation({
  args: {
    n: v.number(),
    task: v.string(),
    status: v.union(v.literal("succeeded"), v.literal("failed")),
  },
  handler: async (ctx, { n, task, status }) => {
    await ctx.db.patch("tasks", task as TaskId, { status });
    console.log(`recorded ${n}`);
    return null;
  },
});

export const book = internalMutation({
  args,
  handler: async (ctx, { n, task }) => {
    booked(n);
    console.log(`recorded ${n}`);
    await ctx.db.patch("tasks", task as TaskId, { status: "succeeded" });
    return null;
  },
});
