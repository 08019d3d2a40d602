/** A function's surroundings: clock, dice, forbidden calls, its caller. */
import { v } from "convex/values";
import { action, internalQuery, mutation, query } from "./_generated/server.js";

/** Changes whenever this module is evaluated anew. */
let evaluations = 0;
evaluations += 1;
export const atLoad = Date.now();

export const clock = mutation({
  args: {},
  returns: v.any(),
  handler: async (ctx) => {
    const first = { now: Date.now(), date: new Date().getTime(), ticks: performance.now() };
    for (let i = 0; i < 50; i++) await ctx.db.query("strict").first();
    return [first, { now: Date.now(), date: new Date().getTime(), ticks: performance.now() }];
  },
});

export const queryTicks = query({
  args: {},
  returns: v.array(v.number()),
  handler: async (ctx) => {
    const before = performance.now();
    for (let i = 0; i < 50; i++) await ctx.db.query("strict").first();
    return [before, performance.now()];
  },
});

export const dice = mutation({
  args: {},
  returns: v.any(),
  handler: async () => ({
    numbers: [Math.random(), Math.random()],
    uuid: crypto.randomUUID(),
    bytes: [...crypto.getRandomValues(new Uint8Array(8))],
  }),
});

/** A query's dice: served from the cache as long as nothing it has read changes. */
export const cachedDice = query({
  args: { salt: v.string() },
  returns: v.number(),
  handler: async () => Math.random(),
});

/** The globals of these names that are there. */
export const globalsOf = query({
  args: { names: v.array(v.string()) },
  returns: v.array(v.string()),
  handler: async (_ctx, { names }) => names.filter((name) => name in globalThis),
});

export const thrownDice = query({
  args: { salt: v.string() },
  returns: v.null(),
  handler: async () => {
    throw new Error(`It fell on ${Math.random()}.`);
  },
});

export const cachedDiceOverRows = query({
  args: { group: v.string() },
  returns: v.number(),
  handler: async (ctx, { group }) => {
    await ctx.db
      .query("rows")
      .withIndex("by_n", (q) => q.eq("group", group))
      .collect();
    return Math.random();
  },
});

export const cachedClock = query({
  args: { salt: v.string() },
  returns: v.number(),
  handler: async () => Date.now(),
});

/** Makes calls that queries and mutations may not make. */
export const forbidden = mutation({
  args: { what: v.string() },
  returns: v.any(),
  handler: async (ctx, { what }) => {
    await ctx.db.insert("rows", { group: "forbidden", n: 1 });
    switch (what) {
      case "setTimeout":
        return void setTimeout(() => {}, 1);
      case "setInterval":
        return void setInterval(() => {}, 1);
      case "caughtTimer":
        try {
          return void setTimeout(() => {}, 1);
        } catch {
          return "caught";
        }
      case "clearTimeout":
        clearTimeout(1);
        return void clearInterval(2);
      case "fetch":
        return void (await fetch("http://127.0.0.1:9/"));
      case "import":
        return void (await import("convex/values"));
      case "generateKey":
        return void (await crypto.subtle.generateKey({ name: "AES-GCM", length: 128 }, true, [
          "encrypt",
        ]));
      default:
        return `nothing was forbidden about ${what}`;
    }
  },
});

export const queryWrites = query({
  args: {},
  returns: v.any(),
  handler: async (ctx) => typeof (ctx.db as unknown as Record<string, unknown>)["insert"],
});

export const unhandled = mutation({
  args: { group: v.string() },
  returns: v.null(),
  handler: async (ctx, { group }) => {
    await ctx.db.insert("rows", { group, n: 1 });
    void Promise.reject(new Error("nobody listens"));
    await ctx.db.query("strict").first();
    return null;
  },
});

export const never = mutation({
  args: {},
  returns: v.null(),
  handler: () => new Promise<null>(() => {}),
});

/** Returns before its calls are done. */
export const notAwaited = mutation({
  args: { group: v.string() },
  returns: v.null(),
  handler: async (ctx, { group }) => {
    void ctx.db.insert("rows", { group, n: 1 });
    void ctx.db.insert("rows", { group, n: 2 });
    return null;
  },
});

export const together = query({
  args: { group: v.string(), count: v.number() },
  returns: v.array(v.number()),
  handler: async (ctx, { group, count }) => {
    const reads = Array.from({ length: count }, (_, n) =>
      ctx.db
        .query("rows")
        .withIndex("by_n", (q) => q.eq("group", group).eq("n", n))
        .collect(),
    );
    return (await Promise.all(reads)).map((rows) => rows.length);
  },
});

export const evaluated = query({
  args: {},
  returns: v.any(),
  handler: async () => ({ evaluations, atLoad }),
});

export const environment = query({
  args: { name: v.string() },
  returns: v.union(v.string(), v.null()),
  handler: async (_ctx, { name }) => process.env[name] ?? null,
});

export const metadata = mutation({
  args: {},
  returns: v.any(),
  handler: async (ctx) => ({
    function: await ctx.meta.getFunctionMetadata(),
    request: await ctx.meta.getRequestMetadata(),
    deployment: await ctx.meta.getDeploymentMetadata(),
    identity: await ctx.auth.getUserIdentity(),
  }),
});

export const logs = mutation({
  args: {},
  returns: v.null(),
  handler: async () => {
    console.log("text", 1, { a: [1, 2] });
    console.warn("careful");
    console.error("wrong");
    return null;
  },
});

export const actionClock = action({
  args: {},
  returns: v.any(),
  handler: async () => {
    const before = { now: Date.now(), ticks: performance.now() };
    await new Promise((resolve) => setTimeout(resolve, 30));
    return { now: Date.now() - before.now, ticks: performance.now() - before.ticks };
  },
});

/** An import that queries and mutations may not make (`forbidden`). */
export const actionImports = action({
  args: {},
  returns: v.string(),
  handler: async () => typeof (await import("convex/values")).v,
});

export const asynchronous = query({
  args: {},
  returns: v.any(),
  handler: async () => {
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode("abc"));
    const hex = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0"));
    return {
      hex: hex.join(""),
      clone: structuredClone({ a: 1 }),
      url: new URL("/b", "http://a.c/").href,
    };
  },
});

/** Makes code of a string in either way; returns both results. */
export const generates = query({
  args: {},
  returns: v.array(v.string()),
  handler: async () =>
    // eslint-disable-next-line @typescript-eslint/no-implied-eval
    [() => eval("1 + 1") as number, () => new Function("return 1 + 1")() as number].map((run) => {
      try {
        return String(run());
      } catch (error) {
        return (error as Error).name;
      }
    }),
});

/** Whether errors of web functions are errors of the function's own realm. */
export const thrownByWeb = query({
  args: {},
  returns: v.array(v.boolean()),
  handler: async () => {
    const bad = [
      () => new URL("no url"),
      () => new Headers([["no name\n", "x"]]),
      () => structuredClone(() => {}),
    ];
    return bad.map((run) => {
      try {
        run();
        return false;
      } catch (error) {
        return error instanceof Error;
      }
    });
  },
});

export const hidden = internalQuery({
  args: {},
  returns: v.string(),
  handler: async () => "hidden",
});

export default query({
  args: {},
  returns: v.string(),
  handler: async () => "the module's default",
});
