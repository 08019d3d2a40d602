/* eslint-disable */
/**
 * Generated `api` utility.
 *
 * THIS CODE IS AUTOMATICALLY GENERATED.
 *
 * To regenerate, run `npx convex dev`.
 * @module
 */

import type * as calls from "../calls.js";
import type * as crons from "../crons.js";
import type * as files from "../files.js";
import type * as http from "../http.js";
import type * as jobs from "../jobs.js";
import type * as limits from "../limits.js";
import type * as rows from "../rows.js";
import type * as runtime from "../runtime.js";
import type * as stamps from "../stamps.js";
import type * as users from "../users.js";
import type * as values from "../values.js";

import type {
  ApiFromModules,
  FilterApi,
  FunctionReference,
} from "convex/server";

declare const fullApi: ApiFromModules<{
  calls: typeof calls;
  crons: typeof crons;
  files: typeof files;
  http: typeof http;
  jobs: typeof jobs;
  limits: typeof limits;
  rows: typeof rows;
  runtime: typeof runtime;
  stamps: typeof stamps;
  users: typeof users;
  values: typeof values;
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
  child: import("../../child/_generated/component.js").ComponentApi<"child">;
  second: import("../../child/_generated/component.js").ComponentApi<"second">;
};
