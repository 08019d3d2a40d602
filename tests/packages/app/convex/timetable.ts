/** Crons that are registered at run time. */
import { Crons } from "@convex-dev/crons";
import { v } from "convex/values";
import { components, internal } from "./_generated/api.js";
import { internalMutation, mutation, query } from "./_generated/server.js";
import { write } from "./lines.js";

const crons = new Crons(components.crons);

export const register = mutation({
  args: {
    name: v.string(),
    schedule: v.union(
      v.object({ kind: v.literal("interval"), ms: v.number() }),
      v.object({ kind: v.literal("cron"), cronspec: v.string() }),
    ),
  },
  handler: (ctx, { name, schedule }): Promise<string> =>
    crons.register(ctx, schedule, internal.timetable.tick, { name }, name),
});

export const tick = internalMutation({
  args: { name: v.string() },
  handler: (ctx, { name }) => write(ctx, name, "tick"),
});

export const names = query({
  args: {},
  handler: async (ctx): Promise<(string | undefined)[]> =>
    (await crons.list(ctx)).map((cron) => cron.name),
});

export const remove = mutation({
  args: { name: v.string() },
  handler: (ctx, { name }) => crons.delete(ctx, { name }),
});
