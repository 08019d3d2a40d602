/**
 * A mutation and a query that run given steps: so that a case can name exactly the reads and writes of a transaction. Steps name
 * rows by their place in `ids`, which `seed` has returned.
 */
import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel.js";
import { internal } from "./_generated/api.js";
import {
  internalMutation,
  internalQuery,
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server.js";

export interface Read {
  op: "read";
  index?: "by_n" | "by_label";
  gt?: number;
  gte?: number;
  lt?: number;
  lte?: number;
  eq?: number | string;
  order?: "asc" | "desc";
  /** How many rows, and by which method of a query. Defaults to all of them by `collect`. */
  how?:
    | "first"
    | "unique"
    | "collect"
    | { take: number }
    /** `for await`, left after so many. */
    | { iterate: number }
    | { page: number; cursor: string | null; endCursor?: string };
  /** Only rows with this `n`, by `.filter`. */
  filter?: number;
}

export type Step =
  | Read
  /** The first rows of a whole table without an index, one that no other case writes. */
  | { op: "scan"; take: number }
  | { op: "insertScanned"; n: number }
  | { op: "get"; at: number }
  | { op: "insert"; n: number; label?: string; note?: unknown }
  | { op: "patch"; at: number; value: Partial<Doc<"rows">> }
  | { op: "replace"; at: number; value: { n: number; label?: string } }
  | { op: "delete"; at: number }
  /** Lets so much time pass, as a transaction that does a lot of reading does. */
  | { op: "hold"; ms: number }
  /** These steps as a nested mutation; `fails` makes it throw at its end, and the caller goes on. */
  | { op: "nested"; steps: Step[]; fails?: boolean }
  /** A nested query, on the stale snapshot or in the transaction. */
  | { op: "query"; stale: boolean; steps: Read[] }
  /** Schedules something for now, which does nothing that matters. */
  | { op: "schedule" }
  /** All that this transaction has written and read so far. */
  | { op: "metrics" };

const vProgram = { group: v.string(), ids: v.array(v.string()), steps: v.array(v.any()) };

/** A step's result: numbers of rows, in the order of the read. */
export type Seen = unknown;

export const seed = mutation({
  args: { group: v.string(), ns: v.array(v.number()) },
  returns: v.array(v.string()),
  handler: async (ctx, { group, ns }) => {
    const ids: string[] = [];
    for (const n of ns) ids.push(await ctx.db.insert("rows", { group, n, label: `row ${n}` }));
    return ids;
  },
});

/** Runs the steps, then leaves a stamp, which touches nothing that steps can read. */
export const write = mutation({
  args: { ...vProgram, plain: v.optional(v.boolean()) },
  returns: v.object({ startedAt: v.number(), ts: v.commitTs(), seen: v.any() }),
  handler: async (ctx, { group, ids, steps }) => {
    const startedAt = Date.now();
    const seen = await runAll(ctx, group, ids, steps as Step[]);
    await ctx.db.insert("stamps", { group, n: 0, ts: ctx.db.vars.commitTs });
    return { startedAt, ts: ctx.db.vars.commitTs, seen };
  },
});

/** Runs the steps and nothing else: without a step that writes, it writes nothing. */
export const only = mutation({
  args: vProgram,
  returns: v.any(),
  handler: (ctx, { group, ids, steps }) => runAll(ctx, group, ids, steps as Step[]),
});

export const look = query({
  args: vProgram,
  returns: v.any(),
  handler: async (ctx, { group, ids, steps }) => {
    const seen: Seen[] = [];
    for (const step of steps as Step[]) seen.push(await lookStep(ctx, group, ids, step));
    return seen;
  },
});

export const nested = internalMutation({
  args: { ...vProgram, fails: v.boolean() },
  returns: v.any(),
  handler: async (ctx, { group, ids, steps, fails }) => {
    const seen = await runAll(ctx, group, ids, steps as Step[]);
    if (fails) throw new Error("told to fail");
    return seen;
  },
});

export const nothing = internalMutation({
  args: {},
  returns: v.null(),
  handler: async () => null,
});

export const nestedLook = internalQuery({
  args: vProgram,
  returns: v.any(),
  handler: async (ctx, { group, ids, steps }) => {
    const seen: Seen[] = [];
    for (const step of steps as Step[]) seen.push(await lookStep(ctx, group, ids, step));
    return seen;
  },
});

async function runAll(ctx: MutationCtx, group: string, ids: string[], steps: Step[]) {
  const seen: Seen[] = [];
  for (const step of steps) seen.push(await runStep(ctx, group, ids, step));
  return seen;
}

async function runStep(ctx: MutationCtx, group: string, ids: string[], step: Step): Promise<Seen> {
  switch (step.op) {
    case "insertScanned":
      return ctx.db.insert("scanned", { n: step.n });
    case "insert": {
      const { op: _op, ...fields } = step;
      return ctx.db.insert("rows", { group, ...fields });
    }
    case "patch":
      await ctx.db.patch("rows", ids[step.at] as Id<"rows">, step.value);
      return null;
    case "replace":
      await ctx.db.replace("rows", ids[step.at] as Id<"rows">, { group, ...step.value });
      return null;
    case "delete":
      await ctx.db.delete("rows", ids[step.at] as Id<"rows">);
      return null;
    case "nested": {
      const args = { group, ids, steps: step.steps, fails: step.fails ?? false };
      try {
        return await ctx.runMutation(internal.rows.nested, args);
      } catch (error) {
        return (error as Error).message;
      }
    }
    case "query": {
      const args = { group, ids, steps: step.steps };
      return await (step.stale
        ? ctx.runQuery(internal.rows.nestedLook, args, { useStaleSnapshot: true })
        : ctx.runQuery(internal.rows.nestedLook, args));
    }
    case "schedule":
      return ctx.scheduler.runAfter(0, internal.rows.nothing, {});
    case "metrics":
      return ctx.meta.getTransactionMetrics();
    case "hold":
      return hold(ctx, step.ms);
    default:
      return lookStep(ctx, group, ids, step);
  }
}

async function lookStep(ctx: QueryCtx, group: string, ids: string[], step: Step): Promise<Seen> {
  if (step.op === "get") return (await ctx.db.get("rows", ids[step.at] as Id<"rows">))?.n ?? null;
  if (step.op === "hold") return wait(ctx, step.ms);
  if (step.op === "scan") return numbers(await ctx.db.query("scanned").take(step.take));
  if (step.op === "read") return read(ctx, group, step);
  throw new Error(`A query cannot do ${step.op}.`);
}

/** Time passes while the database answers, which costs no user time; the row that it reads does not exist. */
async function hold(ctx: QueryCtx, ms: number): Promise<null> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < ms) await nobody(ctx);
  return null;
}

/** The same in a query, where no clock moves: by a number of reads of which one takes some 50 µs at least. */
async function wait(ctx: QueryCtx, ms: number): Promise<null> {
  for (let i = 0; i < ms * 10; i++) await nobody(ctx);
  return null;
}

function nobody(ctx: QueryCtx) {
  return ctx.db
    .query("strict")
    .withIndex("by_id", (q) => q.eq("_id", NONE))
    .first();
}

/** An id without a row: a read of it finds nothing, so it costs neither documents nor bytes. */
const NONE = "none" as Id<"strict">;

async function read(ctx: QueryCtx, group: string, step: Read): Promise<Seen> {
  const { index = "by_n", order = "asc", how = "collect", filter } = step;
  const from = ctx.db.query("rows");
  const indexed =
    index === "by_label"
      ? from.withIndex("by_label", (q) => q.eq("group", group).eq("label", step.eq as string))
      : from.withIndex("by_n", (q) => {
          const all = q.eq("group", group);
          if (step.eq !== undefined) return all.eq("n", step.eq as number);
          const low =
            step.gt !== undefined
              ? all.gt("n", step.gt)
              : step.gte !== undefined
                ? all.gte("n", step.gte)
                : all;
          if (step.lt !== undefined) return low.lt("n", step.lt);
          return step.lte === undefined ? low : low.lte("n", step.lte);
        });
  const ordered = indexed.order(order);
  const rows = filter === undefined ? ordered : ordered.filter((q) => q.eq(q.field("n"), filter));
  if (how === "collect") return numbers(await rows.collect());
  if (how === "first") return (await rows.first())?.n ?? null;
  if (how === "unique") return (await rows.unique())?.n ?? null;
  if ("take" in how) return numbers(await rows.take(how.take));
  if ("iterate" in how) {
    const met: number[] = [];
    for await (const row of rows) {
      met.push(row.n);
      if (met.length === how.iterate) break;
    }
    return met;
  }
  const { page: numItems, cursor, endCursor } = how;
  const result = await rows.paginate({ numItems, cursor, ...(endCursor ? { endCursor } : {}) });
  return { ...result, page: numbers(result.page) };
}

const numbers = (rows: { n: number }[]) => rows.map(({ n }) => n);
