/* eslint-disable */
/**
 * Generated `ComponentApi` utility.
 *
 * THIS CODE IS AUTOMATICALLY GENERATED.
 *
 * To regenerate, run `npx convex dev`.
 * @module
 */

import type { FunctionReference } from "convex/server";

/**
 * A utility for referencing a Convex component's exposed API.
 *
 * Useful when expecting a parameter like `components.myComponent`.
 * Usage:
 * ```ts
 * async function myFunction(ctx: QueryCtx, component: ComponentApi) {
 *   return ctx.runQuery(component.someFile.someQuery, { ...args });
 * }
 * ```
 */
export type ComponentApi<Name extends string | undefined = string | undefined> =
  {
    lib: {
      cancelAll: FunctionReference<"mutation", "internal", {}, null, Name>;
      log: FunctionReference<"query", "internal", {}, Array<string>, Name>;
      runFor: FunctionReference<
        "mutation",
        "internal",
        { handle: string; args: any },
        string,
        Name
      >;
      send: FunctionReference<
        "mutation",
        "internal",
        { to: string; parcel: boolean },
        string,
        Name
      >;
      state: FunctionReference<
        "query",
        "internal",
        { id: string },
        Array<string>,
        Name
      >;
    };
  };
