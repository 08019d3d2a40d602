/** Summaries: asked for when a picture's last tile arrives, written by an action that Convex runs, read by the page. */
import { v } from "convex/values";
import { internal } from "./_generated/api.js";
import type { Doc, Id } from "./_generated/dataModel.js";
import {
  internalQuery,
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server.js";
import { summaries as queue } from "./queue/summaries.js";
import { MAX_TILES } from "./scene.js";
import { summarize, type DrawnTile } from "./summary.js";

/**
 * Enqueues the picture's summary if this was its last tile. Called in the transaction that finishes a tile, so it reads
 * as little as it can: the last tile that is not drawn, which stays undrawn until the end, since workers come from the
 * other side. A commit that finishes that very tile meanwhile makes this one retry, and one of the two sees that
 * nothing is left: the summary is asked for exactly once.
 */
export async function summarizeIfDrawn(ctx: MutationCtx, picture: Id<"pictures">): Promise<void> {
  for (const status of ["unfinished", "failed", "timedOut", "canceled"] as const) {
    const missing = await ctx.db
      .query("tiles")
      .withIndex("status", (q) => q.eq("picture", picture).eq("status", status))
      .order("desc")
      .first();
    if (missing !== null) return;
  }
  // One of its tiles was drawn once more.
  if ((await rowOf(ctx, picture)) !== null) return;
  const row = await ctx.db.get("pictures", picture);
  const job = await queue.enqueue(ctx, { picture, fragile: row?.fragile ?? false });
  await ctx.db.insert("summaries", { picture, job, status: "unfinished" });
}

/** The handler. `attempt` counts from 1, failed attempts included. */
export const write = queue.action(async (ctx, { payload: { picture, fragile }, attempt }) => {
  if (fragile && attempt === 1) {
    throw new Error("This summary was asked to fail once. It is tried again by itself.");
  }
  return summarize(await ctx.runQuery(internal.summaries.material, { picture }));
});

/** The facts of each tile, without its pixels: 256 previews are 48 KiB. */
export const material = internalQuery({
  args: { picture: v.id("pictures") },
  handler: async (ctx, { picture }): Promise<DrawnTile[]> => {
    const rows = await ctx.db
      .query("tiles")
      .withIndex("picture", (q) => q.eq("picture", picture))
      .take(MAX_TILES);
    return rows.map(({ index, worker = "", computeMs = 0, preview = new ArrayBuffer(0) }) => ({
      ...{ index, worker, computeMs, preview },
    }));
  },
});

/** Runs inside the transaction that finishes the summary's job, as `tiles.finished` does for a tile's. */
export const finished = queue.completed(async (ctx, { payload, outcome, attempt }) => {
  const row = await rowOf(ctx, payload.picture);
  if (row === null) return;
  const ended =
    outcome.status === "succeeded" ? { summary: outcome.result } : { error: outcome.error };
  await ctx.db.patch("summaries", row._id, { status: outcome.status, attempt, ...ended });
});

/** `null` while the picture has tiles that are not drawn. */
export const ofPicture = query({
  args: { picture: v.id("pictures") },
  handler: async (ctx, { picture }) => await rowOf(ctx, picture),
});

/** Once more, after the last attempt has failed. */
export const again = mutation({
  args: { picture: v.id("pictures") },
  handler: async (ctx, { picture }): Promise<null> => {
    const row = await rowOf(ctx, picture);
    if (row === null) return null;
    const { retried } = await queue.retry(ctx, row.job);
    if (retried) {
      const waiting = { status: "unfinished", error: undefined, summary: undefined } as const;
      await ctx.db.patch("summaries", row._id, waiting);
    }
    return null;
  },
});

async function rowOf(ctx: QueryCtx, picture: Id<"pictures">): Promise<Doc<"summaries"> | null> {
  return await ctx.db
    .query("summaries")
    .withIndex("picture", (q) => q.eq("picture", picture))
    .unique();
}
