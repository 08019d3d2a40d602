/** The same jobs with the scheduler alone, and a row each that says how it ended. Nothing bounds how many run at once. */
import type { GenericId } from "convex/values";
import { app, cancels, mutation, type Kind, type MutationCtx, type Work } from "./builders.js";
import { entries } from "./entries.js";

/** How many one mutation cancels. */
const CANCELED_AT_ONCE = 500;

async function enqueue(ctx: MutationCtx, kind: Kind, work: Work): Promise<void> {
  const task = await ctx.db.insert("tasks", { status: "pending" });
  const run =
    kind === "act"
      ? await ctx.scheduler.runAfter(0, app.tasks.act, { ...work, task })
      : await ctx.scheduler.runAfter(0, app.tasks.book, { ...work, task });
  if (cancels) await ctx.db.patch("tasks", task, { run, n: work.n });
}

export const { act, book, actAll, bookAll } = entries({
  one: enqueue,
  all: async (ctx, kind, works) => {
    for (const work of works) await enqueue(ctx, kind, work);
  },
});

/** As many as one mutation can: a caller that wants all canceled repeats it until it is done. */
export const cancelAll = mutation({
  handler: async (ctx) => {
    const tasks = await ctx.db
      .query("tasks")
      .withIndex("status", (range) => range.eq("status", "pending"))
      .take(CANCELED_AT_ONCE);
    for (const { _id, run } of tasks) {
      await ctx.scheduler.cancel(run as GenericId<"_scheduled_functions">);
      await ctx.db.patch("tasks", _id, { status: "canceled" });
    }
    console.log(tasks.map(({ n }) => `recorded ${n}`).join(", "));
    return { isDone: tasks.length < CANCELED_AT_ONCE };
  },
});
