/**
 * The jobs' handler and the app's own scheduled mutation. Both log their times: a log line costs neither a call nor a write.
 * They import nothing of Conveyor, since each handler that runs has a context of its own, into which its module is loaded.
 */
import {
  internalActionGeneric as internalAction,
  internalMutationGeneric as internalMutation,
} from "convex/server";
import { v, type Infer } from "convex/values";

export const vWork = v.object({ n: v.number(), ms: v.number() });
export type Work = Infer<typeof vWork>;

export const run = internalAction({
  args: vWork,
  returns: v.null(),
  handler: async (_ctx, { n, ms }) => {
    console.log(`began ${n}`);
    if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
    console.log(`ended ${n}`);
    return null;
  },
});

export const came = internalMutation({
  args: { n: v.number() },
  returns: v.null(),
  handler: async (_ctx, { n }) => {
    console.log(`came ${n}`);
    return null;
  },
});
