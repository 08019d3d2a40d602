/** Jobs that a lane was to receive, and that are gone before it did. Reads them for real, by id. */
import { type MutationCtx } from "../_generated/server.js";
import { forgetAsked } from "../rows/cancels.js";
import type { Lease } from "../../shared/index.js";
import { dropLeases, findLease, type HeldLease, type Session } from "../rows/sessions.js";

/**
 * Without leases of attempts that have ended in transactions of their own, as the lane has now acknowledged. A lease of
 * a running attempt stays in any case.
 */
export async function dropOver(
  ctx: MutationCtx,
  leases: HeldLease[],
  over: readonly Lease[],
): Promise<HeldLease[]> {
  const ended = new Set<HeldLease>();
  for (const { id, attempt } of over) {
    const held = findLease({ leases }, id, attempt);
    const job = held === undefined ? undefined : await ctx.db.get("jobs", held.id);
    if (job === undefined || (job?.status === "running" && job.attempt === attempt)) continue;
    if (job === null) await forgetAsked(ctx.db, held!.id);
    ended.add(held!);
  }
  return leases.filter((held) => !ended.has(held));
}

/** Without leases of jobs that were deleted before the lane could receive them: it would never report on them. */
export async function dropUndelivered(
  ctx: MutationCtx,
  session: Session,
  leases: HeldLease[],
  lastAckedCall: number,
): Promise<HeldLease[]> {
  const undelivered = leases.filter(({ callSeq }) => callSeq > lastAckedCall);
  const rows = await Promise.all(undelivered.map(({ id }) => ctx.db.get("jobs", id)));
  const gone = undelivered.filter((_, i) => rows[i] === null);
  if (gone.length === 0) return leases;
  for (const { id } of gone) await forgetAsked(ctx.db, id);
  const left = leases.filter((lease) => !gone.includes(lease));
  await dropLeases(ctx.db, session, left);
  return left;
}
