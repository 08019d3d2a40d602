/**
 * Has work: the one thing that an idle worker subscribes to. Its arguments are the same for a whole fleet with one
 * token, so that the fleet shares one cached answer; for the same reason it knows no clock, which would end the
 * cached answer's life by itself.
 *
 * It begins at the public cursors, stops at the first pending job, and depends on the ranges read up to there: it
 * runs again when that job is claimed, or, with none, when one is enqueued.
 */
import { bandsOf, checkLength, PRIORITY_DEFAULT, QUEUES_MAX } from "../shared/index.js";
import type { QueryCtx } from "./_generated/server.js";
import { boundOf, pendingFrom, publicBounds } from "./cursors.js";
import { findQueue, type Queue } from "./queues.js";
import { authorize } from "./tokens.js";

export async function hasWork(ctx: QueryCtx, token: string, queues: string[]): Promise<boolean> {
  checkLength("The queues of a worker", queues, 1, QUEUES_MAX);
  await authorize(ctx.db, token, queues);
  for (const name of queues) {
    const queue = await findQueue(ctx.db, name);
    // Declared by its first enqueue or claim, which writes the row that was looked for here.
    if (queue !== null && (await hasPending(ctx, queue))) return true;
  }
  return false;
}

async function hasPending(ctx: QueryCtx, queue: Queue): Promise<boolean> {
  const bounds = [await publicBounds(ctx.db, queue.name)];
  for (const order of bandsOf(PRIORITY_DEFAULT)) {
    // One shard after another, since every range read is one more that can wake the fleet.
    for (let shard = 0; shard < queue.shardsEver; shard += 1) {
      const from = boundOf(bounds, queue.epoch, order, shard);
      const rows = await pendingFrom(ctx.db, { queue: queue.name, order, shard }, from, 1);
      if (rows.length > 0) return true;
    }
  }
  return false;
}
