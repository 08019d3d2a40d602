/** Jobs that a lane was to be told of, and that are gone before it heard. Reads them for real, by id. */
import { type MutationCtx } from "./_generated/server.js";
import { forgetAsked } from "./cancels.js";
import { dropLeases, type HeldLease, type Holder } from "./holders.js";

/** Without those of jobs that were deleted before the lane could hear of them: it would never say anything of these. */
export async function dropUnheard(
  ctx: MutationCtx,
  holder: Holder,
  leases: HeldLease[],
  heard: number,
): Promise<HeldLease[]> {
  const unheard = leases.filter(({ n }) => n > heard);
  const rows = await Promise.all(unheard.map(({ id }) => ctx.db.get("jobs", id)));
  const gone = unheard.filter((_, i) => rows[i] === null);
  if (gone.length === 0) return leases;
  for (const { id } of gone) await forgetAsked(ctx.db, id);
  const left = leases.filter((lease) => !gone.includes(lease));
  await dropLeases(ctx.db, holder, left);
  return left;
}
