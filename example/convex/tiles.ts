/** Tiles: read by the page, finished by the queue. */
import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel.js";
import { internalMutation, query, type QueryCtx } from "./_generated/server.js";
import { tiles as queue } from "./queue/farm.js";
import { MAX_TILES } from "./scene.js";
import { summarizeIfDrawn } from "./summaries.js";

/** The tiles of one picture, without their pixels. Reruns at each tile that arrives, so it reads only small rows. */
export const ofPicture = query({
  args: { picture: v.id("pictures") },
  handler: async (ctx, { picture }) => {
    const rows = await ctx.db
      .query("tiles")
      .withIndex("picture", (q) => q.eq("picture", picture))
      .take(MAX_TILES);
    return rows.map(({ picture: _picture, _creationTime, ...tile }) => tile);
  },
});

/** The pixels of one tile, or null while there are none. */
export const pixels = query({
  args: { tile: v.id("tiles") },
  handler: async (ctx, { tile }) => (await pixelsOf(ctx, tile))?.rgb ?? null,
});

async function pixelsOf({ db }: QueryCtx, tile: Id<"tiles">): Promise<Doc<"pixels"> | null> {
  return await db
    .query("pixels")
    .withIndex("tile", (q) => q.eq("tile", tile))
    .unique();
}

/**
 * Runs inside the transaction that finishes a tile's job: the job is finished and the tile is in the app's table, or
 * neither is. It writes this tile's own rows only, so tiles that finish at the same time do not conflict; but for the
 * last ones, each of which checks whether it is the last.
 */
export const finished = internalMutation({
  args: queue.onCompleteArgs,
  handler: async (ctx, { payload, outcome, attempt, worker }) => {
    const tile = await ctx.db
      .query("tiles")
      .withIndex("picture", (q) => q.eq("picture", payload.picture).eq("index", payload.index))
      .unique();
    if (tile === null) return null;
    if (outcome.status === "succeeded") {
      const { rgb, preview, computeMs } = outcome.result;
      // A finished job can be retried, as on the dashboard: then its tile is drawn once more.
      const drawn = await pixelsOf(ctx, tile._id);
      if (drawn === null) await ctx.db.insert("pixels", { tile: tile._id, rgb });
      else await ctx.db.patch("pixels", drawn._id, { rgb });
      await ctx.db.patch("tiles", tile._id, {
        status: "succeeded",
        worker,
        attempt,
        computeMs,
        preview,
      });
      await summarizeIfDrawn(ctx, payload.picture);
    } else {
      await ctx.db.patch("tiles", tile._id, {
        status: outcome.status,
        error: outcome.error,
        worker,
        attempt,
      });
    }
    return null;
  },
});
