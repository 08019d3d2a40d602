/** The app's reaction to a job's end: it inserts a row, or throws while it is broken, at once or at its end. */
import { v } from "convex/values";
import { vOnComplete } from "../../../src/client/index.js";
import { meetOthers } from "./meeting.js";
import { vDone, vWork } from "./payload.js";
import { internalMutation } from "./server.js";

export const done = internalMutation({
  args: vOnComplete({ payload: vWork, result: vDone, context: v.any() }),
  returns: v.null(),
  handler: async (ctx, { id, payload, outcome, attempt, context }) => {
    const isBroken = (await ctx.db.query("broken").first()) !== null;
    if (isBroken && payload.n % 2 === 0) throw new Error("The app is broken.");
    if (payload.n % 3 === 0) await meetOthers(ctx.db);
    const { status } = outcome;
    const told = { n: payload.n, job: id, attempt, status, context: (context ?? null) as unknown };
    await ctx.db.insert("told", told);
    // The platform refuses this value, but undoes nothing that the callee has written.
    return isBroken ? ("The app is broken." as never) : null;
  },
});
