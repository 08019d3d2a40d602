/**
 * Jobs with a handler that could not be begun, as where a deploy has taken the function away, or where the deployment
 * has no room for it. Each is put off and no failure is counted; but an event, which is a line on the log, the queue's
 * health and `why` say so, and after the queue's `handlerMissingAfterMs` the job has failed.
 *
 * A handler that is not the queue's, or of another kind, is seen in the same way (`recordMismatch`); its job fails at once.
 *
 * `recordBlocked` reads for real: the attempt before, and the queue's last events. Writes: an attempt; inserts an event where
 * there has been none for ten minutes. Conflicts with: another insert of an event of this queue. `recordMismatch`: the events
 * alone.
 */
import { BLOCKED_EVENT_MS, type Blocked, type HandlerTrouble } from "../../shared/index.js";
import type { Value } from "convex/values";
import type { Doc } from "../_generated/dataModel.js";
import type { MutationCtx } from "../_generated/server.js";
import { findAttempt, recordAttempt } from "./attemptRows.js";
import { lastBlocked, recordEvent } from "../rows/events.js";
import type { Failure } from "./failing.js";
import { cutError } from "../rows/payloads.js";
import type { Queue } from "../rows/queues.js";

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
  // Since a retry by hand nothing has given it back.
  const isFirst = job.releases === undefined;
  const before = isFirst ? null : await findAttempt(ctx.db, job._id, job.attempt - 1);
  const since = before?.blocked?.since ?? now;
  const { handlerMissingAfterMs: limit } = config;
  const { _id, attempt } = job;
  const message = `${TEXTS[kind]}: it is tried again for ${limit} ms, and then fails. ${error}`;
  const details = { job: _id, attempt, since };
  await recordSeldom(ctx, { kind, queue: name, message, details }, now);
  if (now - since >= limit) {
    const text = `${TEXTS[kind]}, for ${limit} ms by now (handlerMissingAfterMs). ${error}`;
    return { error: text.trim(), retryable: false };
  }
  await recordAttempt(ctx.db, job, "snoozed", now, error, { blocked: { kind, since } });
  return null;
}

/** Records that a handler is not its queue's, or of another kind than it is named as. Its job fails by its own outcome. */
export async function recordMismatch(
  ctx: MutationCtx,
  { _id, queue, attempt }: Doc<"jobs">,
  error: string,
  now: number,
): Promise<void> {
  const event = { queue, message: error, details: { job: _id, attempt } };
  await recordSeldom(ctx, { kind: "handlerMismatch", ...event }, now);
}

async function recordSeldom(
  ctx: MutationCtx,
  event: { kind: HandlerTrouble; queue: string; message: string; details: Value },
  now: number,
): Promise<void> {
  const last = await lastBlocked(ctx.db, event.queue, event.kind);
  if (last !== null && last.at > now - BLOCKED_EVENT_MS) return;
  await recordEvent(ctx, { ...event, message: cutError(event.message) });
}
