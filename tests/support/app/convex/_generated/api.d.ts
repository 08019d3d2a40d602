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
import type * as chaos from "../chaos.js";
import type * as crates from "../crates.js";
import type * as done from "../done.js";
import type * as harmful from "../harmful.js";
import type * as harmfulNode from "../harmfulNode.js";
import type * as hot from "../hot.js";
import type * as naive from "../naive.js";
import type * as odd from "../odd.js";
import type * as oddNode from "../oddNode.js";
import type * as parcels from "../parcels.js";
import type * as pushed from "../pushed.js";
import type * as queues from "../queues.js";
import type * as races from "../races.js";
import type * as secrets from "../secrets.js";
import type * as sums from "../sums.js";
import type * as tokens from "../tokens.js";
import type * as traced from "../traced.js";
import type * as work from "../work.js";

import type {
  ApiFromModules,
  FilterApi,
  FunctionReference,
} from "convex/server";

declare const fullApi: ApiFromModules<{
  batches: typeof batches;
  chaos: typeof chaos;
  crates: typeof crates;
  done: typeof done;
  harmful: typeof harmful;
  harmfulNode: typeof harmfulNode;
  hot: typeof hot;
  naive: typeof naive;
  odd: typeof odd;
  oddNode: typeof oddNode;
  parcels: typeof parcels;
  pushed: typeof pushed;
  queues: typeof queues;
  races: typeof races;
  secrets: typeof secrets;
  sums: typeof sums;
  tokens: typeof tokens;
  traced: typeof traced;
  work: typeof work;
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
