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
      act: FunctionReference<
        "action",
        "internal",
        { group: string; n: number },
        Array<number>,
        Name
      >;
      add: FunctionReference<
        "mutation",
        "internal",
        { group: string; n: number },
        string,
        Name
      >;
      addAndFail: FunctionReference<
        "mutation",
        "internal",
        { group: string; n: number },
        null,
        Name
      >;
      callHandle: FunctionReference<
        "mutation",
        "internal",
        { handle: string; args: any },
        any,
        Name
      >;
      cancelLater: FunctionReference<
        "mutation",
        "internal",
        { id: string },
        null,
        Name
      >;
      env: FunctionReference<
        "query",
        "internal",
        {},
        Record<string, string>,
        Name
      >;
      get: FunctionReference<
        "query",
        "internal",
        { id: string },
        number | null,
        Name
      >;
      handle: FunctionReference<"mutation", "internal", {}, string, Name>;
      inner: FunctionReference<"query", "internal", {}, string, Name>;
      later: FunctionReference<
        "mutation",
        "internal",
        { group: string; n: number; ms: number },
        string,
        Name
      >;
      laterState: FunctionReference<
        "query",
        "internal",
        { id: string },
        string | null,
        Name
      >;
      list: FunctionReference<
        "query",
        "internal",
        { group: string },
        Array<number>,
        Name
      >;
      logs: FunctionReference<"mutation", "internal", {}, null, Name>;
      now: FunctionReference<"mutation", "internal", {}, number, Name>;
      page: FunctionReference<
        "query",
        "internal",
        { group: string },
        any,
        Name
      >;
      path: FunctionReference<"query", "internal", {}, any, Name>;
      random: FunctionReference<"query", "internal", {}, number, Name>;
      scheduleHandle: FunctionReference<
        "mutation",
        "internal",
        { handle: string; args: any },
        null,
        Name
      >;
      who: FunctionReference<"query", "internal", {}, string | null, Name>;
    };
  };
