/** The app's own tables. Jobs, leases and workers are the component's: a tile only names its job. */
import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
import { vRegion, vScene } from "./scene.js";
import { vSummary } from "./summary.js";

/**
 * How a tile or a summary stands, as far as the app's own data goes. While it is `unfinished`, its job knows more (waiting, running,
 * how far); the other words are the statuses of a finished job.
 */
export const vEnd = v.union(
  v.literal("unfinished"),
  v.literal("succeeded"),
  v.literal("failed"),
  v.literal("timedOut"),
  v.literal("canceled"),
);

export default defineSchema({
  /**
   * Written once, by `pictures.create`, and never again. There is no count of finished tiles in it on purpose: every
   * tile of a picture would write that one row, and tiles that finish together would conflict. The page counts.
   */
  pictures: defineTable({
    title: v.string(),
    scene: vScene,
    tileCount: v.number(),
    /** Some of its tiles, and its summary, fail once. */
    fragile: v.optional(v.boolean()),
  }),

  /**
   * One row per tile, written with its picture and its job in one mutation, and once more in the transaction that
   * finishes its job. Every page of the picture reads it, at every tile that arrives: so it is small, and the pixels
   * are apart.
   */
  tiles: defineTable({
    picture: v.id("pictures"),
    /** From 0, row by row. */
    index: v.number(),
    region: vRegion,
    job: v.string(),
    status: vEnd,
    worker: v.optional(v.string()),
    attempt: v.optional(v.number()),
    computeMs: v.optional(v.number()),
    error: v.optional(v.string()),
    /** A thumbnail of 8 × 8, three bytes per pixel: the gallery shows it without reading any pixels. */
    preview: v.optional(v.bytes()),
  })
    .index("picture", ["picture", "index"])
    // Whether anything is left, asked with every tile that is finished: by its end, which workers reach last.
    .index("status", ["picture", "status", "index"]),

  /**
   * The summary that Convex made of a picture once all of it was drawn: at most one per picture. Written in the
   * transaction that finishes the last tile, and in the transactions that finish its own job; apart from `pictures`,
   * for the gallery's sake.
   */
  summaries: defineTable({
    picture: v.id("pictures"),
    job: v.string(),
    status: vEnd,
    summary: v.optional(vSummary),
    error: v.optional(v.string()),
    attempt: v.optional(v.number()),
  }).index("picture", ["picture"]),

  /**
   * A cancel or retry that is under way: at most one per picture, the newest. Written by each of its steps, which come
   * one after the other, and deleted by the last; so that every page sees it, and apart from `pictures`, so that the
   * gallery does not run again at each step.
   */
  changes: defineTable({
    picture: v.id("pictures"),
    kind: v.union(v.literal("cancel"), v.literal("retry")),
    /** Tiles from this index on have been seen to. */
    before: v.number(),
    /** How many tiles it found to change; unknown until its first step. */
    total: v.optional(v.number()),
    /** How many of them are left. */
    left: v.optional(v.number()),
  }).index("picture", ["picture"]),

  /**
   * The pixels of a finished tile: three bytes each, row by row. A subscription to one of them runs once, since nothing
   * writes it again unless its job is retried: a picture travels to each page once, not once more with every tile.
   */
  pixels: defineTable({
    tile: v.id("tiles"),
    rgb: v.bytes(),
  }).index("tile", ["tile"]),
});
