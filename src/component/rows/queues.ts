/**
 * The queues' rows: the declaration in code, and the changes at run time, form the configuration that every step reads.
 * Only this file and `control.ts` write `queues`.
 *
 * Conflicts with: `forgetCursors` and a changed declaration, with every call of their queue.
 */
import { v } from "convex/values";
import {
  checkQueueConfig,
  conveyorError,
  DECLARATION_SETTLE_MS,
  HANDLER_MISSING_DEFAULT_MS,
  PARALLELISM_DEFAULT,
  RETENTION_DEFAULT,
  RETRY_OFF,
  type ListBy,
  type LogLevel,
  type QueueConfig,
  type QueueDeclaration,
  type Retention,
  type Retry,
} from "../../shared/index.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import { internalMutation, type DatabaseReader } from "../_generated/server.js";
import type { EdgeCtx, Effects, QueueWakes } from "./effects.js";
import { checkShards } from "./routes.js";

/** A queue's configuration in force: overrides before the declaration, defaults where neither has a value. */
export interface Settings extends QueueConfig {
  graceMs: number;
  retry: Retry;
  circular: boolean;
  restMs: number;
  retention: Retention;
  logLevel: LogLevel;
  push: boolean;
  maxParallelism: number;
  fallbackAfterMs: number;
  handlerMissingAfterMs: number;
  listBy: ListBy[];
}

/** A queue as every step sees it. */
export interface Queue {
  id: Id<"queues">;
  name: string;
  epoch: number;
  shardsEver: number;
  isPaused: boolean;
  isDraining: boolean;
  config: Settings;
  /**
   * Numbers of the routes that this transaction has read or inserted, by priority and key. Only `routes.ts` uses it.
   */
  routesSeen: Map<string, number>;
  /**
   * Of a transaction that runs no code of the app between its jobs: the rows of all routes, once it has had to read
   * them, and the sets in which it has found none to forget. Only `routes.ts` uses them.
   */
  routesKept?: { rows: Doc<"routes">[] | null; inVain?: Set<string> };
}

export function queueOf(row: Doc<"queues">): Queue {
  const { _id, name, epoch, shardsEver, pausedAt, drainingAt } = row;
  return {
    ...{ id: _id, name, epoch, shardsEver },
    isPaused: pausedAt !== undefined,
    isDraining: drainingAt !== undefined,
    config: inForce(row),
    routesSeen: new Map(),
  };
}

function inForce({ config, overrides }: Doc<"queues">): Settings {
  const settings = {
    graceMs: 0,
    retry: { ...RETRY_OFF },
    circular: false,
    restMs: 0,
    retention: { ...RETENTION_DEFAULT },
    logLevel: "warn" as const,
    push: false,
    maxParallelism: PARALLELISM_DEFAULT,
    fallbackAfterMs: 0,
    handlerMissingAfterMs: HANDLER_MISSING_DEFAULT_MS,
    listBy: [],
  };
  const all: Settings = { ...settings, ...config, ...overrides };
  if (!all.circular) return all;
  // Items of a ring have none: the override is from before the queue became one.
  const { deadlineMs: _, ...ofRing } = all;
  return ofRing;
}

/** A queue's row, or `null` if no code has ever declared it. */
export async function findQueueRow(
  db: DatabaseReader,
  name: string,
): Promise<Doc<"queues"> | null> {
  return await db
    .query("queues")
    .withIndex("name", (q) => q.eq("name", name))
    .unique();
}

/** A queue, or `null` if no code has ever declared it. */
export async function findQueue(db: DatabaseReader, name: string): Promise<Queue | null> {
  const row = await findQueueRow(db, name);
  return row === null ? null : queueOf(row);
}

/** The names of so many queues that come after this one. */
export async function queuesAfter(
  db: DatabaseReader,
  after: string,
  count: number,
): Promise<string[]> {
  const rows = await db
    .query("queues")
    .withIndex("name", (q) => q.gt("name", after))
    .take(count);
  return rows.map(({ name }) => name);
}

/** A queue that has jobs. Its row was written before the first of them, and is never deleted. */
export async function getQueue(db: DatabaseReader, name: string): Promise<Queue> {
  const queue = await findQueue(db, name);
  if (queue !== null) return queue;
  throw unknownQueue(name);
}

export function unknownQueue(name: string): Error {
  const cut = name.slice(0, 100);
  return conveyorError(
    "unknownQueue",
    `No code has declared a queue ${JSON.stringify(cut)}: it is known from its first enqueue or claim on. Check the name ` +
      "(`npx convex run --component conveyor observe:queues` lists the known ones), or act by its definition, as in " +
      "`emails.control.pause(ctx)`, which declares it.",
    { queue: cut },
  );
}

/**
 * Queues that need no declaration, in the order of these. Throws `queuesUndeclared` for the others: the app's wrapper then
 * has them declared (`enter/declare.ts`) in the same transaction, and repeats its call. Reads these rows for real.
 */
export async function declaredQueues(
  db: DatabaseReader,
  declarations: readonly QueueDeclaration[],
  now: number,
): Promise<Queue[]> {
  const found = await Promise.all(declarations.map((one) => findDeclared(db, one, now)));
  const known = found.filter((queue) => queue !== null);
  if (known.length === found.length) return known;
  const names = declarations.map(({ name }) => name).filter((_, i) => found[i] === null);
  throw conveyorError(
    "queuesUndeclared",
    `These queues have not been declared, or not as this call names them: ${names.join(", ")}. Nothing was written. Call ` +
      "`lib.declare` with their declarations, and then this function again; every function of `conveyor.queue(…)` and " +
      "`conveyor.workerApi(…)` does so by itself.",
    { queues: names },
  );
}

/**
 * A queue whose row stands as it is; `null` if the row is absent, or differs and is to be written.
 *
 * Two deployed versions that declare the queue differently would rewrite the row with every call, and make every other
 * call of the queue retry; so a row that has just been written stands for a while, and a later call applies the
 * difference. It stands in no job's way: a newly pushed queue takes effect at once, since the job of this very call may be
 * the last for long.
 */
export async function findDeclared(
  db: DatabaseReader,
  { name, config }: QueueDeclaration,
  now: number,
): Promise<Queue | null> {
  const row = await findQueueRow(db, name);
  if (row === null) return null;
  if (!sameConfig(row.config, config)) {
    checkQueueConfig(name, config);
    // Also where the clock that declared it was ahead, and has been set back.
    const isSettled = Math.abs(now - row.configuredAt) >= DECLARATION_SETTLE_MS;
    if (isSettled || isOpening(row, config)) return null;
  }
  return queueOf(row);
}

/**
 * A queue, its row written as it is declared here if it is absent or differs. A burst of first callers conflicts once, over
 * the insert.
 */
export async function declareQueue(
  { db, now, effects }: EdgeCtx,
  { name, config }: QueueDeclaration,
): Promise<Queue & { before?: QueueConfig }> {
  checkQueueConfig(name, config);
  const row = await findQueueRow(db, name);
  if (row === null) {
    const fresh = { name, config, configuredAt: now, shardsEver: config.shards, epoch: 0 };
    const id = await db.insert("queues", fresh);
    return queueOf((await db.get("queues", id))!);
  }
  if (sameConfig(row.config, config)) return queueOf(row);
  if (config.shards > row.shardsEver) await checkShards(db, name, config.shards);
  // Lanes pass by jobs without a handler. With another answer to that question they begin at the first job again.
  const isOtherwise = (row.config.handler === undefined) !== (config.handler === undefined);
  const changed = {
    config,
    configuredAt: now,
    shardsEver: Math.max(row.shardsEver, config.shards),
    epoch: row.epoch + (isOtherwise ? 1 : 0),
  };
  await db.patch("queues", row._id, changed);
  const queue = queueOf({ ...row, ...changed });
  if (mayNeedWake(queueOf(row), queue)) wakesOf(effects, queue).isBlind = true;
  // The caller may have to follow up what was replaced.
  return { ...queue, before: row.config };
}

/** Whether a declaration has Convex run more than before, and not less. The other way it waits, so that of two each is written seldom. */
function isOpening(row: Doc<"queues">, config: QueueConfig): boolean {
  const [before, after] = [queueOf(row), queueOf({ ...row, config })];
  return mayNeedWake(before, after) && !mayNeedWake(after, before);
}

/** Whether there may be capacity, or jobs for lanes, that there were not. */
export function mayNeedWake(before: Queue, after: Queue): boolean {
  const { push, maxParallelism, fallbackAfterMs } = after.config;
  if (!push || after.isPaused) return false;
  return (
    !before.config.push ||
    (before.config.handler === undefined && after.config.handler !== undefined) ||
    before.isPaused ||
    maxParallelism > before.config.maxParallelism ||
    fallbackAfterMs !== before.config.fallbackAfterMs
  );
}

/** The wakes of a queue among the effects of a transaction. */
export function wakesOf({ wakes }: Effects, queue: Queue): QueueWakes {
  const known = wakes.get(queue.name);
  if (known !== undefined) return known;
  const none = { queue, isSettled: false, claimable: 0, ofJobs: [], isBlind: false };
  wakes.set(queue.name, none);
  return none;
}

/** By value: the order of an object's keys means nothing, and no caller need care about it. */
function sameConfig(a: QueueConfig, b: QueueConfig): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

/** JSON with sorted keys, for plain values without bytes or 64-bit numbers. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/**
 * Forgets every cursor of a queue. To be run after a restore or an import into the component's tables: rows that come
 * in with an old `seq` lie below cursors that workers remember, and would never be claimed.
 *
 * Reads and writes the queue's row; every call of the queue that is in flight retries, once.
 *
 * @example
 * npx convex run --component conveyor rows/queues:forgetCursors '{"queue": "tiles"}'
 */
export const forgetCursors = internalMutation({
  args: { queue: v.string() },
  returns: v.null(),
  handler: async (ctx, { queue }) => {
    const { id, epoch } = await getQueue(ctx.db, queue);
    await ctx.db.patch("queues", id, { epoch: epoch + 1 });
    return null;
  },
});
