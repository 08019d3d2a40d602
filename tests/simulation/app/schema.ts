/** The app's own tables: all of it is evidence. */
import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
import { vTurn } from "./payload.js";

/** A row is a job; `ends` is the app's own result of each. */
const rows = defineTable({
  n: v.number(),
  turns: v.array(vTurn),
  state: v.string(),
  stop: v.optional(v.boolean()),
  result: v.optional(v.any()),
  ends: v.number(),
}).index("state", ["state"]);

export default defineSchema({
  /** Inserted in the mutation that enqueues: there if and only if the job is. */
  orders: defineTable({ n: v.number(), job: v.string(), queue: v.string(), isNew: v.boolean() }),
  /** Inserted by handlers that are mutations: there if and only if the attempt has succeeded. */
  effects: defineTable({ n: v.number(), job: v.string(), attempt: v.number() }),
  /** Inserted by `onComplete`. */
  told: defineTable({
    n: v.number(),
    job: v.string(),
    attempt: v.number(),
    status: v.string(),
    context: v.any(),
  }),
  /** The same of jobs of the second mount. */
  toldOfSecond: defineTable({ n: v.number(), job: v.string() }),
  /** For as long as a row is there, `onComplete` throws. */
  broken: defineTable({}),
  /** One row that callers, handlers and callbacks read and write: transactions that conflict there retry. */
  meeting: defineTable({ count: v.number(), text: v.optional(v.string()) }),
  notes: rows,
  documents: rows,
  /** `times`: in how many batches it was. */
  tallies: defineTable({ n: v.number(), state: v.string(), times: v.number() }).index("state", [
    "state",
  ]),
  /** The groups for which a worker works that is bound to them. */
  members: defineTable({ group: v.string() }),
});
