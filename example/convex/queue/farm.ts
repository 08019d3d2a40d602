/**
 * The queue of this app. The payload and result of a tile's job are declared here once; the worker's handler and the
 * page take their types from it.
 */
import { Conveyor } from "convex-conveyor";
import { v } from "convex/values";
import { components, internal } from "../_generated/api.js";
import type { DataModel } from "../_generated/dataModel.js";
import { query } from "../_generated/server.js";
import { vRegion, vScene } from "../scene.js";

export const conveyor = new Conveyor<DataModel>(components.conveyor);

export const tiles = conveyor.queue("tiles", {
  payload: {
    picture: v.id("pictures"),
    index: v.number(),
    scene: vScene,
    region: vRegion,
    /** Fails on its first attempt, to show a failure. */
    fragile: v.boolean(),
  },
  result: v.object({
    /** Three bytes a pixel, row by row. */
    rgb: v.bytes(),
    /** The same at 8 × 8. */
    preview: v.bytes(),
    /** Time spent in arithmetic, without waiting. */
    computeMs: v.number(),
  }),
  // A tile takes well under a second. Five make a killed worker's tiles come back within a visitor's patience.
  leaseMs: 5_000,
  onComplete: () => internal.tiles.finished,
});

/** How many wait and run at this moment: `stats` counts a busy queue every few seconds, and this page shows each tile. */
export const counts = query({ args: {}, handler: async (ctx) => await tiles.counts(ctx) });

/** The workers, with their last calls and the jobs that they hold. */
export const workers = query({
  args: {},
  handler: async (ctx) => await conveyor.workers(ctx),
});
