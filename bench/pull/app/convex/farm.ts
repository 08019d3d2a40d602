/**
 * The llama-farm pattern, "Implementing work stealing with a reactive database", in its plain form. From its text, and
 * done here:
 * - a table of jobs with a status, an index over status and time of the last update, the worker and the janitor;
 * - workers subscribe to a query without arguments that only says whether anything is pending, so that all share an answer;
 * - to claim is a mutation that takes the first that is pending, stores its worker, and schedules a janitor;
 * - a worker has a key of its own, by which every call of it finds its row;
 * - while it works it says so now and then: the old janitor is canceled and a new one scheduled;
 * - the janitor marks the job as timed out, and it is not tried again.
 *
 * Where it says nothing: the janitor of a job that ends is canceled, since a janitor in vain is a call more for each job;
 * the janitor comes after the same time as the lease of the other alternatives; a repeated end counts once, so that
 * workers may repeat the call. The text names queues in parts, and jobs in the subscription's answer, as a more
 * sophisticated form. Nothing here fails, so retries are left out.
 */
import { v, type GenericId } from "convex/values";
import {
  app,
  entries,
  internalMutation,
  LEASE_MS,
  mutation,
  query,
  type MutationCtx,
  type Work,
} from "./builders.js";

async function insert(ctx: MutationCtx, work: Work): Promise<void> {
  await ctx.db.insert("farmJobs", { work, status: "pending", lastUpdate: Date.now() });
}

export const { enqueue, enqueueAll } = entries({ one: insert });

export const hasWork = query({
  args: {},
  handler: async (ctx) => {
    const pending = ctx.db
      .query("farmJobs")
      .withIndex("by_status", (range) => range.eq("status", "pending"));
    return (await pending.first()) !== null;
  },
});

export const claim = mutation({
  args: { apiKey: v.string() },
  handler: async (ctx, { apiKey }) => {
    const worker = await workerOf(ctx, apiKey);
    const job = await ctx.db
      .query("farmJobs")
      .withIndex("by_status", (range) => range.eq("status", "pending"))
      .first();
    if (job === null) return null;
    const janitor = await ctx.scheduler.runAfter(LEASE_MS, app.farm.giveUp, { job: job._id });
    const lastUpdate = Date.now();
    await ctx.db.patch("farmJobs", job._id, { status: "inProgress", worker, lastUpdate, janitor });
    return { job: job._id, work: job.work };
  },
});

const ofJob = { apiKey: v.string(), job: v.id("farmJobs") };

export const beat = mutation({
  args: ofJob,
  handler: async (ctx, { apiKey, job: id }) => {
    if ((await takeBack(ctx, apiKey, id)) === null) return null;
    const janitor = await ctx.scheduler.runAfter(LEASE_MS, app.farm.giveUp, { job: id });
    await ctx.db.patch("farmJobs", id, { lastUpdate: Date.now(), janitor });
    return null;
  },
});

export const complete = mutation({
  args: ofJob,
  handler: async (ctx, { apiKey, job: id }) => {
    const job = await takeBack(ctx, apiKey, id);
    if (job === null) return null;
    const ended = { status: "succeeded", lastUpdate: Date.now(), janitor: undefined } as const;
    await ctx.db.patch("farmJobs", id, ended);
    console.log(`recorded ${job.work.n}`);
    return null;
  },
});

/** The job, if it is this worker's, without the janitor that it had. */
async function takeBack(ctx: MutationCtx, apiKey: string, id: GenericId<"farmJobs">) {
  const worker = await workerOf(ctx, apiKey);
  const job = await ctx.db.get("farmJobs", id);
  if (job?.status !== "inProgress" || job.worker !== worker) return null;
  if (job.janitor !== undefined) await ctx.scheduler.cancel(job.janitor);
  return job;
}

/** The janitor. Not canceled in time, it finds nothing to do. */
export const giveUp = internalMutation({
  args: { job: v.id("farmJobs") },
  handler: async (ctx, { job: id }) => {
    const job = await ctx.db.get("farmJobs", id);
    if (job?.status !== "inProgress") return null;
    await ctx.db.patch("farmJobs", id, { status: "timedOut", lastUpdate: Date.now() });
    return null;
  },
});

/** Workers with these keys may come. */
export const admit = internalMutation({
  args: { apiKeys: v.array(v.string()) },
  handler: async (ctx, { apiKeys }) => {
    for (const apiKey of apiKeys) await ctx.db.insert("farmWorkers", { apiKey });
    return null;
  },
});

async function workerOf(ctx: MutationCtx, apiKey: string) {
  const worker = await ctx.db
    .query("farmWorkers")
    .withIndex("by_key", (range) => range.eq("apiKey", apiKey))
    .unique();
  if (worker === null) throw new Error("This key is unknown.");
  return worker._id;
}
