/** The same jobs with the scheduler alone, and a row each that says how it ended. Nothing bounds how many run at once. */
import { app, type Kind, type MutationCtx, type Work } from "./builders.js";
import { entries } from "./entries.js";

async function enqueue(ctx: MutationCtx, kind: Kind, work: Work): Promise<void> {
  const task = await ctx.db.insert("tasks", { status: "pending" });
  if (kind === "act") await ctx.scheduler.runAfter(0, app.tasks.act, { ...work, task });
  else await ctx.scheduler.runAfter(0, app.tasks.book, { ...work, task });
}

export const { act, book, actAll, bookAll } = entries({
  one: enqueue,
  all: async (ctx, kind, works) => {
    for (const work of works) await enqueue(ctx, kind, work);
  },
});
