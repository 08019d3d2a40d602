/** The function of plain scheduling: the job, and the note of how it ended, or another attempt. */
import { v, type GenericId } from "convex/values";
import { app, internalAction, internalMutation, retries, retry, vWork } from "./builders.js";
import { booked, work } from "./work.js";

const args = { ...vWork.fields, task: v.string(), attempt: v.optional(v.number()) };
type TaskId = GenericId<"tasks">;

export const act = internalAction({
  args,
  handler: async (ctx, given) => {
    let status: "succeeded" | "failed" = "succeeded";
    try {
      await work(given);
    } catch {
      status = "failed";
    }
    await ctx.runMutation(app.tasks.ended, { ...given, status });
    return null;
  },
});

export const ended = internalMutation({
  args: { ...args, status: v.union(v.literal("succeeded"), v.literal("failed")) },
  handler: async (ctx, { status, ...given }) => {
    const { n, task, attempt = 1 } = given;
    if (status === "failed" && retries && attempt < retry.maxAttempts) {
      const afterMs = retry.initialBackoffMs * retry.base ** (attempt - 1) * (0.5 + Math.random());
      await ctx.scheduler.runAfter(afterMs, app.tasks.act, { ...given, attempt: attempt + 1 });
      return null;
    }
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
