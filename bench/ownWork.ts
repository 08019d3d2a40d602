/**
 * For the apps of benchmarks: a caller's own work in its mutation before it enqueues: reads that take time and conflict
 * with nothing. Each passes dead index entries of the table `pages`, which the cost model charges by round trips, so
 * that few reads take long.
 */
import {
  defineTable,
  internalMutationGeneric,
  mutationGeneric,
  type GenericDataModel,
  type GenericMutationCtx,
} from "convex/server";
import { v } from "convex/values";

/** The rows that callers' own mutations read. Deleted before they run, and not written while they do. */
export const pages = defineTable({});

export async function ownWork<DataModel extends GenericDataModel>(
  { db }: GenericMutationCtx<DataModel>,
  reads: number,
): Promise<void> {
  for (let i = 0; i < reads; i++) await db.query("pages").first();
}

/** The work without an enqueue: how long it takes. */
export const alone = mutationGeneric({
  args: { reads: v.number() },
  handler: async (ctx, { reads }) => {
    await ownWork(ctx, reads);
    return null;
  },
});

/** As many rows as are to be dead: written in one commit, deleted in the next. */
export const writePages = internalMutationGeneric({
  args: { pages: v.number() },
  handler: async ({ db }, { pages }) => {
    for (let i = 0; i < pages; i++) await db.insert("pages", {});
    return null;
  },
});

export const deletePages = internalMutationGeneric({
  args: {},
  handler: async ({ db }) => {
    for (const { _id } of await db.query("pages").collect()) await db.delete("pages", _id);
    return null;
  },
});
