/**
 * The component's functions for queues over the app's own tables: see `claim/tableRows.ts`. Only registration stands here, as in
 * `lib.ts`; claims and completions of rows go by the functions there.
 */
import { v } from "convex/values";
import { mutation, query } from "./_generated/server.js";
import * as tableRowsStep from "./claim/tableRows.js";

const vLoop = v.object({ turn: v.number(), cursor: v.optional(v.any()) });

/** Whether a worker may take rows as jobs of this queue now, and whether any are announced. */
export const wanted = query({
  args: { token: v.string(), queue: v.string(), groups: v.optional(v.array(v.string())) },
  returns: v.union(v.object({ announced: v.boolean() }), v.null()),
  handler: (ctx, args) => tableRowsStep.rowsWanted(ctx, args),
});

/** Announces that the table has rows for this queue, until a claim finds none. */
export const announce = mutation({
  args: { queue: v.string() },
  returns: v.null(),
  handler: (ctx, { queue }) => tableRowsStep.announce(ctx, queue),
});

/** How far a loop over batches of rows has come: its batches so far, and the cursor that the last one returned. */
export const loop = query({
  args: { queue: v.string() },
  returns: vLoop,
  handler: (ctx, { queue }) => tableRowsStep.loopOf(ctx.db, queue),
});

/** The end of a batch: one more, and its cursor. */
export const advance = mutation({
  args: { queue: v.string(), ...vLoop.fields },
  returns: v.null(),
  handler: (ctx, { queue, ...to }) => tableRowsStep.advance(ctx, queue, to),
});
