/** Changes that pages make to queues and jobs. */
import type { DashboardWrite, JobFilter } from "../shared/index.js";
import type { ComponentApi } from "./componentApi.js";
import type { Writer } from "./dashboardTypes.js";
import { callComponent } from "./mounted.js";
import type { RunsMutations } from "./types.js";

/** One for each kind of change. */
export function writersOf({ operate }: ComponentApi): {
  [Kind in DashboardWrite["kind"]]: Writer<Kind>;
} {
  const changes =
    (change: (typeof operate)["pauseQueue" | "resumeQueue" | "drainQueue"]) =>
    async (ctx: RunsMutations, { queue }: { queue: string }) =>
      await callComponent(() => ctx.runMutation(change, { queue }));
  const changesMany =
    (change: (typeof operate)["cancelMany" | "retryMany" | "deleteMany"]) =>
    async (ctx: RunsMutations, { queue, filter }: { queue: string; filter: JobFilter }) =>
      await callComponent(() => ctx.runMutation(change, { queue, filter }));
  return {
    pause: changes(operate.pauseQueue),
    resume: changes(operate.resumeQueue),
    drain: changes(operate.drainQueue),
    cancel: async (ctx, { kind: _, ...args }) =>
      await callComponent(() => ctx.runMutation(operate.cancelJob, args)),
    retry: async (ctx, { queue, id }) =>
      await callComponent(() => ctx.runMutation(operate.retryJob, { queue, id })),
    delete: async (ctx, { queue, id }) => {
      const of = { queue, id };
      const { deleted } = await callComponent(() => ctx.runMutation(operate.deleteJob, of));
      return { deleted };
    },
    cancelMany: changesMany(operate.cancelMany),
    retryMany: changesMany(operate.retryMany),
    deleteMany: changesMany(operate.deleteMany),
    quietWorker: async (ctx, { id }) =>
      await callComponent(() => ctx.runMutation(operate.quietWorker, { id })),
    resumeWorker: async (ctx, { id }) =>
      await callComponent(() => ctx.runMutation(operate.resumeWorker, { id })),
  };
}
