/** Queues over the app's own tables: rows in strict order, and rows of which a claim takes some at random. */
import { Conveyor } from "convex-conveyor";
import { v } from "convex/values";
import { components, internal } from "./_generated/api.js";
import type { DataModel } from "./_generated/dataModel.js";
import { internalMutation, internalQuery } from "./_generated/server.js";

const conveyor = new Conveyor<DataModel>(components.conveyor);
const options = {
  index: "by_status",
  columns: { state: "status" },
  states: { pending: "waiting", running: "busy", succeeded: "done", failed: "failed" },
  result: v.object({ square: v.number() }),
  leaseMs: 600_000,
} as const;

export const parcels = conveyor.tableQueue("parcels", {
  ...options,
  functions: () => internal.parcels,
});
export const { claimable, take, record } = parcels;

export const crates = conveyor.tableQueue("crates", {
  ...options,
  functions: () => internal.crates,
  scatter: 64,
});

export const { claim, complete, heartbeat, report, watch } = conveyor.workerApi({
  queues: [parcels, crates],
});

const vTable = v.union(v.literal("parcels"), v.literal("crates"));

/** Rows that wait, in the order of `n`. */
export const fill = internalMutation({
  args: { table: vTable, from: v.number(), count: v.number() },
  returns: v.null(),
  handler: async (ctx, { table, from, count }) => {
    for (let n = from; n < from + count; n++) await ctx.db.insert(table, { status: "waiting", n });
    return null;
  },
});

/** How many rows of the first `count` are in each state. */
export const states = internalQuery({
  args: { table: vTable, count: v.number() },
  returns: v.record(v.string(), v.number()),
  handler: async (ctx, { table, count }) => {
    const found: Record<string, number> = {};
    for (const { status } of await ctx.db.query(table).take(count))
      found[status] = (found[status] ?? 0) + 1;
    return found;
  },
});
