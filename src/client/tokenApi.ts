/**
 * Internal functions that manage worker tokens. Internal, since whoever can make a token can be a worker: they are for
 * `npx convex run`, the dashboard, and the app's own administration.
 */
import { internalMutationGeneric, internalQueryGeneric } from "convex/server";
import { v } from "convex/values";
import type { ComponentApi } from "./componentApi.js";
import { callComponent } from "./mounted.js";
import type { TokenFunctions } from "./types.js";

/** Builds what {@link Conveyor.tokenApi} returns. */
export function tokenFunctions(component: ComponentApi): TokenFunctions {
  return {
    create: internalMutationGeneric({
      args: {
        name: v.string(),
        queues: v.optional(v.union(v.array(v.string()), v.null())),
        groups: v.optional(v.union(v.array(v.string()), v.null())),
      },
      handler: async (ctx, { name, queues = null, groups = null }) =>
        await callComponent(() =>
          ctx.runMutation(component.lib.createToken, { name, queues, groups }),
        ),
    }),

    rotate: internalMutationGeneric({
      args: { id: v.string(), graceMs: v.optional(v.number()) },
      handler: async (ctx, args) =>
        await callComponent(() => ctx.runMutation(component.operate.rotateToken, args)),
    }),

    revoke: internalMutationGeneric({
      args: { id: v.string() },
      handler: async (ctx, args) =>
        await callComponent(() => ctx.runMutation(component.lib.revokeToken, args)),
    }),

    list: internalQueryGeneric({
      args: { after: v.optional(v.string()) },
      handler: async (ctx, args) =>
        await callComponent(() => ctx.runQuery(component.lib.listTokens, args)),
    }),
  };
}
