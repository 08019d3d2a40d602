/**
 * Events: restarts, lost leases, quarantines, refusals and bulk changes, recorded for people. The only writer of
 * `events`.
 *
 * Recording one inserts only, so that it conflicts with nothing. To forget old ones reads them for real: of two transactions
 * that do, one retries.
 */
import type { Value } from "convex/values";
import {
  checkInteger,
  checkName,
  EVENTS_DEFAULT,
  EVENTS_MAX,
  EVENTS_RETENTION_MS,
  type HandlerTrouble,
  type QueueEvent,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type {
  DatabaseReader,
  DatabaseWriter,
  MutationCtx,
  QueryCtx,
} from "../_generated/server.js";
import { logAlways } from "./log.js";

/** Log level of each kind. */
const LEVELS = {
  queuePaused: "info",
  queueDraining: "info",
  queueResumed: "info",
  queueConfigured: "info",
  bulkEnded: "info",
  bulkSkipped: "warn",
  jobsPostponed: "warn",
  handlerMissing: "warn",
  noPermit: "warn",
  handlerMismatch: "warn",
  leasesEnded: "warn",
  quarantined: "error",
  expiryFailed: "error",
} as const;

/**
 * Records that something happened, and says so on the log. `message` is for people; `details` for programs, small, and plain
 * values.
 */
export async function recordEvent(
  ctx: MutationCtx,
  event: { kind: keyof typeof LEVELS; queue?: string; message: string; details?: Value },
): Promise<void> {
  await ctx.db.insert("events", { ...event, at: Date.now() });
  const { kind, queue, message, details } = event;
  logAlways(LEVELS[kind], kind, { queue, message, details });
}

/** Deletes events after their time, of all queues: of one that is no longer used too. Returns how many. */
export async function forgetEvents(
  db: DatabaseWriter,
  count: number,
  now: number,
): Promise<number> {
  const old = await db
    .query("events")
    .withIndex("at", (q) => q.lt("at", now - EVENTS_RETENTION_MS))
    .take(count);
  for (const { _id } of old) await db.delete("events", _id);
  return old.length;
}

/** The last events, newest first: of one queue, or of the whole component. */
export async function events(
  ctx: QueryCtx,
  { queue, limit = EVENTS_DEFAULT }: { queue?: string; limit?: number },
): Promise<QueueEvent[]> {
  checkInteger("limit", limit, 1, EVENTS_MAX);
  if (queue !== undefined) checkName("The name of a queue", queue);
  const rows =
    queue === undefined
      ? ctx.db.query("events").withIndex("at")
      : ctx.db.query("events").withIndex("queue", (q) => q.eq("queue", queue));
  return (await rows.order("desc").take(limit)).map(describe);
}

function describe({ kind, queue, at, message, details }: Doc<"events">): QueueEvent {
  return {
    ...{ kind, at, message },
    ...(queue === undefined ? {} : { queue }),
    ...(details === undefined ? {} : { details: details as unknown }),
  };
}

/** The last event of this kind is searched for among so many: a queue has few other events. */
const EVENTS_SEEN = 8;

/**
 * When a job of the queue was last postponed or failed for lack of a usable handler, by its events: for any of these
 * kinds, or for one.
 */
export async function lastBlocked(
  db: DatabaseReader,
  queue: string,
  only?: HandlerTrouble,
): Promise<{ kind: HandlerTrouble; at: number } | null> {
  const rows = await db
    .query("events")
    .withIndex("queue", (q) => q.eq("queue", queue))
    .order("desc")
    .take(EVENTS_SEEN);
  for (const { kind, at } of rows) {
    if (only !== undefined && kind !== only) continue;
    if (kind === "handlerMissing" || kind === "noPermit" || kind === "handlerMismatch")
      return { kind, at };
  }
  return null;
}
