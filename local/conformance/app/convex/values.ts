/** Values: stored, ordered, handed through, refused. */
import { v } from "convex/values";
import type { Id } from "./_generated/dataModel.js";
import { mutation, query } from "./_generated/server.js";

export const store = mutation({
  args: { group: v.string(), values: v.array(v.any()) },
  returns: v.array(v.string()),
  handler: async (ctx, { group, values }) => {
    const ids: string[] = [];
    for (const value of values) ids.push(await ctx.db.insert("values", { group, value }));
    return ids;
  },
});

/** One row without the field. */
export const storeNothing = mutation({
  args: { group: v.string() },
  returns: v.id("values"),
  handler: (ctx, { group }) => ctx.db.insert("values", { group }),
});

export const ordered = query({
  args: { group: v.string(), order: v.union(v.literal("asc"), v.literal("desc")) },
  returns: v.array(v.any()),
  handler: async (ctx, { group, order }) => {
    const rows = await ctx.db
      .query("values")
      .withIndex("by_value", (q) => q.eq("group", group))
      .order(order)
      .collect();
    return rows.map((row) => ({ has: "value" in row, value: (row.value ?? null) as unknown }));
  },
});

export const equal = query({
  args: { group: v.string(), value: v.any() },
  returns: v.number(),
  handler: async (ctx, { group, value }) =>
    (
      await ctx.db
        .query("values")
        .withIndex("by_value", (q) => q.eq("group", group).eq("value", value))
        .collect()
    ).length,
});

export const equalToNothing = query({
  args: { group: v.string() },
  returns: v.number(),
  handler: async (ctx, { group }) =>
    (
      await ctx.db
        .query("values")
        .withIndex("by_value", (q) => q.eq("group", group).eq("value", undefined))
        .collect()
    ).length,
});

export const echo = query({
  args: { value: v.any() },
  returns: v.any(),
  handler: async (_ctx, { value }) => value as unknown,
});

export const long = query({
  args: { group: v.string(), size: v.number() },
  returns: v.string(),
  handler: async (_ctx, { size }) => "x".repeat(size),
});

/** A text with half a character at its end. */
export const halfCharacter = query({
  args: { half: v.string() },
  returns: v.string(),
  handler: async (_ctx, { half }) => `half a character: ${String.fromCharCode(parseInt(half, 16))}`,
});

/** A value made inside, of the size or shape that is asked for. */
export const make = mutation({
  args: { group: v.string(), what: v.string(), size: v.number() },
  returns: v.null(),
  handler: async (ctx, { group, what, size }) => {
    const field = what === "topField_" ? { _field: size } : { value: made(what, size) };
    await ctx.db.insert("values", { group, ...field });
    return null;
  },
});

function made(what: string, size: number): unknown {
  if (what === "string") return "x".repeat(size);
  if (what === "array") return Array.from({ length: size }, () => 0);
  if (what === "object")
    return Object.fromEntries(Array.from({ length: size }, (_, i) => [`f${i}`, 0]));
  if (what === "nested") {
    let value: unknown = 0;
    for (let i = 0; i < size; i++) value = [value];
    return value;
  }
  if (what === "field$") return { $field: 1 };
  if (what === "function") return () => 1;
  if (what === "half") return String.fromCharCode(size);
  if (what === "date") return new Date(0);
  if (what === "bigint") return 2n ** BigInt(size);
  throw new Error(`What is ${what}?`);
}

export const strict = mutation({
  args: { row: v.any() },
  returns: v.string(),
  handler: (ctx, { row }) => ctx.db.insert("strict", row as never),
});

export const typedArgs = query({
  args: {
    n: v.number(),
    s: v.optional(v.string()),
    id: v.optional(v.id("rows")),
    u: v.optional(v.union(v.literal("a"), v.null())),
  },
  returns: v.any(),
  handler: async (_ctx, args) => args,
});

export const wrongReturns = query({
  args: {},
  returns: v.number(),
  handler: async () => "no number" as unknown as number,
});

export const undefinedReturns = query({ args: {}, handler: async () => undefined });

export const normalize = query({
  args: { table: v.string(), id: v.string() },
  returns: v.union(v.string(), v.null()),
  handler: async (ctx, { table, id }) => ctx.db.normalizeId(table as "rows", id),
});

/** `get` by an id of another table, as an untyped caller may. */
export const getAs = query({
  args: { table: v.union(v.string(), v.null()), id: v.string() },
  returns: v.any(),
  handler: async (ctx, { table, id }) =>
    table === null ? ctx.db.get(id as Id<"rows">) : ctx.db.get(table as "rows", id as Id<"rows">),
});

export const document = query({
  args: { id: v.id("rows") },
  returns: v.any(),
  handler: (ctx, { id }) => ctx.db.get("rows", id),
});

export const removeField = mutation({
  args: { id: v.id("rows") },
  returns: v.any(),
  handler: async (ctx, { id }) => {
    await ctx.db.patch("rows", id, { label: undefined });
    return ctx.db.get("rows", id);
  },
});

export const badRange = query({
  args: { what: v.string() },
  returns: v.any(),
  handler: async (ctx, { what }) => {
    const rows = ctx.db.query("rows");
    const any = (build: (q: any) => any) => rows.withIndex("by_n", build as never).collect();
    if (what === "skips") return any((q) => q.eq("n", 1));
    if (what === "twoLower") return any((q) => q.eq("group", "g").gt("n", 1).gte("n", 2));
    if (what === "noSuchField") return any((q) => q.eq("label", "x"));
    if (what === "noSuchIndex") return rows.withIndex("by_nothing" as never).collect();
    if (what === "creationTime") {
      return any((q) => q.eq("group", "g").eq("n", 1).gt("_creationTime", 0));
    }
    throw new Error(`What is ${what}?`);
  },
});

/** Filters that a query refuses as it evaluates them. */
export const badFilter = mutation({
  args: { group: v.string(), what: v.string() },
  returns: v.number(),
  handler: async (ctx, { group, what }) => {
    await ctx.db.insert("values", { group, value: 2n ** 63n - 1n });
    const rows = ctx.db.query("values").withIndex("by_value", (q) => q.eq("group", group));
    const any = async (build: (q: any) => any) => (await rows.filter(build).collect()).length;
    if (what === "within") return any((q) => q.gt(q.sub(q.field("value"), 1n), 0n));
    if (what === "int64") return any((q) => q.lt(q.add(q.field("value"), 1n), 0n));
    if (what === "negated") return any((q) => q.lt(q.neg(q.sub(q.neg(q.field("value")), 1n)), 0n));
    if (what === "commitTs") return any((q) => q.neq(q.field("value"), ctx.db.vars.commitTs));
    throw new Error(`What is ${what}?`);
  },
});

export const deleteTwice = mutation({
  args: { id: v.id("rows"), then: v.string() },
  returns: v.null(),
  handler: async (ctx, { id, then }) => {
    await ctx.db.delete("rows", id);
    if (then === "delete") await ctx.db.delete("rows", id);
    if (then === "patch") await ctx.db.patch("rows", id, { n: 1 });
    if (then === "replace") await ctx.db.replace("rows", id, { group: "g", n: 1 });
    return null;
  },
});
