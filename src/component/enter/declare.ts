/**
 * Declare: the declarations of queues in the app's code become their rows.
 *
 * A claim and an enqueue only compare: one that finds a row absent, or another declaration in it, refuses with
 * `queuesUndeclared`, and the app's wrapper calls this before it repeats the call, in the same transaction. So it runs with
 * a queue's first call, and with the first after a deploy that changed its options.
 *
 * Reads for real: the queues' rows; for more shards, their routes; for another retention, the alarm of the purge. Writes:
 * these rows (`queues`), that alarm (`timers`); schedules a wake where more than before may run. Conflicts with: every call
 * of these queues, once.
 */
import { checkLength, QUEUES_MAX, type QueueDeclaration } from "../../shared/index.js";
import type { MutationCtx } from "../_generated/server.js";
import { withEffects } from "../edges/applyEffects.js";
import { hastenPurge } from "../count/purge.js";
import { canonicalJson, declareQueue } from "../rows/queues.js";

/** All or none: a declaration with an error refuses the others. */
export async function declare(
  ctx: MutationCtx,
  queues: readonly QueueDeclaration[],
): Promise<void> {
  checkLength("The queues of a declaration", queues, 1, QUEUES_MAX);
  await withEffects(ctx, {}, async (ctx) => {
    for (const queue of queues) {
      const { config, before } = await declareQueue(ctx, queue);
      if (before === undefined) continue;
      if (canonicalJson(before.retention) !== canonicalJson(config.retention))
        await hastenPurge(ctx, queue.name, ctx.now);
    }
  });
}
