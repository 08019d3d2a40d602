/**
 * Conveyor: a queue for workers outside, with the defaults of the product unless a sweep says otherwise, and the
 * workers' functions.
 */
import { Conveyor } from "convex-conveyor";
import { v } from "convex/values";
import { components, entries, vWork } from "./builders.js";

const conveyor = new Conveyor(components.conveyor);
const shards = process.env.SHARDS;
const jobs = conveyor.queue("jobs", {
  payload: vWork,
  result: v.null(),
  ...(shards === undefined ? {} : { shards: Number(shards) }),
});

export const { enqueue, enqueueAll } = entries({
  one: (ctx, work) => jobs.enqueue(ctx, work),
  all: (ctx, works) => jobs.enqueueBatch(ctx, works),
});

export const { claim, complete, heartbeat, report, watch } = conveyor.workerApi({ queues: [jobs] });

export const { create } = conveyor.tokenApi();
