/**
 * Jobs whose handler could not be begun, as where a deploy has taken the function away, or where the deployment has no room for
 * it. Each is put off and no failure is counted; but an event, which is a line on the log, the queue's health and `why` say
 * so, and after the queue's `handlerMissingAfterMs` the job has failed.
 *
 * `recordBlocked` reads for real: the attempt before, and the queue's last events. Writes: an attempt; inserts an event where
 * there has been none for ten minutes. Conflicts with: another insert of an event of this queue.
 */
import { BLOCKED_EVENT_MS, type Blocked } from "../shared/index.js";
import type { Doc } from "./_generated/dataModel.js";
import type { DatabaseReader, MutationCtx } from "./_generated/server.js";
import { findAttempt, recordAttempt } from "./attemptRows.js";
import { recordEvent } from "./events.js";
import type { Failure } from "./failing.js";
import { cutError } from "./payloads.js";
import type { Queue } from "./queues.js";

/** Events among which the last of this kind is looked for: others of a queue come seldom. */
const EVENTS_SEEN = 8;

const TEXTS: Record<Blocked, string> = {
  handlerMissing: "The deployment does not have the handler of a job",
  noPermit: "The deployment has no room for the handler of a job",
};

/** Records such an attempt. Returns the failure that it comes to, if it has gone on for too long. */
export async function recordBlocked(
  ctx: MutationCtx,
  { name, config }: Queue,
  job: Doc<"jobs">,
  { kind, error = "" }: { kind: Blocked; error?: string | undefined },
  now: number,
): Promise<Failure | null> {
  const before = await findAttempt(ctx.db, job._id, job.attempt - 1);
  const since = before?.blocked?.since ?? now;
  const { handlerMissingAfterMs: limit } = config;
  const { _id, attempt } = job;
  const last = await lastBlocked(ctx.db, name);
  if (last === null || last.kind !== kind || last.at <= now - BLOCKED_EVENT_MS) {
    const message = `${TEXTS[kind]}: it is tried again for ${limit} ms, and then fails. ${error}`;
    const details = { job: _id, attempt, since };
    await recordEvent(ctx, { kind, queue: name, message: cutError(message), details });
  }
  if (now - since >= limit) {
    const text = `${TEXTS[kind]}, for ${limit} ms by now (handlerMissingAfterMs). ${error}`;
    return { error: text.trim(), retryable: false };
  }
  await recordAttempt(ctx.db, job, "snoozed", now, error, { blocked: { kind, since } });
  return null;
}

/** When a job of the queue was last put off so, as its events tell. */
export async function lastBlocked(
  db: DatabaseReader,
  queue: string,
): Promise<{ kind: Blocked; at: number } | null> {
  const rows = await db
    .query("events")
    .withIndex("queue", (q) => q.eq("queue", queue))
    .order("desc")
    .take(EVENTS_SEEN);
  for (const { kind, at } of rows)
    if (kind === "handlerMissing" || kind === "noPermit") return { kind, at };
  return null;
}
