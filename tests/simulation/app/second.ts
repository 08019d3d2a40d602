/**
 * The component mounted once more, under another name: queues that are called as two of the first mount, with tokens, workers,
 * lanes and callbacks of their own. Only worlds that have this mount call anything here: see `workloads/secondMount.ts`.
 */
import { Conveyor, vOnComplete } from "../../../src/client/index.js";
import { v } from "convex/values";
import { turnOf, vDone, vWork } from "./payload.js";
import { internal, internalAction, internalMutation, mutation, secondComponent } from "./server.js";

const second = new Conveyor(secondComponent);
const job = {
  ...{ payload: vWork, result: vDone, context: v.any() },
  onComplete: () => internal.second.done as unknown,
};

const pulled = second.queue("pulled", job);
const acted = second.queue("acted", job);
acted.handledBy({ action: internal.second.act, job: true });

export const { create } = second.tokenApi();
export const { claim, complete, heartbeat, report, watch } = second.workerApi({
  queues: [pulled, acted],
});

export const act = internalAction({
  args: acted.handlerArgs,
  handler: async (_ctx, { payload, job: { attempt } }): Promise<any> => {
    const { ms } = turnOf(payload, attempt);
    await new Promise((resolve) => setTimeout(resolve, ms));
    return { n: payload.n, attempt };
  },
});

export const done = internalMutation({
  args: vOnComplete({ payload: vWork, result: vDone, context: v.any() }),
  handler: async (ctx, { id, payload }) => {
    await ctx.db.insert("toldOfSecond", { n: payload.n, job: id });
  },
});

export const enqueue = mutation({
  args: { queue: v.string(), jobs: v.array(vWork) },
  handler: async (ctx, { queue, jobs }) =>
    void (await (queue === "acted" ? acted : pulled).enqueueBatch(ctx, jobs)),
});
