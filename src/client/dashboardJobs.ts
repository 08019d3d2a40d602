/** The views of jobs for pages: the list; and one job's state, contents, attempts, log and output. */
import type { ComponentApi } from "./componentApi.js";
import { allowedOf, type GivenOptions } from "./dashboardLeave.js";
import { each, Shown } from "./dashboardShow.js";
import type { Reader } from "./dashboardTypes.js";
import { callComponent } from "./mounted.js";

/** Of a list of which no page was asked for. */
const FIRST_PAGE = { numItems: 50, cursor: null };

type JobKind = "list" | "job" | "why" | "logs" | "output";

export function jobReaders(
  component: ComponentApi,
  options: GivenOptions,
): { [Kind in JobKind]: Reader<Kind> } {
  return {
    list: async (ctx, { queue, filter, order }, paginationOpts = FIRST_PAGE) => {
      const args = { queue, filter, order, paginationOpts };
      const found = await callComponent(() => ctx.runQuery(component.observe.list, args));
      const page = await each(found.page, (job) =>
        new Shown(options, ctx, { queue, id: job.id }).listed(job),
      );
      return { ...found, page };
    },

    job: jobReader(component, options),

    why: async (ctx, { queue, id }) => {
      // Its texts include the job's errors, and `show` decides about errors.
      const asked = { queue, id, withErrors: options?.show === undefined };
      const why = await callComponent(() => ctx.runQuery(component.observe.why, asked));
      if (why === null) return null;
      return { why, position: await ctx.runQuery(component.observe.position, { queue, id }) };
    },

    logs: async (ctx, { kind: _, ...args }) => {
      const page = await callComponent(() => ctx.runQuery(component.lib.logs, args));
      if (page === null) return null;
      const shown = new Shown(options, ctx, args);
      return { ...page, entries: await each(page.entries, (entry) => shown.entry(entry)) };
    },

    output: async (ctx, { kind: _, ...args }) => {
      const page = await callComponent(() => ctx.runQuery(component.lib.output, args));
      if (page === null) return null;
      const shown = new Shown(options, ctx, args);
      return { ...page, parts: await each(page.parts, (part) => shown.part(part)) };
    },
  };
}

function jobReader({ lib, observe }: ComponentApi, options: GivenOptions): Reader<"job"> {
  return async (ctx, { queue, id }) => {
    const job = await callComponent(() => ctx.runQuery(lib.status, { id, queue }));
    if (job === null) return null;
    const attempts = await ctx.runQuery(lib.attempts, { id, queue });
    const carried = await ctx.runQuery(observe.payload, { id, queue });
    const shown = new Shown(options, ctx, { queue, id });
    const kinds = ["cancel", "retry", "delete"] as const;
    const changes = kinds.map((kind) => ({ kind, changes: true as const, queue, id }));
    return {
      job: await shown.status(job),
      payload: await shown.value("payload", carried?.payload ?? null),
      attempts: await each(attempts ?? [], (attempt) => shown.attempt(attempt)),
      may: await allowedOf(options, ctx, changes),
    };
  };
}
