/**
 * Internal functions that manage worker tokens. Internal, since a caller that can make a token can be a worker: they
 * are for `npx convex run`, the dashboard, and the app's own administration.
 */
import { internalMutationGeneric, internalQueryGeneric } from "convex/server";
import { CHANGE_ARGS, LOOK_ARGS } from "../shared/index.js";
import type { ComponentApi } from "./componentApi.js";
import { callComponent } from "./mounted.js";
import type { TokenFunctions } from "./types.js";

/** Builds the functions of {@link Conveyor.tokenApi}. */
export function tokenFunctions(component: ComponentApi): TokenFunctions {
  return {
    create: internalMutationGeneric({
      args: CHANGE_ARGS.createToken,
      handler: async (ctx, args) =>
        await callComponent(() => ctx.runMutation(component.operate.createToken, args)),
    }),

    rotate: internalMutationGeneric({
      args: CHANGE_ARGS.rotateToken,
      handler: async (ctx, args) =>
        await callComponent(() => ctx.runMutation(component.operate.rotateToken, args)),
    }),

    revoke: internalMutationGeneric({
      args: CHANGE_ARGS.revokeToken,
      handler: async (ctx, args) =>
        await callComponent(() => ctx.runMutation(component.operate.revokeToken, args)),
    }),

    list: internalQueryGeneric({
      args: LOOK_ARGS.listTokens,
      handler: async (ctx, args) =>
        await callComponent(() => ctx.runQuery(component.operate.listTokens, args)),
    }),
  };
}
