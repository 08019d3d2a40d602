/** The measurement's preparation, and its later reads. */
import { v } from "convex/values";
import { internalMutation, internalQuery } from "./builders.js";
import { millis } from "./claim.js";

/** A quiet gate, and lanes asleep. */
export const queue = internalMutation({
  args: { caps: v.array(v.number()) },
  handler: async ({ db }, { caps }) => {
    await db.insert("gate", { state: "quiet" });
    await db.insert("door", { open: false });
    for (const [n, cap] of caps.entries()) await db.insert("lanes", { n, cap, state: "asleep" });
  },
});

/** Whether all has come to rest. */
export const rest = internalQuery({
  args: {},
  handler: async ({ db }) => {
    const lanes = await db.query("lanes").collect();
    const pending = await db
      .query("jobs")
      .withIndex("status", (q) => q.eq("status", "pending"))
      .first();
    const gate = await db.query("gate").unique();
    return {
      pending: pending !== null,
      awake: lanes.filter(({ state }) => state === "awake").length,
      gate: gate!.state,
    };
  },
});

/** How long each job waited for its start since its enqueue committed. */
export const result = internalQuery({
  args: {},
  handler: async ({ db }) => {
    const jobs = await db.query("jobs").collect();
    return {
      done: jobs.filter(({ status }) => status === "done").length,
      waitsMs: jobs.flatMap(({ enqueuedTs, startedAt }) =>
        startedAt === undefined ? [] : [startedAt - millis(enqueuedTs)],
      ),
    };
  },
});
