/** Actions that are tried again until they succeed, give up, or are canceled. */
import {
  ActionRetrier,
  runIdValidator,
  onCompleteValidator,
  type RunId,
} from "@convex-dev/action-retrier";
import { v } from "convex/values";
import { components, internal } from "./_generated/api.js";
import { internalAction, internalMutation, mutation, query } from "./_generated/server.js";
import { write } from "./lines.js";

const retrier = new ActionRetrier(components.actionRetrier, {
  initialBackoffMs: 50,
  base: 1.1,
  maxFailures: 2,
});

export const run = mutation({
  args: { about: v.string(), failures: v.number() },
  handler: (ctx, args): Promise<RunId> =>
    retrier.run(ctx, internal.pool.flaky, args, { onComplete: internal.retries.completed }),
});

export const runForever = mutation({
  args: {},
  handler: (ctx): Promise<RunId> =>
    retrier.run(ctx, internal.retries.idle, {}, { onComplete: internal.retries.completed }),
});

/** Long enough to be canceled, short enough to end with the test. */
export const idle = internalAction({
  args: {},
  handler: () => new Promise<null>((resolve) => setTimeout(() => resolve(null), 1_500)),
});

export const completed = internalMutation({
  args: onCompleteValidator,
  handler: async (ctx, { runId, result }) => {
    const said =
      result.type === "success"
        ? JSON.stringify(result.returnValue)
        : result.type === "failed"
          ? result.error
          : "";
    await write(ctx, `retrier ${runId}`, `${result.type} ${said}`.trim());
  },
});

export const status = query({
  args: { id: runIdValidator },
  handler: async (ctx, { id }) => (await retrier.status(ctx, id)).type,
});

export const cancel = mutation({
  args: { id: runIdValidator },
  handler: (ctx, { id }) => retrier.cancel(ctx, id),
});
