/** Handlers inside Convex, one of each kind. */
import type { GenericActionCtx } from "convex/server";
import { meetOthers, writeTooMuch } from "./meeting.js";
import { conveyor, gathered, ofKind, queueNamed } from "./queues.js";
import { turnOf } from "./payload.js";
import {
  internal,
  internalAction,
  internalMutation,
  internalQuery,
  type DataModel,
} from "./server.js";
import { take, takeAll, throwText } from "./turns.js";

const acts = {
  args: ofKind.acted[0]!.handlerArgs,
  handler: async (ctx: GenericActionCtx<DataModel>, { payload, job: told }: any): Promise<any> => {
    return await take({ ...told, payload }, queueNamed(told.queue).job(ctx, told));
  },
};
export const act = internalAction(acts);
/** The same by another name: some deploys do not have it. */
export const actToo = internalAction(acts);

export const inline = conveyor.inline(
  ofKind.inlined.map((queue) =>
    queue.inline(async (_ctx, job): Promise<any> => await take(job, job, ofKind.pulled[0])),
  ),
);

export const inlineBatches = gathered.inline(async (_ctx, jobs): Promise<any> => takeAll(jobs));

/**
 * Its effect is there if and only if the attempt has succeeded; now and then it conflicts with other transactions over one row.
 */
export const write = internalMutation({
  args: ofKind.written[0]!.handlerArgs,
  handler: async (ctx, { payload, job: { id, attempt } }): Promise<any> => {
    await ctx.db.insert("effects", { n: payload.n, job: id, attempt });
    const turn = turnOf(payload, attempt);
    if (turn.listens === true) await meetOthers(ctx.db);
    if (turn.end === "throws") throw new Error("It was to fail.");
    if (turn.end === "throwsText") throwText();
    if (turn.end === "returnsBadly") return { n: "not a number" };
    if (turn.end === "goesTooFar") await writeTooMuch(ctx.db);
    return { n: payload.n, attempt };
  },
});

export const look = internalQuery({
  args: ofKind.looked[0]!.handlerArgs,
  handler: async (ctx, { payload, job: { attempt } }): Promise<any> => {
    await ctx.db.query("meeting").first();
    const { end } = turnOf(payload, attempt);
    if (end === "throws") throw new Error("It was to fail.");
    if (end === "throwsText") throwText();
    if (end === "returnsBadly") return { n: "not a number" };
    return { n: payload.n, attempt };
  },
});

/** An action of the app's own that takes up room. */
export const occupy = internalAction({
  handler: async (_ctx, { ms }: { ms: number }) => {
    await new Promise((resolve) => setTimeout(resolve, ms));
  },
});

/** The same many times at once, each with a permit of its own; some of them may not get one. */
export const occupyMany = internalAction({
  handler: async (ctx, { count, ms }: { count: number; ms: number }): Promise<void> => {
    const all = Array.from({ length: count }, () =>
      ctx.runAction(internal.handlers.occupy, { ms }),
    );
    await Promise.allSettled(all);
  },
});
