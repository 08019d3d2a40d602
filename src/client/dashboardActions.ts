/** What pages do to queues and jobs. Each asks the resolver's `mayAct` with all that it is about to do. */
import { mutationGeneric } from "convex/server";
import { v } from "convex/values";
import { vJobFilter } from "../shared/index.js";
import type { ComponentApi } from "./componentApi.js";
import { checkMayAct, type GivenResolver } from "./dashboardLeave.js";
import { callComponent } from "./mounted.js";

const named = { queue: v.string() };
const one = { ...named, id: v.string() };
const many = { ...named, filter: vJobFilter };

export function actionFunctions(component: ComponentApi, resolver: GivenResolver) {
  return {
    ...queueActions(component, resolver),
    ...jobActions(component, resolver),
    ...bulkActions(component, resolver),
  };
}

function queueActions({ operate }: ComponentApi, resolver: GivenResolver) {
  const action = (
    kind: "pause" | "resume" | "drain",
    change: ComponentApi["operate"]["pauseQueue" | "resumeQueue" | "drainQueue"],
  ) =>
    mutationGeneric({
      args: named,
      handler: async (ctx, { queue }) => {
        await checkMayAct(resolver, ctx, { kind, queue });
        return await callComponent(() => ctx.runMutation(change, { queue }));
      },
    });
  return {
    pause: action("pause", operate.pauseQueue),
    resume: action("resume", operate.resumeQueue),
    drain: action("drain", operate.drainQueue),
  };
}

function jobActions({ lib, operate }: ComponentApi, resolver: GivenResolver) {
  return {
    cancel: mutationGeneric({
      args: { ...one, reason: v.optional(v.string()) },
      handler: async (ctx, args) => {
        const { queue, id } = args;
        await checkMayAct(resolver, ctx, { kind: "cancel", queue, id });
        return await callComponent(() => ctx.runMutation(lib.cancel, args));
      },
    }),

    retry: mutationGeneric({
      args: one,
      handler: async (ctx, args) => {
        await checkMayAct(resolver, ctx, { kind: "retry", ...args });
        return await callComponent(() => ctx.runMutation(lib.retry, args));
      },
    }),

    remove: mutationGeneric({
      args: one,
      handler: async (ctx, args) => {
        await checkMayAct(resolver, ctx, { kind: "delete", ...args });
        const { deleted } = await callComponent(() => ctx.runMutation(operate.deleteJob, args));
        return { deleted };
      },
    }),
  };
}

function bulkActions({ operate }: ComponentApi, resolver: GivenResolver) {
  const bulk = (
    kind: "cancelMany" | "redrive" | "deleteMany",
    action: "cancel" | "retry" | "delete",
  ) =>
    mutationGeneric({
      args: many,
      handler: async (ctx, args) => {
        await checkMayAct(resolver, ctx, { kind, ...args });
        return await callComponent(() => ctx.runMutation(operate.changeMany, { ...args, action }));
      },
    });
  return {
    cancelMany: bulk("cancelMany", "cancel"),
    redrive: bulk("redrive", "retry"),
    removeMany: bulk("deleteMany", "delete"),
  };
}
