/**
 * Enqueue: a job's first step. It runs inside the app's own mutation, with everything that the app does there.
 *
 * Reads for real: the queue's row. Looks: nothing. Writes: inserts into `jobs` (and `payloads`).
 * Conflicts with: a change of the queue's declaration. Never with another enqueue, a claim or a completion: a caller
 * neither writes nor depends on anything that changes at the rate of jobs.
 */
import type { Value } from "convex/values";
import { checkLength, ENQUEUE_MAX_JOBS, type QueueDeclaration } from "../shared/index.js";
import type { Id } from "./_generated/dataModel.js";
import type { MutationCtx } from "./_generated/server.js";
import { checkPayloads, store } from "./payloads.js";
import { declareQueue } from "./queues.js";
import { insertJob } from "./transitions.js";

export async function enqueue(
  ctx: MutationCtx,
  queue: QueueDeclaration,
  payload: Value,
): Promise<Id<"jobs">> {
  const [id] = await enqueueBatch(ctx, queue, [payload]);
  return id!;
}

/** All or none: the payloads are checked before the first is written, and the caller's transaction is one. */
export async function enqueueBatch(
  ctx: MutationCtx,
  declaration: QueueDeclaration,
  payloads: Value[],
): Promise<Id<"jobs">[]> {
  checkLength("The payloads of a batch", payloads, 1, ENQUEUE_MAX_JOBS);
  checkPayloads(payloads);
  const now = Date.now();
  const queue = await declareQueue(ctx.db, declaration, now);
  const ids: Id<"jobs">[] = [];
  for (const payload of payloads) {
    const fields = { payload: await store(ctx.db, payload), enqueuedAt: now };
    ids.push(await insertJob(ctx.db, queue, fields, null));
  }
  return ids;
}
