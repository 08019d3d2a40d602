/** Public functions of one queue for pages that show how it goes. Each asks the app's `authorize`, and only then reads. */
import { queryGeneric } from "convex/server";
import { v } from "convex/values";
import { vListFilter, vListOrder, vPageOptions, vPer, type JobId } from "../shared/index.js";
import type { ObservedQueue } from "./observed.js";
import type { ValueValidator } from "./types.js";
import type { Authorize } from "./watchApi.js";

export function observeFunctions<Name extends string, VResult extends ValueValidator>(
  queue: ObservedQueue<Name, VResult>,
  authorize: Authorize<any, Name>,
) {
  return {
    stats: queryGeneric({
      args: {
        per: v.optional(vPer),
        count: v.optional(v.number()),
        until: v.optional(v.number()),
      },
      handler: async (ctx, args) => {
        await authorize(ctx, { kind: "stats" });
        return await queue.stats(ctx, args);
      },
    }),

    gauge: queryGeneric({
      args: {},
      handler: async (ctx) => {
        await authorize(ctx, { kind: "gauge" });
        return await queue.gauge(ctx);
      },
    }),

    health: queryGeneric({
      args: { last: v.optional(v.number()) },
      handler: async (ctx, args) => {
        await authorize(ctx, { kind: "health" });
        return await queue.health(ctx, args);
      },
    }),

    list: queryGeneric({
      args: {
        filter: v.optional(vListFilter),
        order: v.optional(vListOrder),
        paginationOpts: vPageOptions,
      },
      handler: async (ctx, args) => {
        await authorize(ctx, { kind: "list", filter: args.filter ?? {} });
        return await queue.list(ctx, args);
      },
    }),

    byKey: queryGeneric({
      args: { key: v.string() },
      handler: async (ctx, { key }) => {
        await authorize(ctx, { kind: "byKey", key });
        return await queue.byKey(ctx, key);
      },
    }),

    position: queryGeneric({
      args: { id: v.string() },
      handler: async (ctx, args) => {
        const id = args.id as JobId<Name>;
        await authorize(ctx, { kind: "position", id });
        return await queue.position(ctx, id);
      },
    }),

    why: queryGeneric({
      args: { id: v.string() },
      handler: async (ctx, args) => {
        const id = args.id as JobId<Name>;
        await authorize(ctx, { kind: "why", id });
        return await queue.why(ctx, id);
      },
    }),
  };
}
