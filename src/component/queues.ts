/**
 * The queues' rows: what code declares becomes the configuration that everybody reads. The only writer of `queues`.
 */
import { v } from "convex/values";
import {
  checkQueueConfig,
  conveyorError,
  DECLARATION_SETTLE_MS,
  type QueueConfig,
  type QueueDeclaration,
} from "../shared/index.js";
import type { Doc } from "./_generated/dataModel.js";
import { internalMutation, type DatabaseReader, type DatabaseWriter } from "./_generated/server.js";

/** A queue's row, or `null` if no code has ever declared it. */
export async function findQueue(db: DatabaseReader, name: string): Promise<Doc<"queues"> | null> {
  return await db
    .query("queues")
    .withIndex("name", (q) => q.eq("name", name))
    .unique();
}

/** The row of a queue that has jobs. It was written before the first of them, and is never deleted. */
export async function getQueue(db: DatabaseReader, name: string): Promise<Doc<"queues">> {
  const row = await findQueue(db, name);
  if (row !== null) return row;
  throw conveyorError("unknownQueue", `No code has declared a queue "${name}".`, { queue: name });
}

/**
 * The row of a declared queue, written if it is absent or says something else.
 *
 * A burst of first callers conflicts once, over the insert. Two deployed versions that declare the queue differently
 * would rewrite the row with every call, and make every other call of the queue run again; so a row that has just
 * been written stands for a while, and the next call applies what still differs.
 */
export async function declareQueue(
  db: DatabaseWriter,
  { name, config }: QueueDeclaration,
  now: number,
): Promise<Doc<"queues">> {
  checkQueueConfig(name, config);
  const row = await findQueue(db, name);
  if (row === null) {
    const fresh = { name, config, configuredAt: now, shardsEver: config.shards, epoch: 0 };
    const id = await db.insert("queues", fresh);
    return (await db.get("queues", id))!;
  }
  if (sameConfig(row.config, config) || now < row.configuredAt + DECLARATION_SETTLE_MS) return row;
  const changed = {
    config,
    configuredAt: now,
    shardsEver: Math.max(row.shardsEver, config.shards),
  };
  await db.patch("queues", row._id, changed);
  return { ...row, ...changed };
}

/** Field by field: the order of an object's keys means nothing, and no caller should have to care. */
function sameConfig(a: QueueConfig, b: QueueConfig): boolean {
  return (
    a.leaseMs === b.leaseMs &&
    a.maxResets === b.maxResets &&
    a.shards === b.shards &&
    a.onComplete === b.onComplete
  );
}

/**
 * Forgets every cursor of a queue. To be run after a restore or an import into the component's tables: rows that come
 * in with an old `seq` lie below cursors that workers remember, and would never be claimed.
 *
 * Reads and writes the queue's row; makes every call of the queue that is in flight run again, once.
 *
 * @example
 * npx convex run --component conveyor queues:forgetCursors '{"queue": "tiles"}'
 */
export const forgetCursors = internalMutation({
  args: { queue: v.string() },
  returns: v.null(),
  handler: async (ctx, { queue }) => {
    const row = await getQueue(ctx.db, queue);
    await ctx.db.patch("queues", row._id, { epoch: row.epoch + 1 });
    return null;
  },
});
