/**
 * Places: how many jobs each process may run at once, above the one that each has. Only this file writes `grants`. A
 * transaction that gives places has read all that are given for real, so that the total never exceeds the places of the
 * class.
 *
 * Reads for real: as said at each function. Conflicts with: another transaction that gives places, or takes some
 * back; a wake of any queue that may start a process with more than one job, which reads all rows and inserts its
 * own; the end of a process.
 */
import { v, type Infer } from "convex/values";
import {
  grant,
  placesLeft,
  PROCESS_WIDTH,
  type Asked,
  type MountLimits,
} from "../../shared/index.js";
import { type DatabaseReader, type MutationCtx } from "../_generated/server.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import { type Process } from "./mount.js";

export const vProcess = { process: v.string(), generation: v.number() };
export const vGivenBack = v.object({ ...vProcess, givenBack: v.optional(v.number()) });
export type GivenBack = Infer<typeof vGivenBack>;
export type Named = Pick<GivenBack, "process" | "generation">;

/**
 * Gives a process more places. Reads for real its row and the places given to all processes: the total is never more
 * than the class allows.
 */
export async function givePlaces(
  ctx: MutationCtx,
  limits: MountLimits,
  named: Named,
  asked: Asked,
): Promise<number> {
  const [row, grants] = await Promise.all([ownRow(ctx, named), allGrants(ctx.db)]);
  if (row === null || row.state === "free") return 0;
  const own = grants.find(({ process }) => process === row._id);
  const extra = own?.extra ?? 0;
  const given = grant(placesLeft(limits, grants), extra, asked);
  if (given === 0) return 0;
  if (own === undefined) await ctx.db.insert("grants", { process: row._id, extra: given });
  else await ctx.db.patch("grants", own._id, { extra: extra + given });
  return given;
}

/** As many as processes at most. */
export async function allGrants(db: DatabaseReader): Promise<Doc<"grants">[]> {
  return await db.query("grants").collect();
}

/** How many jobs a process may begin with that a wake starts. Reads for real the places given to all processes. */
export async function placesFor(
  ctx: MutationCtx,
  limits: MountLimits,
  wanted: number,
  isFew: boolean,
): Promise<number> {
  if (wanted <= 1) return wanted;
  const left = placesLeft(limits, await allGrants(ctx.db));
  return Math.min(wanted, 1 + (isFew ? left.few : left.any), PROCESS_WIDTH);
}

/**
 * Places that a process does not use: `givenBack` are all that it ever gave back, so that it may say so again. Reads its
 * row and its grant for real. Returns whether it has given back any.
 */
export async function takeBackPlaces(ctx: MutationCtx, back: GivenBack): Promise<boolean> {
  const { givenBack = 0 } = back;
  const row = givenBack <= 0 ? null : await ownRow(ctx, back);
  const own = row === null ? null : await grantOf(ctx.db, row._id);
  if (own === null) return false;
  const more = givenBack - (own.givenBack ?? 0);
  if (more <= 0) return false;
  await ctx.db.patch("grants", own._id, { extra: Math.max(0, own.extra - more), givenBack });
  return true;
}

export async function grantOf(db: DatabaseReader, process: Id<"processes">) {
  return await db
    .query("grants")
    .withIndex("process", (q) => q.eq("process", process))
    .unique();
}

export async function ownRow(
  ctx: MutationCtx,
  { process, generation }: Named,
): Promise<Process | null> {
  const id = ctx.db.normalizeId("processes", process);
  const row = id === null ? null : await ctx.db.get("processes", id);
  return row?.generation === generation ? row : null;
}

/** The process has ended. */
export async function dropPlaces(ctx: MutationCtx, process: Id<"processes">): Promise<void> {
  const own = await grantOf(ctx.db, process);
  if (own !== null) await ctx.db.delete("grants", own._id);
}

/** A wake starts the process with so many. */
export async function beginPlaces(
  ctx: MutationCtx,
  process: Id<"processes">,
  places: number,
): Promise<void> {
  if (places > 1) await ctx.db.insert("grants", { process, extra: places - 1 });
}
