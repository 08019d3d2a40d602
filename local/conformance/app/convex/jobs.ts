/** Scheduled functions: their callers, their effects, and their state as other functions see it. */
import { createFunctionHandle, makeFunctionReference } from "convex/server";
import { v } from "convex/values";
import { api, internal } from "./_generated/api.js";
import type { Id } from "./_generated/dataModel.js";
import {
  action,
  internalAction,
  internalMutation,
  mutation,
  query,
  type MutationCtx,
} from "./_generated/server.js";

const vGroup = { group: v.string() };
const vWhat = v.union(
  v.literal("note"),
  v.literal("fails"),
  v.literal("noteAction"),
  v.literal("failsAction"),
  v.literal("slowAction"),
  v.literal("looksAtItself"),
  v.literal("wrongArgs"),
  v.literal("aQuery"),
  v.literal("hot"),
);

/** The function that was scheduled ran: one row, with how. */
export const note = internalMutation({
  args: { ...vGroup, n: v.number() },
  returns: v.null(),
  handler: async (ctx, { group, n }) => {
    const { scheduledFunctionId } = await ctx.meta.getRequestMetadata();
    await ctx.db.insert("rows", { group, n, note: { at: Date.now(), by: scheduledFunctionId } });
    return null;
  },
});

/** The cron's function: inserts its own identity. */
export const beat = internalMutation({
  args: vGroup,
  returns: v.null(),
  handler: async (ctx, { group }) => {
    const identity = await ctx.auth.getUserIdentity();
    await ctx.db.insert("rows", { group, n: 1, note: { identity } });
    return null;
  },
});

export const fails = internalMutation({
  args: { ...vGroup, n: v.number() },
  returns: v.null(),
  handler: async (ctx, { group, n }) => {
    await ctx.db.insert("rows", { group, n });
    throw new Error("told to fail");
  },
});

export const noteAction = internalAction({
  args: { ...vGroup, n: v.number() },
  returns: v.null(),
  handler: async (ctx, args): Promise<null> => ctx.runMutation(internal.jobs.note, args),
});

export const failsAction = internalAction({
  args: { ...vGroup, n: v.number() },
  returns: v.null(),
  handler: async (ctx, args) => {
    await ctx.runMutation(internal.jobs.note, args);
    throw new Error("told to fail");
  },
});

/** Says that it has begun, then runs until a row with the number 0 is there. */
export const slowAction = internalAction({
  args: { ...vGroup, n: v.number() },
  returns: v.null(),
  handler: async (ctx, { group, n }): Promise<null> => {
    await ctx.runMutation(internal.jobs.note, { group, n });
    while (!(await ctx.runQuery(api.jobs.ended, { group }))) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await ctx.runMutation(internal.jobs.scheduleNote, { group, n: n + 100 });
    return null;
  },
});

export const ended = query({
  args: vGroup,
  returns: v.boolean(),
  handler: async (ctx, { group }) =>
    (await ctx.db
      .query("rows")
      .withIndex("by_n", (q) => q.eq("group", group).eq("n", 0))
      .first()) !== null,
});

export const scheduleNote = internalMutation({
  args: { ...vGroup, n: v.number() },
  returns: v.string(),
  handler: async (ctx, args): Promise<string> => {
    const id: string = await ctx.scheduler.runAfter(0, internal.jobs.note, args);
    await ctx.db.insert("rows", { group: args.group, n: -args.n, label: id });
    return id;
  },
});

/** The state that it has itself, while it runs. */
export const looksAtItself = internalMutation({
  args: { ...vGroup, n: v.number() },
  returns: v.null(),
  handler: async (ctx, { group, n }) => {
    const { scheduledFunctionId } = await ctx.meta.getRequestMetadata();
    const id = scheduledFunctionId as Id<"_scheduled_functions"> | null;
    const state = id === null ? null : (await ctx.db.system.get(id))?.state.kind;
    await ctx.db.insert("rows", { group, n, note: state ?? null });
    return null;
  },
});

/** Reads, waits, and writes the same row as all other calls. */
export const hot = internalMutation({
  args: { ...vGroup, n: v.number() },
  returns: v.null(),
  handler: async (ctx, { group, n }) => {
    const row = await ctx.db
      .query("rows")
      .withIndex("by_n", (q) => q.eq("group", group))
      .first();
    await ctx.runQuery(internal.rows.nestedLook, {
      group,
      ids: [],
      steps: [{ op: "hold", ms: 3 }],
    });
    if (row === null) await ctx.db.insert("rows", { group, n });
    else await ctx.db.patch("rows", row._id, { n: row.n + n });
    return null;
  },
});

async function schedule(ctx: MutationCtx, what: string, group: string, n: number, ms: number) {
  const { jobs } = internal;
  const args = { group, n };
  switch (what) {
    case "noteAction":
      return ctx.scheduler.runAfter(ms, jobs.noteAction, args);
    case "failsAction":
      return ctx.scheduler.runAfter(ms, jobs.failsAction, args);
    case "slowAction":
      return ctx.scheduler.runAfter(ms, jobs.slowAction, args);
    case "fails":
      return ctx.scheduler.runAfter(ms, jobs.fails, args);
    case "looksAtItself":
      return ctx.scheduler.runAfter(ms, jobs.looksAtItself, args);
    case "hot":
      return ctx.scheduler.runAfter(ms, jobs.hot, args);
    case "wrongArgs":
      return ctx.scheduler.runAfter(ms, jobs.note, { group, n: "no number" as unknown as number });
    case "aQuery": {
      const handle = await createFunctionHandle(api.jobs.ended);
      return ctx.scheduler.runAfter(ms, handle as unknown as typeof jobs.note, args);
    }
    default:
      return ctx.scheduler.runAfter(ms, jobs.note, args);
  }
}

export const later = mutation({
  args: { ...vGroup, what: vWhat, ns: v.array(v.number()), ms: v.number() },
  returns: v.array(v.string()),
  handler: async (ctx, { group, what, ns, ms }) => {
    const ids: string[] = [];
    for (const n of ns) ids.push(await schedule(ctx, what, group, n, ms));
    return ids;
  },
});

/** All of them in one transaction, as many as asked for. */
export const many = mutation({
  args: { ...vGroup, count: v.number(), chars: v.number() },
  returns: v.null(),
  handler: async (ctx, { group, count, chars }) => {
    const args = { group: `${group}${"x".repeat(chars)}`, n: 1 };
    // Never due: only the limit matters.
    const ids: Id<"_scheduled_functions">[] = [];
    for (let i = 0; i < count; i++) {
      ids.push(await ctx.scheduler.runAfter(86_400_000, internal.jobs.note, args));
    }
    for (const id of ids) await ctx.scheduler.cancel(id);
    return null;
  },
});

export const laterAt = mutation({
  args: { ...vGroup, n: v.number(), at: v.number() },
  returns: v.string(),
  handler: (ctx, { at, ...args }): Promise<string> =>
    ctx.scheduler.runAt(at, internal.jobs.note, args),
});

export const laterAndFail = mutation({
  args: vGroup,
  returns: v.null(),
  handler: async (ctx, { group }) => {
    await ctx.scheduler.runAfter(0, internal.jobs.note, { group, n: 1 });
    throw new Error("after scheduling");
  },
});

/** Scheduled in a nested call that fails, and in the caller that goes on. */
export const laterInFailed = mutation({
  args: vGroup,
  returns: v.null(),
  handler: async (ctx, { group }) => {
    await ctx.runMutation(api.jobs.laterAndFail, { group }).catch(() => null);
    await ctx.scheduler.runAfter(0, internal.jobs.note, { group, n: 2 });
    return null;
  },
});

export const badDelay = mutation({
  args: { ms: v.number() },
  returns: v.null(),
  handler: async (ctx, { ms }) => {
    await ctx.scheduler.runAfter(ms, internal.jobs.note, { group: "never", n: 0 });
    return null;
  },
});

export const laterMissing = mutation({
  args: {},
  returns: v.null(),
  handler: async (ctx) => {
    await ctx.scheduler.runAfter(0, makeFunctionReference<"mutation">("jobs:noSuchThing"), {});
    return null;
  },
});

export const fromAction = action({
  args: { ...vGroup, ms: v.number(), cancels: v.boolean() },
  returns: v.string(),
  handler: async (ctx, { group, ms, cancels }): Promise<string> => {
    const id = await ctx.scheduler.runAfter(ms, internal.jobs.note, { group, n: 1 });
    if (cancels) await ctx.scheduler.cancel(id);
    return id;
  },
});

/** It has already happened when the action fails. */
export const fromFailingAction = action({
  args: vGroup,
  returns: v.null(),
  handler: async (ctx, { group }) => {
    await ctx.scheduler.runAfter(0, internal.jobs.note, { group, n: 1 });
    throw new Error("after scheduling");
  },
});

export const cancel = mutation({
  args: { id: v.id("_scheduled_functions") },
  returns: v.null(),
  handler: async (ctx, { id }) => {
    await ctx.scheduler.cancel(id);
    return null;
  },
});

export const state = query({
  args: { id: v.id("_scheduled_functions") },
  returns: v.any(),
  handler: (ctx, { id }) => ctx.db.system.get(id),
});

export const newest = query({
  args: { count: v.number() },
  returns: v.array(v.string()),
  handler: async (ctx, { count }) =>
    (await ctx.db.system.query("_scheduled_functions").order("desc").take(count)).map(
      ({ _id }) => _id,
    ),
});

/** The rows that scheduled functions have left, in the order in which they committed. */
export const notes = query({
  args: vGroup,
  returns: v.array(
    v.object({ n: v.number(), note: v.any(), label: v.union(v.string(), v.null()) }),
  ),
  handler: async (ctx, { group }) => {
    const rows = await ctx.db
      .query("rows")
      .withIndex("by_n", (q) => q.eq("group", group))
      .collect();
    rows.sort((a, b) => a._creationTime - b._creationTime);
    return rows.map(({ n, note, label }) => ({ n, note: note ?? null, label: label ?? null }));
  },
});
