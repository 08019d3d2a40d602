/**
 * Changes a work pool while it runs, under the name by which `@convex-dev/workpool` does.
 *
 * Reads for real, writes, conflicts with: as `control.ts`; the first call that declares the queue.
 *
 * @example
 * await ctx.runMutation(components.emailWorkpool.config.update, { maxParallelism: 20 });
 */
import { v } from "convex/values";
import {
  conveyorLogLevel,
  vWorkLogLevel,
  WORKPOOL_CONFIG,
  WORKPOOL_QUEUE,
  type QueueOverrides,
} from "../shared/index.js";
import { mutation } from "./_generated/server.js";
import { configureQueue } from "./manage/control.js";
import { declare } from "./enter/declare.js";
import { findQueue } from "./rows/queues.js";

/**
 * Fields of an update win over the class's declaration, until they are updated again or reset
 * (`components.emailWorkpool.operate.resetConfig`). `maxParallelism: 0` is a pause.
 */
export const update = mutation({
  args: { maxParallelism: v.optional(v.number()), logLevel: v.optional(vWorkLogLevel) },
  returns: v.null(),
  handler: async (ctx, { maxParallelism, logLevel }): Promise<null> => {
    if ((await findQueue(ctx.db, WORKPOOL_QUEUE)) === null) {
      // Before the first enqueue: that one declares the other fields.
      await declare(ctx, [{ name: WORKPOOL_QUEUE, config: WORKPOOL_CONFIG }]);
    }
    const overrides: QueueOverrides = {
      ...(maxParallelism === undefined ? {} : { maxParallelism }),
      ...(logLevel === undefined ? {} : { logLevel: conveyorLogLevel(logLevel) }),
    };
    if (Object.keys(overrides).length > 0)
      await configureQueue(ctx, { queue: WORKPOOL_QUEUE, overrides });
    return null;
  },
});
