/**
 * Queues `q0`, `q1`, … in each mount of the component, as many as a test wants, with one action as the handler of all, and the
 * functions that a test calls.
 */
import { Conveyor } from "convex-conveyor";
import type { ComponentApi } from "convex-conveyor/_generated/component.js";
import {
  anyApi,
  componentsGeneric,
  mutationGeneric as mutation,
  queryGeneric as query,
  type FunctionReference,
} from "convex/server";
import { v } from "convex/values";
import { vWork, type Work } from "./work.js";

interface App {
  inline: { run: FunctionReference<"action", "internal", any, null> };
  work: {
    run: FunctionReference<"action", "internal", Work, null>;
    came: FunctionReference<"mutation", "internal", { n: number }, null>;
  };
}
const app = anyApi as unknown as App;
const components = componentsGeneric() as unknown as {
  conveyor: ComponentApi;
  conveyorB: ComponentApi;
};

const number = (name: string, otherwise: number) => Number(process.env[name] ?? otherwise);
const QUEUES = number("QUEUES", 1);
const RETENTION_MS = number("RETENTION_MS", 24 * 60 * 60_000);
const options = {
  payload: vWork,
  maxParallelism: number("PARALLELISM", 10),
  maxResets: number("MAX_RESETS", 0),
  ...(process.env.INLINE === undefined ? {} : { inline: () => app.inline.run }),
  retention: { succeededMs: RETENTION_MS },
};

/** The share of the scheduler's slots that one mount may take: typed here, so that this app compiles without the option. */
type Declared = new (component: ComponentApi, options?: { schedulerShare: number }) => Conveyor;
const share = process.env.SCHEDULER_SHARE;

function conveyorOf(component: ComponentApi): Conveyor {
  return share === undefined
    ? new Conveyor(component)
    : new (Conveyor as unknown as Declared)(component, { schedulerShare: Number(share) });
}

function mount(conveyor: Conveyor) {
  return Array.from({ length: QUEUES }, (_, i) => {
    const queue = conveyor.queue(`q${i}`, options);
    if (process.env.INLINE === undefined) queue.handledBy(app.work.run);
    return queue;
  });
}

const mounted = conveyorOf(components.conveyor);
const mounts = [mount(mounted), mount(conveyorOf(components.conveyorB))] as const;
/** Of the first mount. */
export const [queues] = mounts;
const queueOf = (of: number, queue: number) => mounts[of]![queue]!;

const vPlace = { mount: v.optional(v.number()), queue: v.number() };

export const enqueue = mutation({
  args: { ...vPlace, works: v.array(vWork), timeoutMs: v.optional(v.number()) },
  returns: v.null(),
  handler: async (ctx, { mount: of = 0, queue, works, timeoutMs }) => {
    const given = timeoutMs === undefined ? {} : { timeoutMs };
    await queueOf(of, queue).enqueueBatch(ctx, works, given);
    console.log(works.map(({ n }) => `enqueued ${n}`).join(", "));
    return null;
  },
});

/** Some of a queue's settings are changed while jobs run. */
export const configure = mutation({
  args: { queue: v.number(), maxParallelism: v.number() },
  returns: v.null(),
  handler: async (ctx, { queue, maxParallelism }) => {
    await queueOf(0, queue).control.configure(ctx, { maxParallelism });
    return null;
  },
});

export const pause = mutation({
  args: { queues: v.array(v.number()) },
  returns: v.null(),
  handler: async (ctx, { queues }) => {
    for (const queue of queues) await queueOf(0, queue).control.pause(ctx);
    return null;
  },
});

/** The app's own function, scheduled for now. */
export const scheduleOwn = mutation({
  args: { n: v.number() },
  returns: v.null(),
  handler: async (ctx, { n }) => {
    await ctx.scheduler.runAfter(0, app.work.came, { n });
    console.log(`scheduled ${n}`);
    return null;
  },
});

/** Why the job does not run that is the queue's next. */
export const why = query({
  args: { queue: v.number() },
  handler: async (ctx, { queue }) => {
    const page = { numItems: 1, cursor: null };
    const listed = { filter: { status: "pending" }, order: "next", paginationOpts: page } as const;
    const [next] = (await queueOf(0, queue).list(ctx, listed)).page;
    return next === undefined ? null : await queueOf(0, queue).why(ctx, next.id);
  },
});

/** Rows of jobs that are left in a queue, and how many have been counted: as enqueued, and as succeeded. */
export const remains = query({
  args: { queue: v.number() },
  returns: v.object({ rows: v.number(), enqueued: v.number(), succeeded: v.number() }),
  handler: async (ctx, { queue }) => {
    const page = { numItems: 100, cursor: null };
    const statuses = ["pending", "running", "scheduled", "succeeded", "failed"] as const;
    let rows = 0;
    for (const status of statuses) {
      const listed = { filter: { status }, order: "next", paginationOpts: page } as const;
      rows += (await queueOf(0, queue).list(ctx, listed)).page.length;
    }
    const { periods } = await queueOf(0, queue).stats(ctx, { per: "hour", count: 24 });
    const sum = (what: "enqueued" | "succeeded") =>
      periods.reduce((all, period) => all + period[what], 0);
    return { rows, enqueued: sum("enqueued"), succeeded: sum("succeeded") };
  },
});

/** The main loop of the first mount. */
export const mainLoop = query({
  args: {},
  handler: async (ctx) => (await mounted.queues(ctx, { limit: 1, mainLoop: true })).mainLoop,
});
