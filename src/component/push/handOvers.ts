/**
 * Lanes that were handed to a process: inserted by the wake, reported to the process, deleted with the lane's first
 * call or with the process. Only this file writes `handOvers`. Write, then read: see `mainLoop.ts`.
 *
 * Reads for real: as said at each function. Conflicts with: the end of the process.
 */
import { edge, HAND_OVERS_READ, type HandedOver, type LaneStart } from "../../shared/index.js";
import type { DatabaseReader, MutationCtx, QueryCtx } from "../_generated/server.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import type { Process } from "./mount.js";

/** Hands a lane to a process, and returns the scheduled function in which it will run. */
export async function handTo(
  ctx: MutationCtx,
  { row }: { row: Process },
  start: LaneStart,
): Promise<Id<"_scheduled_functions">> {
  edge(row.state, "handOver");
  const seq = ctx.db.vars.commitTs;
  await ctx.db.insert("handOvers", { process: row._id, generation: row.generation, start, seq });
  return row.scheduledId!;
}

/** The lane's first call: its process has received it. */
export async function forgetHandOver(ctx: MutationCtx, handOver: string): Promise<void> {
  const id = ctx.db.normalizeId("handOvers", handOver);
  if (id !== null && (await ctx.db.get("handOvers", id)) !== null)
    await ctx.db.delete("handOvers", id);
}

/**
 * Lanes that were handed to a process by a later commit than `upTo`. In a transaction the read ends at its snapshot: hand-overs
 * that commit meanwhile lie beyond it, and rows that are deleted lie before it. In a query it does not, since an answer that
 * is kept for the next one must be made anew when a lane is handed over.
 */
export async function handedOver(
  ctx: Pick<QueryCtx, "db" | "meta">,
  { process, generation }: { process: Id<"processes">; generation: number },
  upTo: bigint,
  kind: "query" | "transaction" = "transaction",
): Promise<HandedOver> {
  const snapshot = ctx.meta.getSnapshotTs();
  const rows = await ctx.db
    .query("handOvers")
    .withIndex("process", (q) => {
      const later = q.eq("process", process).gt("seq", upTo);
      return kind === "query" ? later : later.lte("seq", snapshot);
    })
    .take(HAND_OVERS_READ);
  const last = rows.at(-1)?.seq as bigint | undefined;
  const lanes = lanesFor(rows, { generation });
  const isAll = rows.length < HAND_OVERS_READ;
  return { lanes, upTo: isAll ? snapshot : last!, areWaiting: false };
}

export function lanesFor(
  rows: readonly Doc<"handOvers">[],
  { generation }: Pick<Process, "generation">,
): LaneStart[] {
  return rows
    .filter((row) => row.generation === generation)
    .map(({ _id, start }) => ({ ...start, handOver: _id }));
}

export async function rowsHandedTo(db: DatabaseReader, process: Id<"processes">) {
  return await db
    .query("handOvers")
    .withIndex("process", (q) => q.eq("process", process))
    .collect();
}

/** The process has ended. */
export async function forgetHandOvers(ctx: MutationCtx, process: Id<"processes">): Promise<void> {
  for (const { _id } of await rowsHandedTo(ctx.db, process)) await ctx.db.delete("handOvers", _id);
}
