/** Functions that call functions: nested in a transaction, from actions, into components. */
import { createFunctionHandle, makeFunctionReference, type FunctionHandle } from "convex/server";
import { ConvexError, v } from "convex/values";
import { api, components, internal } from "./_generated/api.js";
import type { Id } from "./_generated/dataModel.js";
import { action, internalAction, internalMutation, mutation, query } from "./_generated/server.js";
import type { Step } from "./rows.js";

const vGroup = { group: v.string() };

/** Writes, and fails with the error that is asked for. */
export const fail = mutation({
  args: { ...vGroup, how: v.union(v.literal("error"), v.literal("data"), v.literal("string")) },
  returns: v.null(),
  handler: async (ctx, { group, how }) => {
    await ctx.db.insert("rows", { group, n: 1 });
    console.log("before it fails");
    if (how === "data") throw new ConvexError({ code: "told", group });
    // eslint-disable-next-line @typescript-eslint/only-throw-error
    if (how === "string") throw "a string";
    throw new Error("told to fail");
  },
});

export const failingQuery = query({
  args: {},
  returns: v.null(),
  handler: async () => {
    throw new ConvexError("no");
  },
});

/** A nested failure as its caller gets it: its kind, its words, its data. */
export const caught = mutation({
  args: { ...vGroup, how: v.union(v.literal("error"), v.literal("data"), v.literal("string")) },
  returns: v.any(),
  handler: async (ctx, args): Promise<unknown> => {
    try {
      await ctx.runMutation(api.calls.fail, args);
      return "no error";
    } catch (error) {
      const isData = error instanceof ConvexError;
      return { isData, message: (error as Error).message, data: isData ? error.data : null };
    }
  },
});

/** Returns a value of another type than promised, after it has written. */
export const wrongReturn = internalMutation({
  args: vGroup,
  returns: v.number(),
  handler: async (ctx, { group }) => {
    await ctx.db.insert("rows", { group, n: 7 });
    return "seven" as unknown as number;
  },
});

export const keepsWritesOfWrongReturn = mutation({
  args: vGroup,
  returns: v.string(),
  handler: async (ctx, args) => {
    try {
      await ctx.runMutation(internal.calls.wrongReturn, args);
      return "no error";
    } catch (error) {
      return (error as Error).message;
    }
  },
});

/** Calls itself `depth` times. */
export const deep = internalMutation({
  args: { ...vGroup, depth: v.number() },
  returns: v.number(),
  handler: async (ctx, { group, depth }): Promise<number> =>
    depth === 0 ? 0 : 1 + (await ctx.runMutation(internal.calls.deep, { group, depth: depth - 1 })),
});

/** Says when it begins and when it ends, in one row each. */
export const twoSteps = internalMutation({
  args: { ...vGroup, n: v.number() },
  returns: v.null(),
  handler: async (ctx, { group, n }) => {
    await ctx.db.insert("rows", { group, n, note: "begins" });
    await ctx.db
      .query("rows")
      .withIndex("by_n", (q) => q.eq("group", group))
      .collect();
    await ctx.db.insert("rows", { group, n, note: "ends" });
    return null;
  },
});

export const parallel = mutation({
  args: vGroup,
  returns: v.array(v.string()),
  handler: async (ctx, { group }) => {
    await Promise.all([1, 2, 3].map((n) => ctx.runMutation(internal.calls.twoSteps, { group, n })));
    const rows = await ctx.db.query("rows").order("desc").take(6);
    return rows.reverse().map(({ n, note }) => `${n} ${note}`);
  },
});

/** Steps under `transactionLimits`, after `before` has used some of the transaction's own. */
export const limited = mutation({
  args: { ...vGroup, limits: v.any(), before: v.array(v.any()), steps: v.array(v.any()) },
  returns: v.string(),
  handler: async (ctx, { group, limits, before, steps }) => {
    const run = { group, ids: [], fails: false };
    await ctx.runMutation(internal.rows.nested, { ...run, steps: before as Step[] });
    const options = { transactionLimits: limits as Record<string, number> };
    try {
      await ctx.runMutation(internal.rows.nested, { ...run, steps: steps as Step[] }, options);
      return "within";
    } catch (error) {
      return (error as Error).message;
    }
  },
});

export const staleInQuery = query({
  args: vGroup,
  returns: v.any(),
  handler: async (ctx, { group }): Promise<unknown> => {
    const options = { useStaleSnapshot: true } as const;
    return ctx.runQuery(internal.rows.nestedLook, { group, ids: [], steps: [] }, options as object);
  },
});

/** Deletes, changes and inserts rows ahead of a loop that is under way; returns the rows of the loop, and the rows after it. */
export const writesAhead = mutation({
  args: vGroup,
  returns: v.object({ met: v.array(v.number()), left: v.array(v.number()) }),
  handler: async ({ db }, { group }) => {
    const rows = () => db.query("rows").withIndex("by_n", (q) => q.eq("group", group));
    const ids: Id<"rows">[] = [];
    for (const n of [10, 20, 30]) ids.push(await db.insert("rows", { group, n }));
    const met: number[] = [];
    for await (const { n } of rows()) {
      met.push(n);
      if (met.length > 1) continue;
      await db.insert("rows", { group, n: 15 });
      await db.delete("rows", ids[1]!);
      await db.patch("rows", ids[2]!, { n: 40 });
    }
    return { met, left: (await rows().collect()).map(({ n }) => n) };
  },
});

/** The nested call's clock beside the caller's own. */
export const nestedNow = mutation({
  args: {},
  returns: v.array(v.number()),
  handler: async (ctx): Promise<number[]> => [
    Date.now(),
    await ctx.runMutation(components.child.lib.now, {}),
  ],
});

export const nestedRandom = query({
  args: {},
  returns: v.array(v.number()),
  handler: async (ctx): Promise<number[]> => [
    Math.random(),
    await ctx.runQuery(components.child.lib.random, {}),
    await ctx.runQuery(components.child.lib.random, {}),
  ],
});

/** Both the app's rows and the child's, then an error after both: neither must stay. */
export const acrossAndFail = mutation({
  args: vGroup,
  returns: v.null(),
  handler: async (ctx, { group }) => {
    await ctx.db.insert("rows", { group, n: 1 });
    await ctx.runMutation(components.child.lib.add, { group, n: 1 });
    throw new Error("after both");
  },
});

export const childFails = mutation({
  args: vGroup,
  returns: v.any(),
  handler: async (ctx, { group }): Promise<unknown> => {
    await ctx.db.insert("rows", { group, n: 1 });
    const message = await ctx
      .runMutation(components.child.lib.addAndFail, { group, n: 1 })
      .then(() => "no error")
      .catch((error: Error) => error.message);
    return { message, child: await ctx.runQuery(components.child.lib.list, { group }) };
  },
});

/** One call of the child by its path, which need not be one that is allowed. */
export const child = mutation({
  args: { mount: v.union(v.literal("child"), v.literal("second")), fn: v.string(), args: v.any() },
  returns: v.any(),
  handler: async (ctx, { mount, fn, args }): Promise<unknown> => {
    const lib = components[mount].lib as unknown as Record<string, any>;
    const reads = ["list", "get", "page", "env", "random", "path", "inner", "laterState"];
    return reads.includes(fn) ? ctx.runQuery(lib[fn], args) : ctx.runMutation(lib[fn], args);
  },
});

export const childAction = action({
  args: { ...vGroup, n: v.number() },
  returns: v.array(v.number()),
  handler: (ctx, args): Promise<number[]> => ctx.runAction(components.child.lib.act, args),
});

export const ownHandle = mutation({
  args: {},
  returns: v.array(v.string()),
  handler: async (): Promise<string[]> => [
    await createFunctionHandle(internal.calls.twoSteps),
    await createFunctionHandle(internal.calls.twoSteps),
    await createFunctionHandle(components.child.lib.add),
  ],
});

export const byHandle = mutation({
  args: { handle: v.string(), args: v.any() },
  returns: v.any(),
  handler: (ctx, { handle, args }) =>
    ctx.runMutation(handle as FunctionHandle<"mutation">, args as Record<string, unknown>),
});

export const throughChild = mutation({
  args: { handle: v.string(), args: v.any() },
  returns: v.any(),
  handler: (ctx, { handle, args }): Promise<unknown> =>
    ctx.runMutation(components.child.lib.callHandle, { handle, args: args as unknown }),
});

/** A reference to a function that does not exist. */
export const missing = mutation({
  args: {},
  returns: v.null(),
  handler: async (ctx) => {
    await ctx.runMutation(makeFunctionReference<"mutation">("calls:noSuchThing"), {});
    return null;
  },
});

/** Many mutations at once from one action, each with its own number; returns the end of each. */
export const burst = action({
  args: { ...vGroup, at: v.string(), count: v.number() },
  returns: v.array(v.string()),
  handler: async (ctx, { group, at, count }): Promise<string[]> =>
    Promise.all(
      Array.from({ length: count }, async () => {
        try {
          await ctx.runMutation(internal.calls.increment, { group, at });
          return "ok";
        } catch (error) {
          return (error as Error).message;
        }
      }),
    ),
});

/** Read, wait, write: the mutation that conflicts with itself most. */
export const increment = internalMutation({
  args: { ...vGroup, at: v.string() },
  returns: v.null(),
  handler: async (ctx, { group, at }) => {
    const row = (await ctx.db.get("rows", at as Id<"rows">))!;
    await ctx.runQuery(internal.rows.nestedLook, {
      group,
      ids: [],
      steps: [{ op: "hold", ms: 5 }],
    });
    await ctx.db.patch("rows", row._id, { n: row.n + 1 });
    return null;
  },
});

/** Three commits of one action, and its reads between them. */
export const actionSeesItsWrites = action({
  args: vGroup,
  returns: v.array(v.number()),
  handler: async (ctx, { group }): Promise<number[]> => {
    const counts: number[] = [];
    for (const n of [1, 2, 3]) {
      await ctx.runMutation(internal.calls.twoSteps, { group, n });
      const read = { op: "read" } as const;
      const [rows] = (await ctx.runQuery(internal.rows.nestedLook, {
        group,
        ids: [],
        steps: [read],
      })) as [number[]];
      counts.push(rows.length);
    }
    return counts;
  },
});

/** A failed mutation of an action: earlier commits stay. */
export const actionFails = action({
  args: { ...vGroup, catches: v.boolean() },
  returns: v.string(),
  handler: async (ctx, { group, catches }): Promise<string> => {
    await ctx.runMutation(internal.calls.twoSteps, { group, n: 1 });
    const failing = ctx.runMutation(api.calls.fail, { group, how: "data" });
    if (!catches) await failing;
    return failing.then(
      () => "no error",
      (error) => (error instanceof ConvexError ? "data" : "no data"),
    );
  },
});

export const inner = internalAction({
  args: vGroup,
  returns: v.string(),
  handler: async (_ctx, { group }) => `inner ${group}`,
});

export const actionCallsAction = action({
  args: vGroup,
  returns: v.string(),
  handler: (ctx, args): Promise<string> => ctx.runAction(internal.calls.inner, args),
});

/** An action's result from its mutation. */
export const tryMutation = action({
  args: { ...vGroup, ids: v.array(v.string()), steps: v.array(v.any()) },
  returns: v.string(),
  handler: async (ctx, args): Promise<string> => {
    try {
      await ctx.runMutation(api.rows.only, args);
      return "no error";
    } catch (error) {
      return (error as Error).message;
    }
  },
});
