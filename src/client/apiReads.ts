/**
 * Public functions for pages that read: one query of the component each, and more for the requests of `status` and
 * `stats`. The read of a job includes its queue; then the app's `authorize` is asked, and a refusal shows nothing of
 * it.
 */
import { queryGeneric } from "convex/server";
import { v } from "convex/values";
import {
  conveyorError,
  vListFilter,
  vListOrder,
  vPageOptions,
  vPer,
  type AttemptStatus,
  type JobId,
  type JobStatus,
  type ShownOptions,
  type StatusAnswers,
  type StatusRequests,
  withoutUndefined,
} from "../shared/index.js";
import { findQueue, type Api } from "./apiQueues.js";
import { callComponent } from "./mounted.js";
import type { AuthorizeCtx, RunsQueries } from "./types.js";

type ReadCtx = AuthorizeCtx<any> & RunsQueries;

export function readFunctions(api: Api) {
  const { served, ask } = api;
  return {
    status: statusFunction(api),
    ...historyFunctions(api),

    list: queryGeneric({
      args: {
        queue: v.string(),
        filter: v.optional(vListFilter),
        order: v.optional(vListOrder),
        paginationOpts: vPageOptions,
      },
      handler: async (ctx, { queue: name, ...options }) => {
        const queue = findQueue(served, name);
        await ask(ctx, { kind: "list", queue: name, filter: options.filter ?? {} });
        return await queue.list(ctx, options);
      },
    }),

    stats: queryGeneric({
      args: {
        queue: v.string(),
        per: v.optional(vPer),
        count: v.optional(v.number()),
        until: v.optional(v.number()),
      },
      handler: async (ctx, { queue: name, ...options }) => {
        const queue = findQueue(served, name);
        await ask(ctx, { kind: "stats", queue: name });
        if (options.per === undefined && Object.keys(options).length > 0) throw noPeriods();
        const gauge = await queue.gauge(ctx);
        return options.per === undefined
          ? gauge
          : { ...gauge, ...(await queue.stats(ctx, options)) };
      },
    }),
  };
}

function noPeriods(): Error {
  return conveyorError(
    "invalidArgument",
    "`count` and `until` say which periods, and without `per` there are none. " +
      'Give `per` too: "minute", "hour" or "day".',
    { argument: "per" },
  );
}

// --- One job, and several -------------------------------------------------------------------------

function statusFunction(api: Api) {
  return queryGeneric({
    args: {
      id: v.optional(v.string()),
      ids: v.optional(v.array(v.string())),
      queue: v.optional(v.string()),
      key: v.optional(v.string()),
      why: v.optional(v.boolean()),
      attempts: v.optional(v.union(v.boolean(), v.number())),
      options: v.optional(v.boolean()),
    },
    handler: async (ctx, { id, ids, queue, key, ...requests }) => {
      const forms = [id, ids, key].filter((one) => one !== undefined).length;
      if (forms !== 1 || (queue === undefined) !== (key === undefined)) throw noForm();
      if (ids !== undefined) {
        if (Object.values(requests).some((wanted) => wanted !== false)) throw onlyOfOne();
        return await statuses(api, ctx, ids);
      }
      if (id !== undefined) return await statusById(api, ctx, id, requests);
      return await statusByKey(api, ctx, { queue: queue!, key: key! }, requests);
    },
  });
}

function noForm(): Error {
  return conveyorError(
    "invalidArgument",
    "`status` takes an `id`, up to 100 `ids`, or a `queue` and a `key`, and one of these. Send `{ id }`, `{ ids }` or `{ queue, key }`.",
    { argument: "id" },
  );
}

function onlyOfOne(): Error {
  return conveyorError(
    "invalidArgument",
    "`why`, `attempts` and `options` are for one job, not for many `ids`. Ask for each of these jobs by its `id`.",
    { argument: "ids" },
  );
}

/** Where one queue is served, the component passes over jobs of other queues by itself. */
function onlyQueue({ served }: Api): { queue?: string } {
  const [name] = served.keys();
  return served.size === 1 && name !== undefined ? { queue: name } : {};
}

async function statuses(
  api: Api,
  ctx: ReadCtx,
  ids: string[],
): Promise<(Partial<JobStatus> | null)[]> {
  const { lib } = api.component;
  const args = { ids, ...onlyQueue(api) };
  const found = await callComponent(() => ctx.runQuery(lib.statusBatch, args));
  const own = found.map((job) => (job !== null && api.served.has(job.queue) ? job : null));
  const each = new Map(own.flatMap((job) => (job === null ? [] : [[job.id, job.queue] as const])));
  for (const [id, queue] of each) await api.ask(ctx, { kind: "status", queue, id: id as JobId });
  return own.map((job) => (job === null ? null : shownOf(job).job));
}

async function statusById(api: Api, ctx: ReadCtx, id: string, requests: StatusRequests) {
  const { lib } = api.component;
  const args = { id, ...onlyQueue(api) };
  const job = await callComponent(() => ctx.runQuery(lib.status, args));
  if (job === null || !api.served.has(job.queue)) return null;
  await api.ask(ctx, { kind: "status", queue: job.queue, id: job.id as JobId });
  return await withRequests(api, ctx, job, requests);
}

/** A key can be guessed, where an id cannot: `authorize` is asked before it is read. */
async function statusByKey(
  api: Api,
  ctx: ReadCtx,
  { queue, key }: { queue: string; key: string },
  requests: StatusRequests,
) {
  const { lib } = api.component;
  const own = findQueue(api.served, queue);
  await api.ask(ctx, { kind: "byKey", queue, key });
  const found = await own.byKey(ctx, key);
  if (found === null) return null;
  const job = await ctx.runQuery(lib.status, { id: found.id, queue });
  return job === null ? null : await withRequests(api, ctx, job, requests);
}

/** Further parts that a call asks for, each with a permission of its own. */
async function withRequests(api: Api, ctx: ReadCtx, job: JobStatus, requests: StatusRequests) {
  const {
    why: isWhyAsked = false,
    attempts: wanted = false,
    options: areOptions = false,
  } = requests;
  const about = { queue: job.queue, id: job.id as JobId };
  const { observe, lib } = api.component;
  const { job: shown, options } = shownOf(job);
  const answers: Partial<StatusAnswers> = {};
  if (isWhyAsked) {
    await api.ask(ctx, { kind: "why", ...about });
    const why = await ctx.runQuery(observe.why, about);
    const position = await ctx.runQuery(observe.position, about);
    answers.why = { reasons: why?.reasons ?? [], position };
  }
  if (wanted !== false) {
    await api.ask(ctx, { kind: "attempts", ...about });
    const limit = typeof wanted === "number" ? { limit: wanted } : {};
    const attempts = await ctx.runQuery(lib.attempts, { ...about, ...limit });
    answers.attempts = (attempts ?? []).map(withoutTrace);
  }
  if (areOptions) {
    await api.ask(ctx, { kind: "options", ...about });
    answers.options = options;
  }
  return { ...shown, ...answers };
}

/** The part of a job that a page is always shown, and the options it was enqueued with. */
function shownOf(status: JobStatus): { job: Partial<JobStatus>; options: ShownOptions } {
  const { priority, key, group, tags, labels, cost, ...job } = status;
  return {
    job,
    options: withoutUndefined({ priority, key, group, tags, labels, cost }),
  };
}

/** A page receives the error, and not its place: as production Convex has it. */
function withoutTrace(attempt: AttemptStatus): AttemptStatus {
  if (!("trace" in attempt)) return attempt;
  const { trace: _, ...told } = attempt;
  return told;
}

// --- The history of one job, page by page --------------------------------------------------------

function historyFunctions(api: Api) {
  const { lib } = api.component;
  return {
    logs: queryGeneric({
      args: { id: v.string(), cursor: v.optional(v.string()), limit: v.optional(v.number()) },
      handler: async (ctx, args) => {
        const asked = { ...args, ...onlyQueue(api) };
        const page = await callComponent(() => ctx.runQuery(lib.logs, asked));
        return await ifAllowed(api, ctx, { kind: "logs", id: args.id }, page);
      },
    }),

    output: queryGeneric({
      args: {
        id: v.string(),
        cursor: v.optional(v.string()),
        attempt: v.optional(v.number()),
        fromIndex: v.optional(v.number()),
        limit: v.optional(v.number()),
      },
      handler: async (ctx, args) => {
        const asked = { ...args, ...onlyQueue(api) };
        const page = await callComponent(() => ctx.runQuery(lib.output, asked));
        return await ifAllowed(api, ctx, { kind: "output", id: args.id }, page);
      },
    }),
  };
}

async function ifAllowed<Page extends { queue: string }>(
  api: Api,
  ctx: ReadCtx,
  { kind, id }: { kind: "logs" | "output"; id: string },
  page: Page | null,
): Promise<Page | null> {
  if (page === null || !api.served.has(page.queue)) return null;
  await api.ask(ctx, { kind, queue: page.queue, id: id as JobId });
  return page;
}
