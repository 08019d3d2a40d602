/**
 * What a caller's own mutation does before it enqueues: reads that take time and meet nobody. Each passes dead index
 * entries, which the cost model charges by round trips, so that few reads take long.
 */
import { v } from "convex/values";
import { internalMutation, mutation, type MutationCtx } from "./builders.js";

export async function ownWork({ db }: MutationCtx, reads: number): Promise<void> {
  for (let i = 0; i < reads; i++) await db.query("pages").first();
}

/** The work without an enqueue: how long it takes. */
export const alone = mutation({
  args: { reads: v.number() },
  handler: async (ctx, { reads }) => {
    await ownWork(ctx, reads);
    return null;
  },
});

/** As many rows as are to be dead: written in one commit, deleted in the next. */
export const writePages = internalMutation({
  args: { pages: v.number() },
  handler: async ({ db }, { pages }) => {
    for (let i = 0; i < pages; i++) await db.insert("pages", {});
    return null;
  },
});

export const deletePages = internalMutation({
  args: {},
  handler: async ({ db }) => {
    for (const { _id } of await db.query("pages").collect()) await db.delete("pages", _id);
    return null;
  },
});
