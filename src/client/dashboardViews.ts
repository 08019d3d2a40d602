/** The views of queues and workers for pages. */
import {
  OVERVIEW_QUEUES_MAX,
  QUEUES_LISTED_MAX,
  type MainLoop,
  type QueueActionKind,
  type ShownQueue,
  type ShownWorker,
  type WorkerActionKind,
  type WorkerStatus,
} from "../shared/index.js";
import type { ComponentApi } from "./componentApi.js";
import { allowedOf, seesQueue, type GivenOptions } from "./dashboardLeave.js";
import { each, Shown } from "./dashboardShow.js";
import type { Reader } from "./dashboardTypes.js";
import { callComponent } from "./mounted.js";
import { mainLoopOf, overviewsOf } from "./overviews.js";
import type { AuthorizeCtx } from "./types.js";

type ViewKind = "overview" | "mainLoop" | "queue" | "stats" | "workers" | "events";

export function viewReaders(
  component: ComponentApi,
  options: GivenOptions,
  mount: { schedulerShare?: number },
): { [Kind in ViewKind]: Reader<Kind> } {
  return {
    overview: async (ctx) => {
      const limit = QUEUES_LISTED_MAX;
      const all = await callComponent(() => ctx.runQuery(component.observe.queues, { limit }));
      const seen: string[] = [];
      for (const name of all.names) if (await seesQueue(options, ctx, name)) seen.push(name);
      const names = seen.slice(0, OVERVIEW_QUEUES_MAX);
      const found = await overviewsOf(ctx, component, names);
      const queues: ShownQueue[] = [];
      for (const one of found.queues)
        queues.push({ ...one, may: await mayOf(options, ctx, one.state.name) });
      return { queues, more: all.more || found.more || names.length < seen.length };
    },

    mainLoop: async (ctx, { queue }) => {
      const sees = async (name: string) =>
        queue === undefined ? await seesQueue(options, ctx, name) : name === queue;
      return await seenOf(await mainLoopOf(ctx, component, mount), sees);
    },

    queue: async (ctx, { queue }) => {
      const found = await callComponent(() => ctx.runQuery(component.observe.overview, { queue }));
      return found === null ? null : { ...found, may: await mayOf(options, ctx, queue) };
    },

    stats: async (ctx, { kind: _, ...args }) =>
      await callComponent(() => ctx.runQuery(component.observe.stats, args)),

    workers: async (ctx) => {
      const workers = await callComponent(() => ctx.runQuery(component.lib.workers, {}));
      const seen = await withoutUnseen(workers, (queue) => seesQueue(options, ctx, queue));
      // Once for all of them: the page has up to a hundred, and is read anew with each of their calls.
      const may = await allowedOf(options, ctx, WORKER_CHANGES);
      return seen.map((one): ShownWorker => ({ ...one, may: mayWorker(one, may) }));
    },

    events: async (ctx, { kind: _, ...args }) => {
      const found = await callComponent(() => ctx.runQuery(component.operate.events, args));
      return await each(found, async (event) => {
        // The message of an event of one job has that job's error.
        const { job: id } = (event.details ?? {}) as { job?: unknown };
        if (typeof id !== "string") return event;
        const shown = new Shown(options, ctx, { queue: args.queue, id });
        return { ...event, message: await shown.text("error", event.message) };
      });
    },
  };
}

/** The main loop, which all queues share, with the names of the queues that the caller may see. */
async function seenOf(
  { queues, waiting, next, ...rest }: MainLoop,
  sees: (queue: string) => Promise<boolean>,
): Promise<MainLoop> {
  const seen = new Set<string>();
  const names = new Set([...queues.map(({ queue }) => queue), ...waiting]);
  if (next?.queue !== undefined) names.add(next.queue);
  for (const name of names) if (await sees(name)) seen.add(name);
  const { queue: of, ...timer } = next ?? {};
  return {
    ...rest,
    ...(next === undefined ? {} : { next: of === undefined || seen.has(of) ? next : timer }),
    queues: queues.filter(({ queue }) => seen.has(queue)),
    waiting: waiting.filter((queue) => seen.has(queue)),
  } as MainLoop;
}

/** The changes that the caller may make to a queue; to many of its jobs, whichever are meant. */
async function mayOf(
  options: GivenOptions,
  ctx: AuthorizeCtx<any>,
  queue: string,
): Promise<QueueActionKind[]> {
  return await allowedOf(options, ctx, [
    ...(["pause", "resume", "drain"] as const).map((kind) => ({
      ...{ kind, changes: true as const, queue },
    })),
    ...(["cancelMany", "retryMany", "deleteMany"] as const).map((kind) => ({
      ...{ kind, changes: true as const, queue, filter: {} },
    })),
  ]);
}

/** Of no worker in particular: a change of one is asked about with its id. */
const WORKER_CHANGES = (["quietWorker", "resumeWorker"] as const).map((kind) => ({
  ...{ kind, changes: true as const },
}));

/** The one change of a worker that its page offers, of the allowed ones: quiet it, or end that. */
function mayWorker(
  { isLane, state, quietBy }: WorkerStatus,
  may: readonly WorkerActionKind[],
): WorkerActionKind[] {
  if (isLane || state === "stopped") return [];
  const offered = quietBy === "operator" ? "resumeWorker" : "quietWorker";
  return may.filter((kind) => kind === offered);
}

/** Without queues that the caller may not see, the workers' jobs of these queues, and their lanes. */
async function withoutUnseen(
  workers: readonly WorkerStatus[],
  sees: (queue: string) => Promise<boolean>,
): Promise<WorkerStatus[]> {
  const queues = new Set(
    workers.flatMap((worker) => [
      ...worker.holding.map(({ queue }) => queue),
      ...worker.queues,
      ...(worker.isLane ? [queueOfLane(worker.name)] : []),
    ]),
  );
  const seen = new Set<string>();
  for (const queue of queues) if (await sees(queue)) seen.add(queue);
  return workers
    .filter(({ isLane, name }) => !isLane || seen.has(queueOfLane(name)))
    .map(({ holding, queues: serves, ...worker }) => ({
      ...worker,
      queues: serves.filter((queue) => seen.has(queue)),
      holding: holding.filter(({ queue }) => seen.has(queue)),
    }));
}

/** A lane is called after its queue, with a number behind `#`, which no queue's name has. */
function queueOfLane(name: string): string {
  return name.replace(/#\d+$/, "");
}
