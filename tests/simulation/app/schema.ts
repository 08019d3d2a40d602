/** The app's own tables: all of it is evidence. */
import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

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
  meeting: defineTable({ count: v.number() }),
});
