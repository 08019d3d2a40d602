/* eslint-disable */
/**
 * Generated `api` utility.
 *
 * THIS CODE IS AUTOMATICALLY GENERATED.
 *
 * To regenerate, run `npx convex dev`.
 * @module
 */

import type * as dashboard from "../dashboard.js";
import type * as jobs from "../jobs.js";
import type * as pictures from "../pictures.js";
import type * as queue_farm from "../queue/farm.js";
import type * as queue_summaries from "../queue/summaries.js";
import type * as scene from "../scene.js";
import type * as summaries from "../summaries.js";
import type * as summary from "../summary.js";
import type * as tiles from "../tiles.js";
import type * as workers from "../workers.js";

import type {
  ApiFromModules,
  FilterApi,
  FunctionReference,
} from "convex/server";

declare const fullApi: ApiFromModules<{
  dashboard: typeof dashboard;
  jobs: typeof jobs;
  pictures: typeof pictures;
  "queue/farm": typeof queue_farm;
  "queue/summaries": typeof queue_summaries;
  scene: typeof scene;
  summaries: typeof summaries;
  summary: typeof summary;
  tiles: typeof tiles;
  workers: typeof workers;
}>;

/**
 * A utility for referencing Convex functions in your app's public API.
 *
 * Usage:
 * ```js
 * const myFunctionReference = api.myModule.myFunction;
 * ```
 */
export declare const api: FilterApi<
  typeof fullApi,
  FunctionReference<any, "public">
>;

/**
 * A utility for referencing Convex functions in your app's internal API.
 *
 * Usage:
 * ```js
 * const myFunctionReference = internal.myModule.myFunction;
 * ```
 */
export declare const internal: FilterApi<
  typeof fullApi,
  FunctionReference<any, "internal">
>;

export declare const components: {
  conveyor: import("convex-conveyor/_generated/component.js").ComponentApi<"conveyor">;
};
