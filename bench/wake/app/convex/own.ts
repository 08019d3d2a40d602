/**
 * What a caller's own mutation does before it enqueues: reads that take time and meet nobody. Each passes many dead
 * index entries, which the cost model charges by round trips, so that few reads take long.
 */
import { v } from "convex/values";
import { mutation, type MutationCtx } from "./builders.js";

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
