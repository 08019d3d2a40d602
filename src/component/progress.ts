/**
 * Progress: how far running jobs have come, for the pages that watch them. The only writer of `progress`.
 *
 * Reads for real: the token, the session's row. Writes: one row a job; the session's row with a job's first.
 * Conflicts with: the session's own calls. It renews no lease and moves no job.
 */
import { getConvexSize, type Value } from "convex/values";
import {
  checkLength,
  conveyorError,
  LEASES_MAX,
  PROGRESS_MAX_BYTES,
  type Answer,
  type ProgressUpdate,
} from "../shared/index.js";
import type { Id } from "./_generated/dataModel.js";
import type { DatabaseWriter, MutationCtx } from "./_generated/server.js";
import { findHolder, findLease, noteProgress, type HeldLease } from "./holders.js";
import { authorize } from "./tokens.js";

export async function progress(
  ctx: MutationCtx,
  args: { token: string; session: string; updates: ProgressUpdate[] },
): Promise<{ answers: Answer[] }> {
  const now = Date.now();
  checkLength("The updates of a progress call", args.updates, 1, LEASES_MAX);
  for (const { value } of args.updates) checkProgress(value as Value);
  const token = await authorize(ctx.db, args.token, []);
  const holder = await findHolder(ctx.db, args.session, token);
  const answers: Answer[] = [];
  const named: HeldLease[] = [];
  const fresh = new Map<Id<"jobs">, Id<"progress">>();
  for (const { id, attempt, value } of args.updates) {
    const held = holder === null ? undefined : findLease(holder, id, attempt);
    if (held !== undefined) {
      named.push(held);
      const row = { job: held.id, attempt, value: value as Value, updatedAt: now };
      const known = held.progress ?? fresh.get(held.id);
      if (known === undefined) fresh.set(held.id, await ctx.db.insert("progress", row));
      else await ctx.db.replace("progress", known, row);
    }
    answers.push({ id, attempt, answer: held === undefined ? "leaseLost" : "ok" });
  }
  if (holder !== null) await noteProgress(ctx.db, holder, named, fresh);
  return { answers };
}

/** Deletes what was shown of a lease that ends. */
export async function clearProgress(db: DatabaseWriter, held: HeldLease): Promise<void> {
  if (held.progress === undefined) return;
  if ((await db.get("progress", held.progress)) !== null) {
    await db.delete("progress", held.progress);
  }
}

function checkProgress(value: Value): void {
  const bytes = getConvexSize(value);
  if (bytes <= PROGRESS_MAX_BYTES) return;
  throw conveyorError(
    "payloadTooLarge",
    `A progress value may be up to ${PROGRESS_MAX_BYTES} bytes; this one is ${bytes}. ` +
      "Report a number or a short message, and keep what is large for the result.",
    { got: bytes, max: PROGRESS_MAX_BYTES },
  );
}
