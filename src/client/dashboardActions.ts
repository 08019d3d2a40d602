/** What pages do to queues and jobs. Each asks `authorize` with all that it is about to do. */
import { mutationGeneric } from "convex/server";
import { v } from "convex/values";
import { vJobFilter } from "../shared/index.js";
import type { ComponentApi } from "./componentApi.js";
import { checkAllowed, type GivenOptions } from "./dashboardLeave.js";
import { callComponent } from "./mounted.js";

const named = { queue: v.string() };
const one = { ...named, id: v.string() };
const many = { ...named, filter: vJobFilter };

export function actionFunctions(component: ComponentApi, options: GivenOptions) {
  return {
    ...queueActions(component, options),
    ...jobActions(component, options),
    ...bulkActions(component, options),
  };
}

function queueActions({ operate }: ComponentApi, options: GivenOptions) {
  const action = (
    kind: "pause" | "resume" | "drain",
    change: ComponentApi["operate"]["pauseQueue" | "resumeQueue" | "drainQueue"],
  ) =>
    mutationGeneric({
      args: named,
      handler: async (ctx, { queue }) => {
        await checkAllowed(options, ctx, { kind, changes: true, queue });
        return await callComponent(() => ctx.runMutation(change, { queue }));
      },
    });
  return {
    pause: action("pause", operate.pauseQueue),
    resume: action("resume", operate.resumeQueue),
    drain: action("drain", operate.drainQueue),
  };
}

function jobActions({ operate }: ComponentApi, options: GivenOptions) {
  return {
    cancel: mutationGeneric({
      args: { ...one, reason: v.optional(v.string()) },
      handler: async (ctx, args) => {
        const { queue, id } = args;
        await checkAllowed(options, ctx, { kind: "cancel", changes: true, queue, id });
        return await callComponent(() => ctx.runMutation(operate.cancelJob, args));
      },
    }),

    retry: mutationGeneric({
      args: one,
      handler: async (ctx, args) => {
        await checkAllowed(options, ctx, { kind: "retry", changes: true, ...args });
        return await callComponent(() => ctx.runMutation(operate.retryJob, args));
      },
    }),

    remove: mutationGeneric({
      args: one,
      handler: async (ctx, args) => {
        await checkAllowed(options, ctx, { kind: "delete", changes: true, ...args });
        const { deleted } = await callComponent(() => ctx.runMutation(operate.deleteJob, args));
        return { deleted };
      },
    }),
  };
}

function bulkActions({ operate }: ComponentApi, options: GivenOptions) {
  const bulk = (kind: "cancelMany" | "retryMany" | "deleteMany") =>
    mutationGeneric({
      args: many,
      handler: async (ctx, args) => {
        await checkAllowed(options, ctx, { kind, changes: true, ...args });
        return await callComponent(() => ctx.runMutation(operate[kind], args));
      },
    });
  return {
    cancelMany: bulk("cancelMany"),
    retryMany: bulk("retryMany"),
    deleteMany: bulk("deleteMany"),
  };
}
