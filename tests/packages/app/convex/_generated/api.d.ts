/* eslint-disable */
/**
 * Generated `api` utility.
 *
 * THIS CODE IS AUTOMATICALLY GENERATED.
 *
 * To regenerate, run `npx convex dev`.
 * @module
 */

import type * as batches from "../batches.js";
import type * as flows from "../flows.js";
import type * as lines from "../lines.js";
import type * as ours from "../ours.js";
import type * as pool from "../pool.js";
import type * as rates from "../rates.js";
import type * as retries from "../retries.js";
import type * as scores from "../scores.js";
import type * as theirs from "../theirs.js";
import type * as timetable from "../timetable.js";
import type * as together from "../together.js";

import type {
  ApiFromModules,
  FilterApi,
  FunctionReference,
} from "convex/server";

declare const fullApi: ApiFromModules<{
  batches: typeof batches;
  flows: typeof flows;
  lines: typeof lines;
  ours: typeof ours;
  pool: typeof pool;
  rates: typeof rates;
  retries: typeof retries;
  scores: typeof scores;
  theirs: typeof theirs;
  timetable: typeof timetable;
  together: typeof together;
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
  actionRetrier: import("@convex-dev/action-retrier/_generated/component.js").ComponentApi<"actionRetrier">;
  aggregate: import("@convex-dev/aggregate/_generated/component.js").ComponentApi<"aggregate">;
  aggregateByGame: import("@convex-dev/aggregate/_generated/component.js").ComponentApi<"aggregateByGame">;
  batchWorker: import("@convex-dev/batch-worker/_generated/component.js").ComponentApi<"batchWorker">;
  crons: import("@convex-dev/crons/_generated/component.js").ComponentApi<"crons">;
  rateLimiter: import("@convex-dev/rate-limiter/_generated/component.js").ComponentApi<"rateLimiter">;
  workflow: import("@convex-dev/workflow/_generated/component.js").ComponentApi<"workflow">;
  narrowPool: import("@convex-dev/workpool/_generated/component.js").ComponentApi<"narrowPool">;
  theirs: import("@convex-dev/workpool/_generated/component.js").ComponentApi<"theirs">;
  theirsTuned: import("@convex-dev/workpool/_generated/component.js").ComponentApi<"theirsTuned">;
  ours: import("convex-conveyor/_generated/component.js").ComponentApi<"ours">;
  oursTuned: import("convex-conveyor/_generated/component.js").ComponentApi<"oursTuned">;
  mailer: import("../../mailer/_generated/component.js").ComponentApi<"mailer">;
};
