/** The functions of a backend that is killed: each leaves a row as evidence of its run. */
import {
  actionGeneric,
  anyApi as api,
  internalMutationGeneric,
  mutationGeneric,
  queryGeneric,
  type ActionBuilder,
  type DataModelFromSchemaDefinition,
  type GenericMutationCtx,
  type MutationBuilder,
  type QueryBuilder,
} from "convex/server";
import { v } from "convex/values";
import type schema from "./schema.js";

type DataModel = DataModelFromSchemaDefinition<typeof schema>;

const action = actionGeneric as ActionBuilder<DataModel, "public">;
const internalMutation = internalMutationGeneric as MutationBuilder<DataModel, "internal">;
const mutation = mutationGeneric as MutationBuilder<DataModel, "public">;
const query = queryGeneric as QueryBuilder<DataModel, "public">;

const SHARDS = 4;
/** Links of a chain of actions. */
const LINKS = 5;

const entry = { round: v.number(), key: v.string() };

async function enter(
  { db }: GenericMutationCtx<DataModel>,
  { round, key }: { round: number; key: string },
  kind: string,
): Promise<number> {
  await db.insert("entries", { round, key, kind });
  const shard = key.length % SHARDS;
  const counter = await db
    .query("counters")
    .withIndex("by_shard", (q) => q.eq("shard", shard))
    .unique();
  const entries = (counter?.entries ?? 0) + 1;
  if (counter === null) await db.insert("counters", { shard, entries });
  else await db.patch(counter._id, { entries });
  return entries;
}

export const write = mutation({
  args: entry,
  handler: (ctx, args) => enter(ctx, args, "write"),
});

/** The row moves in every index: deleted as one thing, inserted as another. */
export const move = mutation({
  args: { ...entry, from: v.string() },
  handler: async (ctx, { from, ...args }) => {
    const old = await ctx.db
      .query("entries")
      .withIndex("by_key", (q) => q.eq("key", from))
      .unique();
    if (old !== null) await ctx.db.delete(old._id);
    await enter(ctx, args, `moved from ${from}`);
    return old !== null;
  },
});

export const schedule = mutation({
  args: { ...entry, delayMs: v.number() },
  handler: async (ctx, { delayMs, ...args }) => {
    await enter(ctx, args, "schedule");
    await ctx.scheduler.runAfter(delayMs, api["load"]!["ran"]!, args);
  },
});

export const ran = internalMutation({
  args: entry,
  handler: async ({ db }, args) => {
    await db.insert("runs", { ...args, what: "ran" });
  },
});

export const startChain = mutation({
  args: entry,
  handler: async (ctx, args) => {
    await enter(ctx, args, "chain");
    await ctx.scheduler.runAfter(0, api["load"]!["chain"]!, { ...args, link: 0 });
  },
});

export const chain = action({
  args: { ...entry, link: v.number() },
  handler: async (ctx, { link, ...args }) => {
    await ctx.runMutation(api["load"]!["mark"]!, { ...args, what: `begin ${link}` });
    await ctx.runMutation(api["load"]!["finishLink"]!, { ...args, link });
  },
});

export const mark = internalMutation({
  args: { ...entry, what: v.string() },
  handler: async ({ db }, args) => {
    await db.insert("runs", args);
  },
});

export const finishLink = internalMutation({
  args: { ...entry, link: v.number() },
  handler: async ({ db, scheduler }, { link, ...args }) => {
    await db.insert("runs", { ...args, what: `end ${link}` });
    if (link + 1 === LINKS) return;
    await scheduler.runAfter(0, api["load"]!["chain"]!, { ...args, link: link + 1 });
  },
});

/** For a subscription: the keys of a round. */
export const keys = query({
  args: { round: v.number() },
  handler: async ({ db }, { round }) => {
    const entries = await db
      .query("entries")
      .withIndex("by_round", (q) => q.eq("round", round))
      .collect();
    return entries.map(({ key }) => key);
  },
});

/** The number of scheduled functions that are not done, and the errors of failed ones. */
export const scheduled = query({
  args: {},
  handler: async ({ db }) => {
    const rows = await db.system.query("_scheduled_functions").order("desc").take(2000);
    return {
      open: rows.filter(({ state }) => ["pending", "inProgress"].includes(state.kind)).length,
      errors: rows.flatMap(({ state }) => (state.kind === "failed" ? [state.error] : [])),
    };
  },
});

/** A round's rows, and whether each index tells of the same ones as the table, in its order. */
export const audit = query({
  args: { round: v.number() },
  handler: async ({ db }, { round }) => {
    const entries = await db
      .query("entries")
      .withIndex("by_round", (q) => q.eq("round", round))
      .collect();
    const runs = await db
      .query("runs")
      .withIndex("by_round", (q) => q.eq("round", round))
      .collect();
    const counters = await db.query("counters").collect();
    const missing: string[] = [];
    for (const { _id, key } of entries) {
      const found = await db
        .query("entries")
        .withIndex("by_key", (q) => q.eq("key", key))
        .collect();
      if (!found.some((row) => row._id === _id)) missing.push(`entries.by_key ${key}`);
      if ((await db.get(_id)) === null) missing.push(`entries.by_id ${key}`);
    }
    for (const { _id, key, what } of runs) {
      const found = await db
        .query("runs")
        .withIndex("by_what", (q) => q.eq("what", what).eq("key", key))
        .collect();
      if (!found.some((row) => row._id === _id)) missing.push(`runs.by_what ${key}`);
    }
    return {
      entries: entries.map(({ key, kind }) => ({ key, kind })),
      runs: runs.map(({ key, what }) => ({ key, what })),
      counted: counters.reduce((sum, { entries: n }) => sum + n, 0),
      missing,
    };
  },
});
