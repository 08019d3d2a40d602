/** What pages see of jobs: which there are; and of one how it stands, what it carries, its attempts, its log and its output. */
import { queryGeneric } from "convex/server";
import { v } from "convex/values";
import { vListFilter, vListOrder, vPageOptions } from "../shared/index.js";
import type { ComponentApi } from "./componentApi.js";
import { allowedOf, checkAllowed, type GivenOptions } from "./dashboardLeave.js";
import { each, Shown } from "./dashboardShow.js";
import type { DashboardJob } from "./dashboardTypes.js";
import { callComponent } from "./mounted.js";

const one = { queue: v.string(), id: v.string() };

export function jobFunctions(component: ComponentApi, options: GivenOptions) {
  return {
    list: queryGeneric({
      args: {
        queue: v.string(),
        filter: vListFilter,
        order: vListOrder,
        paginationOpts: vPageOptions,
      },
      handler: async (ctx, args) => {
        const { queue } = args;
        await checkAllowed(options, ctx, { kind: "list", changes: false, queue });
        const found = await callComponent(() => ctx.runQuery(component.observe.list, args));
        const page = await each(found.page, (job) =>
          new Shown(options, ctx, { queue, id: job.id }).listed(job),
        );
        return { ...found, page };
      },
    }),

    job: queryGeneric({
      args: one,
      handler: async (ctx, { queue, id }): Promise<DashboardJob | null> => {
        await checkAllowed(options, ctx, { kind: "job", changes: false, queue, id });
        const job = await callComponent(() => ctx.runQuery(component.lib.status, { id, queue }));
        if (job === null) return null;
        const attempts = await ctx.runQuery(component.lib.attempts, { id, queue });
        const carried = await ctx.runQuery(component.observe.payload, { id, queue });
        const shown = new Shown(options, ctx, { queue, id });
        const kinds = ["cancel", "retry", "delete"] as const;
        const changes = kinds.map((kind) => ({ kind, changes: true as const, queue, id }));
        return {
          job: await shown.status(job),
          payload: await shown.value("payload", carried?.payload ?? null),
          attempts: await each(attempts ?? [], (attempt) => shown.attempt(attempt)),
          may: await allowedOf(options, ctx, changes),
        };
      },
    }),

    why: queryGeneric({
      args: one,
      handler: async (ctx, args) => {
        await checkAllowed(options, ctx, { kind: "why", changes: false, ...args });
        // It says in words what the job's errors were, and `show` decides about those.
        const asked = { ...args, withErrors: options?.show === undefined };
        const why = await callComponent(() => ctx.runQuery(component.observe.why, asked));
        if (why === null) return null;
        return { why, position: await ctx.runQuery(component.observe.position, args) };
      },
    }),

    logs: queryGeneric({
      args: { ...one, cursor: v.optional(v.string()), limit: v.optional(v.number()) },
      handler: async (ctx, args) => {
        const { queue, id } = args;
        await checkAllowed(options, ctx, { kind: "logs", changes: false, queue, id });
        const page = await callComponent(() => ctx.runQuery(component.lib.logs, args));
        if (page === null) return null;
        const shown = new Shown(options, ctx, { queue, id });
        return { ...page, entries: await each(page.entries, (entry) => shown.entry(entry)) };
      },
    }),

    output: queryGeneric({
      args: {
        ...one,
        attempt: v.optional(v.number()),
        cursor: v.optional(v.string()),
        limit: v.optional(v.number()),
      },
      handler: async (ctx, args) => {
        const { queue, id } = args;
        await checkAllowed(options, ctx, { kind: "output", changes: false, queue, id });
        const page = await callComponent(() => ctx.runQuery(component.lib.output, args));
        if (page === null) return null;
        const shown = new Shown(options, ctx, { queue, id });
        return { ...page, parts: await each(page.parts, (part) => shown.part(part)) };
      },
    }),
  };
}
