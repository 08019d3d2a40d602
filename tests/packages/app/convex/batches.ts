/** The batch worker, as its documentation introduces it. */
import { defineBatchWorkerValidators, ping } from "@convex-dev/batch-worker";
import { v } from "convex/values";
import { components, internal } from "./_generated/api.js";
import { internalMutation, internalQuery, mutation, query } from "./_generated/server.js";
import { write } from "./lines.js";

const BATCH_SIZE = 10;

export const addEvents = mutation({
  args: { values: v.array(v.number()) },
  handler: async (ctx, { values }) => {
    for (const value of values) {
      await ctx.db.insert("events", { value, insertedAt: ctx.db.vars.commitTs });
    }
    await ping(ctx, components.batchWorker, {
      name: "events",
      workQuery: internal.batches.getBatch,
      workerMutation: internal.batches.processBatch,
    });
  },
});

const vEvents = v.array(v.object({ id: v.id("events"), value: v.number() }));
const { vQueryArgs, vQueryReturns, vMutationArgs } = defineBatchWorkerValidators({
  batch: { events: vEvents },
});

export const getBatch = internalQuery({
  args: vQueryArgs,
  returns: vQueryReturns,
  handler: async (ctx, { cursor }) => {
    const events = await ctx.db
      .query("events")
      .withIndex("insertedAt", (q) => q.gte("insertedAt", cursor ?? 0n))
      .take(BATCH_SIZE);
    const last = events.at(-1);
    if (last === undefined) return { kind: "idle" as const, cooldownMs: 200, pollIntervalMs: 50 };
    return {
      kind: "work" as const,
      batch: { events: events.map((event) => ({ id: event._id, value: event.value })) },
      cursor: last.insertedAt,
    };
  },
});

export const processBatch = internalMutation({
  args: vMutationArgs,
  handler: async (ctx, { events }) => {
    for (const { id } of events) await ctx.db.delete("events", id);
    await write(ctx, "batches", events.map((event) => event.value).join(" "));
  },
});

export const status = query({
  args: {},
  handler: (ctx): Promise<unknown> =>
    ctx.runQuery(components.batchWorker.lib.status, { name: "events" }),
});
