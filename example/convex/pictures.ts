/** Pictures: made, listed, retried and canceled. A single tile is in `tiles`. */
import { v } from "convex/values";
import { internal } from "./_generated/api.js";
import type { Doc, Id } from "./_generated/dataModel.js";
import {
  internalMutation,
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server.js";
import { tiles as queue } from "./queue/farm.js";
import { checkScene, cutIntoTiles, invalidScene, LIMITS, MAX_TILES, vScene } from "./scene.js";

/** Cuts a picture into tiles. Its row, its tiles' rows and their jobs are one transaction: all of them, or none. */
export const create = mutation({
  args: { title: v.string(), scene: vScene, fragile: v.optional(v.boolean()) },
  handler: async (ctx, { title, scene, fragile = false }): Promise<Id<"pictures">> => {
    checkScene(scene);
    if (title.length < 1 || title.length > LIMITS.titleLength) {
      throw invalidScene(
        `title must have 1 to ${LIMITS.titleLength} characters; got ${title.length}.`,
      );
    }
    const regions = cutIntoTiles(scene);
    const picture = await ctx.db.insert("pictures", {
      ...{ title, scene, tileCount: regions.length },
      ...(fragile ? { fragile } : {}),
    });
    const jobs = await queue.enqueueBatch(
      ctx,
      regions.map((region, index) => ({
        picture,
        index,
        scene,
        region,
        fragile: fragile && index % FRAGILE_EVERY === FRAGILE_FIRST,
      })),
    );
    for (const [index, region] of regions.entries()) {
      await ctx.db.insert("tiles", {
        picture,
        index,
        region,
        job: jobs[index]!,
        status: "unfinished",
      });
    }
    return picture;
  },
});

/** In a fragile picture about one tile in nine fails: enough to see, scattered enough to seem random. */
const FRAGILE_EVERY = 9;
const FRAGILE_FIRST = 4;

/** The newest pictures, for the gallery. No tile is read here, so a tile that arrives does not run this again. */
export const list = query({
  args: {},
  handler: async (ctx) => await ctx.db.query("pictures").order("desc").take(GALLERY_LENGTH),
});

const GALLERY_LENGTH = 12;

/** Takes any text, since it comes from the page's address; null where that names no picture. */
export const get = query({
  args: { picture: v.string() },
  handler: async (ctx, { picture }) => {
    const id = ctx.db.normalizeId("pictures", picture);
    return id === null ? null : await ctx.db.get("pictures", id);
  },
});

/** Cancels the tiles that are not drawn yet. The handler of one that is being drawn is told to stop. */
export const cancel = mutation({
  args: { picture: v.id("pictures") },
  handler: async (ctx, { picture }) => await startChange(ctx, picture, "cancel"),
});

/** Puts every tile that failed, timed out or was canceled back into the queue. */
export const retry = mutation({
  args: { picture: v.id("pictures") },
  handler: async (ctx, { picture }) => await startChange(ctx, picture, "retry"),
});

/** The `cancel` or `retry` under way, and how far it is; `null` if nothing is. */
export const change = query({
  args: { picture: v.id("pictures") },
  handler: async (ctx, { picture }) => {
    const row = await changeOf(ctx, picture);
    if (row === null) return null;
    const { kind, total, left } = row;
    return { kind, total, left };
  },
});

async function changeOf(ctx: QueryCtx, picture: Id<"pictures">): Promise<Doc<"changes"> | null> {
  return await ctx.db
    .query("changes")
    .withIndex("picture", (q) => q.eq("picture", picture))
    .unique();
}

/**
 * A mutation that a person waits for only schedules. Workers are claiming the jobs of an unfinished picture at this
 * very moment; a mutation that touches many of them would conflict with their claims, and one that a client has
 * called is given up after a few attempts. A scheduled one is repeated until it goes through.
 *
 * A change that is still under way ends here: its next step finds its row gone.
 */
async function startChange(
  ctx: MutationCtx,
  picture: Id<"pictures">,
  kind: Doc<"changes">["kind"],
): Promise<null> {
  const older = await changeOf(ctx, picture);
  if (older !== null) await ctx.db.delete("changes", older._id);
  const id = await ctx.db.insert("changes", { picture, kind, before: MAX_TILES });
  await ctx.scheduler.runAfter(0, internal.pictures.changeSome, { change: id });
  return null;
}

/**
 * Few, so that a step rarely conflicts with a claim and a repeated one repeats little. Each costs a call into the
 * component.
 */
const TILES_A_STEP = 4;

/** One step of a change, from the last tile to the first: workers come from the other end. Schedules the next step. */
export const changeSome = internalMutation({
  args: { change: v.id("changes") },
  handler: async (ctx, args): Promise<null> => {
    const change = await ctx.db.get("changes", args.change);
    if (change === null) return null;
    const { picture, kind, before } = change;
    const tiles = await ctx.db
      .query("tiles")
      .withIndex("picture", (q) => q.eq("picture", picture).lt("index", before))
      .order("desc")
      .take(MAX_TILES);
    const affected = tiles.filter(({ status }) => concerns(kind, status));
    const now = affected.slice(0, TILES_A_STEP);
    for (const tile of now) {
      await (kind === "cancel" ? queue.cancel(ctx, tile.job) : retryTile(ctx, tile));
    }
    const left = affected.length - now.length;
    if (left === 0) {
      await ctx.db.delete("changes", change._id);
    } else {
      const total = change.total ?? affected.length;
      await ctx.db.patch("changes", change._id, { before: now.at(-1)!.index, total, left });
      await ctx.scheduler.runAfter(0, internal.pictures.changeSome, args);
    }
    return null;
  },
});

function concerns(kind: Doc<"changes">["kind"], status: Doc<"tiles">["status"]): boolean {
  if (kind === "cancel") return status === "unfinished";
  return status !== "unfinished" && status !== "succeeded";
}

async function retryTile(ctx: MutationCtx, tile: Doc<"tiles">): Promise<void> {
  const { retried } = await queue.retry(ctx, tile.job);
  if (!retried) return;
  await ctx.db.patch("tiles", tile._id, { status: "unfinished", error: undefined });
}
