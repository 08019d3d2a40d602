/** The functions that producers and operators of the app call. */
import { v } from "convex/values";
import { vWork, type Work } from "./payload.js";
import { meetOthers } from "./meeting.js";
import { DEPLOYED, LOOP, ROWS } from "./names.js";
import { conveyor, queueNamed } from "./queues.js";
import { tables, tallies } from "./rows.js";
import { internal, internalMutation, mutation, query } from "./server.js";

const vQueue = v.string();
const vJobs = v.array(v.object({ payload: vWork, options: v.any() }));

/** Also one whose jobs are rows of the app's. */
const of = (queue: string) =>
  queue in tables
    ? (tables[queue as "notes"] as unknown as ReturnType<typeof queueNamed>)
    : queueNamed(queue);

type Jobs = { payload: Work; options: any }[];

/**
 * All jobs, each with the app's own row, in one transaction. `throws`: it fails at its very end. `reads`: so many documents it
 * reads before its end, a millisecond each.
 */
export const enqueue = mutation({
  args: {
    queue: vQueue,
    jobs: vJobs,
    throws: v.optional(v.boolean()),
    reads: v.optional(v.number()),
  },
  handler: async (ctx, { queue, jobs, throws = false, reads = 0 }): Promise<string[]> => {
    const ids: string[] = [];
    for (const { payload, options } of jobs as Jobs) {
      const { id, isNew } =
        options.key === undefined
          ? { id: await of(queue).enqueue(ctx, payload, options), isNew: true }
          : await of(queue).enqueueUnique(ctx, payload, options);
      await ctx.db.insert("orders", { n: payload.n, job: id, queue, isNew });
      ids.push(id);
    }
    for (let i = 0; i < reads; i += 1) await ctx.db.query("broken").first();
    if (throws) throw new Error("The caller changes its mind.");
    return ids;
  },
});

/** As one batch, in one call of the component. */
export const enqueueBatch = mutation({
  args: { queue: vQueue, jobs: vJobs },
  handler: async (ctx, { queue, jobs }): Promise<string[]> => {
    const given = jobs as Jobs;
    const ids = await of(queue).enqueueBatch(
      ctx,
      given.map(({ payload }) => payload),
      (_payload, index) => given[index]!.options,
    );
    for (const [i, id] of ids.entries()) {
      await ctx.db.insert("orders", { n: given[i]!.payload.n, job: id, queue, isNew: true });
    }
    return ids;
  },
});

export const replace = mutation({
  args: { queue: vQueue, id: v.string(), job: v.object({ payload: vWork, options: v.any() }) },
  handler: async (ctx, { queue, id, job }): Promise<any> => {
    const { payload, options } = job;
    const reply = await of(queue).replace(ctx, id, payload, options);
    if (reply.replaced) {
      await ctx.db.insert("orders", { n: payload.n, job: reply.id, queue, isNew: true });
    }
    return reply;
  },
});

export const cancel = mutation({
  args: { queue: vQueue, id: v.string() },
  handler: async (ctx, { queue, id }): Promise<any> => await of(queue).cancel(ctx, id as never),
});

export const retry = mutation({
  args: { queue: vQueue, id: v.string() },
  handler: async (ctx, { queue, id }): Promise<any> => await of(queue).retry(ctx, id as never),
});

/** An operation on one job: `pauseJob`, `resumeJob`, `deleteJob`. */
export const handle = mutation({
  args: { queue: vQueue, id: v.string(), how: v.string() },
  handler: async (ctx, { queue, id, how }): Promise<any> => {
    const control = of(queue).control;
    return await control[how as "pauseJob"](ctx, id);
  },
});

/** An operation on a queue: `pause`, `drain`, `resume`. */
export const operate = mutation({
  args: { queue: vQueue, how: v.string() },
  handler: async (ctx, { queue, how }): Promise<any> =>
    await conveyor.control(queue)[how as "pause"](ctx),
});

export const configure = mutation({
  args: { queue: vQueue, overrides: v.any() },
  handler: async (ctx, { queue, overrides }): Promise<any> =>
    await conveyor.control(queue).configure(ctx, overrides),
});

/** Removes overrides, so that the code's configuration is in force. */
export const resetConfig = mutation({
  args: { queue: vQueue, fields: v.optional(v.array(v.string())) },
  handler: async (ctx, { queue, fields }): Promise<any> =>
    await conveyor.control(queue).resetConfig(ctx, fields as never),
});

/** Writes the row over which handlers and callbacks conflict. */
export const meet = mutation({ handler: async (ctx) => await meetOthers(ctx.db) });

/** To many: `cancelMany`, `retryMany`, `deleteMany`. */
export const changeMany = mutation({
  args: { queue: vQueue, how: v.string(), filter: v.any() },
  handler: async (ctx, { queue, how, filter }): Promise<any> =>
    await conveyor.control(queue)[how as "cancelMany"](ctx, filter),
});

/** Stands for an hourly cron of the app. */
export const watch = internalMutation({
  handler: async (ctx) => await conveyor.watch(ctx),
});

export const breakCallbacks = mutation({
  handler: async (ctx) => void (await ctx.db.insert("broken", {})),
});

export const mendCallbacks = mutation({
  handler: async (ctx) => {
    for (const { _id } of await ctx.db.query("broken").collect()) await ctx.db.delete(_id);
  },
});

/** Fills the deployment with actions of the app's own. */
export const occupy = mutation({
  args: { count: v.number(), ms: v.number(), nested: v.boolean() },
  handler: async (ctx, { count, ms, nested }) => {
    if (nested) await ctx.scheduler.runAfter(0, internal.handlers.occupyMany, { count, ms });
    else
      for (let i = 0; i < count; i += 1) {
        await ctx.scheduler.runAfter(0, internal.handlers.occupy, { ms });
      }
  },
});

/** A worker claims nothing, or again. */
export const quiet = mutation({
  args: { id: v.string(), isQuiet: v.boolean() },
  handler: async (ctx, { id, isQuiet }): Promise<any> => {
    const worker = conveyor.worker(id);
    return await (isQuiet ? worker.quiet(ctx) : worker.resume(ctx));
  },
});

export const setMember = mutation({
  args: { group: v.string(), isMember: v.boolean() },
  handler: async (ctx, { group, isMember }) => {
    const members = await ctx.db.query("members").collect();
    const known = members.find((one) => one.group === group);
    if (isMember && known === undefined) await ctx.db.insert("members", { group });
    if (!isMember && known !== undefined) await ctx.db.delete(known._id);
  },
});

// --- Rows that are jobs -----------------------------------------------------------------------------

const vTable = v.union(...ROWS.map((table) => v.literal(table)), v.literal(LOOP));

export const insertRows = mutation({
  args: { table: vTable, rows: v.array(v.object({ n: v.number(), turns: v.any() })) },
  handler: async (ctx, { table, rows }): Promise<void> => {
    for (const { n, turns } of rows) {
      if (table === LOOP) await ctx.db.insert(LOOP, { n, state: "new", times: 0 });
      else await ctx.db.insert(table, { n, turns, state: "new", ends: 0 });
    }
    await (table === LOOP ? tallies : tables[table]).ping(ctx);
  },
});

/** `remove` and `cancel` delete it, `stop` asks for its end, `again` makes one claimable that has ended. */
export const changeRow = mutation({
  args: { row: v.string(), how: v.string() },
  handler: async (ctx, { row, how }): Promise<void> => {
    const table = ROWS.find((name) => ctx.db.normalizeId(name, row) !== null);
    const id = table && ctx.db.normalizeId(table, row);
    const found = id && (await ctx.db.get(id));
    if (!table || !found) return;
    if (how === "stop") return await ctx.db.patch(found._id, { stop: true });
    if (how === "again") {
      if (found.state !== "done") return;
      await ctx.db.patch(found._id, { state: "new" });
      return await tables[table].ping(ctx);
    }
    if (how === "cancel") await tables[table].cancelRow(ctx, found._id as never);
    await ctx.db.delete(found._id);
  },
});

// --- Queries of pages -----------------------------------------------------------------------------

export const statuses = query({
  args: { queue: vQueue, ids: v.array(v.string()) },
  handler: async (ctx, { queue, ids }): Promise<any> =>
    await of(queue).statusBatch(ctx, ids as never),
});

export const counts = query({
  args: { queue: vQueue },
  handler: async (ctx, { queue }): Promise<any> => await of(queue).counts(ctx),
});

export const workers = query({
  args: {},
  handler: async (ctx): Promise<any> => await conveyor.workers(ctx),
});

export const output = query({
  args: { queue: vQueue, id: v.string() },
  handler: async (ctx, { queue, id }): Promise<any> => ({
    logs: await of(queue).logs(ctx, id),
    output: await of(queue).output(ctx, id),
    attempts: await of(queue).attempts(ctx, id),
  }),
});

// --- Before and after ---------------------------------------------------------------------------

/** All that are used are declared and configured, as a deploy and its operator leave them. */
export const setUp = internalMutation({
  args: { queues: v.any() },
  handler: async (ctx, { queues: configs }: { queues: Record<string, any> }): Promise<void> => {
    for (const [queue, overrides] of Object.entries(configs)) {
      const work: Work = { n: -1, turns: [{ ms: 0, end: "returns" }] };
      const id = await of(queue).enqueue(ctx, work, { runAfter: 60 * 60_000 });
      const { control } = of(queue);
      await control.deleteJob(ctx, id);
      if (Object.keys(overrides as object).length > 0) await control.configure(ctx, overrides);
    }
  },
});

/** Nothing stands in the way of any job any more. */
export const heal = internalMutation({
  args: {
    queues: v.array(v.string()),
    paused: v.array(v.object({ queue: v.string(), id: v.string() })),
    /** All of them have workers again: see `workloads/scope.ts`. */
    groups: v.optional(v.array(v.string())),
    /** Workers that are quiet. */
    quiet: v.optional(v.array(v.string())),
  },
  handler: async (ctx, { queues: names, paused, groups = [], quiet: ids = [] }): Promise<void> => {
    for (const id of ids) await conveyor.worker(id).resume(ctx);
    const members = groups.length === 0 ? [] : await ctx.db.query("members").collect();
    for (const group of groups) {
      if (!members.some((one) => one.group === group)) await ctx.db.insert("members", { group });
    }
    for (const { _id } of await ctx.db.query("broken").collect()) await ctx.db.delete(_id);
    for (const queue of names) {
      // The definition of a queue of deploys is its last one's.
      const control = queue === DEPLOYED ? of(queue).control : conveyor.control(queue);
      await control.resume(ctx);
      const { inForce } = await control.state(ctx);
      if (inForce.maxParallelism === 0) await control.configure(ctx, { maxParallelism: 2 });
    }
    for (const { queue, id } of paused) await of(queue).control.resumeJob(ctx, id);
  },
});
