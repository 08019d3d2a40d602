/**
 * The main loop of the mount: schedules the processes inside Convex, hands lanes to them, gives them places, ends them. Only
 * this file writes `processes` and `waitingQueues`, and only `handOvers.ts` the lanes that it hands over. Its events are a table:
 * `shared/mainLoop.ts`.
 *
 * It has no row of its own that all depend on. A wake reads for real one free slot's row, or one receiver's; a lane's step
 * none, unless it gives places back, asks for more, or is the last of its process.
 *
 * Write, then read: a process that ends reads for real the rows that were handed to it, in the transaction that frees
 * its slot; a wake that hands it one has read its row for real. So of the two one retries.
 *
 * Reads for real: as said at each function. Conflicts with: wakes that take the same slot; a hand-over with the end
 * of that process; two transactions that give places, as `grants.ts`.
 */
import { v, type Infer } from "convex/values";
import {
  choose,
  COMPONENT_VERSION,
  edge,
  lifeOf,
  limitsOf,
  placesLeft,
  ROUSE_AGAIN_MS,
  ROUSED,
  vHandedOver,
  WAKE_AGAIN_MS,
  type HandedOver,
  type LaneStart,
} from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import {
  internalMutation,
  internalQuery,
  type DatabaseReader,
  type MutationCtx,
  type QueryCtx,
} from "../_generated/server.js";
import type { Id } from "../_generated/dataModel.js";
import { forgetHandOvers, handedOver, rowsHandedTo, lanesFor } from "./handOvers.js";
import { startProcess } from "./laneAction.js";
import { runs } from "./lanes.js";
import {
  actionOf,
  mountLimits,
  mountViewOf,
  runningProcesses,
  viewOf,
  type Process,
  type SlotsSeen,
} from "./mount.js";
import type { Queue } from "../rows/queues.js";
import { scheduleWake } from "../edges/wakes.js";
import {
  allGrants,
  beginPlaces,
  dropPlaces,
  givePlaces,
  ownRow,
  takeBackPlaces,
  vGivenBack,
  vProcess,
  type GivenBack,
  type Named,
} from "./grants.js";

/** Where a lane begins. */
export type Target =
  | { kind: "start"; row: Process; event: "start" | "startLast"; endsAt: number }
  | { kind: "handOver"; row: Process; endsAt: number }
  | { kind: "wait" };

// --- Where a lane begins -------------------------------------------------------------------------

/**
 * Where a lane of the queue begins, for jobs that may run for `timeoutMs`. Reads for real the slot or the receiver that
 * it names; and where a snapshot shows neither, or one that is no more, all that may be named: a queue that waits is
 * woken by a process that ends, and one that has ended already wakes none, however old the snapshot is.
 */
export async function chooseTarget(
  ctx: MutationCtx,
  queue: Queue,
  seen: SlotsSeen,
  timeoutMs: number,
  now: number,
): Promise<Target> {
  const target = await targetAmong(ctx, queue, seen, timeoutMs, now);
  if (target.kind !== "wait") return target;
  const { class: of } = await ctx.meta.getDeploymentMetadata();
  const there = await mountViewOf(ctx.db, of, queue.config);
  return await targetAmong(ctx, queue, there, timeoutMs, now);
}

/** The same, by one snapshot. A receiver that has ended silently is freed here: its slot is the lane's. */
async function targetAmong(
  ctx: MutationCtx,
  queue: Queue,
  seen: SlotsSeen,
  timeoutMs: number,
  now: number,
): Promise<Target> {
  const action = actionOf(queue.config);
  const isInline = action !== undefined;
  const choice = choose(viewOf(seen), { timeoutMs, isInline }, now);
  if (choice.kind === "wait") return choice;
  if (choice.kind === "handOver") {
    const row = await ctx.db.get("processes", choice.to);
    // Its slot may have another process by now, and the queue another handler.
    if (row?.state !== "receiving" || row.action !== action) return { kind: "wait" };
    if (row.scheduledId !== undefined && (await runs(ctx.db, row.scheduledId)))
      return { kind: "handOver", row, endsAt: row.openedAt + lifeOf(isInline) };
    const freed = await loseProcess(ctx, row);
    return { kind: "start", row: freed, event: "startLast", endsAt: now + lifeOf(isInline) };
  }
  const row = await freeSlot(ctx, queue, seen);
  if (row === null) return { kind: "wait" };
  return { kind: "start", row, event: choice.event, endsAt: now + lifeOf(isInline) };
}

/**
 * One of the free slots, by lot: wakes at the same moment seldom take the same. Not the last, while there are more:
 * with the upper half of the slots inline handlers could have none, however many are free below.
 */
async function freeSlot(
  ctx: MutationCtx,
  queue: Queue,
  { slots }: SlotsSeen,
): Promise<Process | null> {
  const known = slots.filter((id) => id !== null);
  const id = known[Math.floor(Math.random() * Math.max(1, known.length - 1))];
  if (id === undefined) return await makeSlots(ctx, queue);
  const row = await ctx.db.get("processes", id);
  return row?.state === "free" ? row : null;
}

/** All that the class has, once: wakes that find none conflict. Reads for real the last slot that there is. */
async function makeSlots(ctx: MutationCtx, queue: Queue): Promise<Process | null> {
  const { slots } = await mountLimits(ctx, queue);
  const last = await ctx.db.query("processes").order("desc").first();
  const from = last === null ? 0 : last.number + 1;
  let first: Id<"processes"> | null = null;
  for (let number = from; number < slots; number += 1) {
    const row = { number, state: "free" as const, generation: 0, openedAt: 0 };
    const id = await ctx.db.insert("processes", row);
    first ??= id;
  }
  if (first !== null) return await ctx.db.get("processes", first);
  // This transaction has made them already.
  return await ctx.db
    .query("processes")
    .withIndex("state", (q) => q.eq("state", "free").lt("number", slots))
    .first();
}

/** Starts a process in a free slot, with its first lane. */
export async function startIn(
  ctx: MutationCtx,
  queue: Queue,
  { row, event }: Target & { kind: "start" },
  { start, places }: { start: LaneStart; places: number },
  now: number,
): Promise<Id<"_scheduled_functions">> {
  const { to: state } = edge(row.state, event);
  const generation = row.generation + 1;
  const { schedulerShare: share } = queue.config;
  const scheduledId = await startProcess(ctx, queue, {
    ...{ process: row._id, generation, openedAt: now, places, receives: state === "receiving" },
    ...{ version: COMPONENT_VERSION, lanes: [start] },
    ...(share === undefined ? {} : { share }),
  });
  const action = actionOf(queue.config);
  await ctx.db.patch("processes", row._id, {
    ...{ state, generation, openedAt: now, scheduledId, action },
  });
  await beginPlaces(ctx, row._id, places);
  return scheduledId;
}

// --- Lanes handed over -------------------------------------------------------------------------------

export const lookArgs = { ...vProcess, upTo: v.int64(), share: v.optional(v.number()) };

/** The poll of a receiving process: lanes that were handed to it, and whether queues wait. */
export const readProcesses = internalQuery({
  args: lookArgs,
  returns: vHandedOver,
  handler: (ctx, args): Promise<HandedOver> => lookOf(ctx, args),
});

export async function lookOf(
  ctx: QueryCtx,
  { process: named, generation, upTo, share }: Named & { upTo: bigint; share?: number },
): Promise<HandedOver> {
  const process = ctx.db.normalizeId("processes", named);
  if (process === null) return { lanes: [], upTo, areWaiting: false };
  const [found, waiting, { class: of }] = await Promise.all([
    handedOver(ctx, { process, generation }, upTo, "query"),
    ctx.db.query("waitingQueues").first(),
    ctx.meta.getDeploymentMetadata(),
  ]);
  if (waiting === null) return found;
  const { any, few } = placesLeft(limitsOf(of, share), await allGrants(ctx.db));
  const arePlaces = any > 0 || (few > 0 && (await isAnyUnserved(ctx.db)));
  return { ...found, areWaiting: true, arePlaces };
}

/** Whether a queue waits for which places are kept. */
async function isAnyUnserved(db: DatabaseReader): Promise<boolean> {
  const first = await db
    .query("waitingQueues")
    .withIndex("isServed", (q) => q.eq("isServed", false))
    .first();
  return first !== null;
}

// --- Places -------------------------------------------------------------------------------------

/** For a process to which lanes were handed with more jobs than it has places. */
export const askArgs = {
  ...vProcess,
  share: v.optional(v.number()),
  any: v.number(),
  few: v.number(),
};

export const askForPlaces = internalMutation({
  args: askArgs,
  returns: v.number(),
  handler: (ctx, args): Promise<number> => askOf(ctx, args),
});

export async function askOf(
  ctx: MutationCtx,
  args: Named & { share?: number; any: number; few: number },
): Promise<number> {
  const { class: of } = await ctx.meta.getDeploymentMetadata();
  return await givePlaces(ctx, limitsOf(of, args.share), args, args);
}

// --- The end of a process ------------------------------------------------------------------------

/**
 * The process ends, unless lanes have been handed to it: then it receives them. Reads for real its row, the rows handed
 * to it, and the first queue that waits.
 */
export async function closeOf(
  ctx: MutationCtx,
  args: Named,
): Promise<{ isClosed: boolean; handedOver?: HandedOver }> {
  const row = await ownRow(ctx, args);
  if (row === null || row.state === "free") return { isClosed: true };
  const rows = await rowsHandedTo(ctx.db, row._id);
  if (rows.length > 0 && row.state === "receiving") {
    edge(row.state, "closeInVain");
    const upTo = ctx.meta.getSnapshotTs();
    return { isClosed: false, handedOver: { lanes: lanesFor(rows, row), upTo, areWaiting: false } };
  }
  await free(ctx, row, "close");
  return { isClosed: true };
}

export const closeArgs = vProcess;
export const vClosed = v.object({ isClosed: v.boolean(), handedOver: v.optional(vHandedOver) });

export const closeProcess = internalMutation({
  args: closeArgs,
  returns: vClosed,
  handler: (ctx, args): Promise<Infer<typeof vClosed>> => closeOf(ctx, args),
});

/**
 * A process with a scheduled function that has ended silently. The janitor ends its lanes' leases. Returns its free
 * slot.
 */
export async function loseProcess(ctx: MutationCtx, row: Process): Promise<Process> {
  await forgetHandOvers(ctx, row._id);
  return await free(ctx, row, "lose");
}

async function free(ctx: MutationCtx, row: Process, event: "close" | "lose"): Promise<Process> {
  const { to: state } = edge(row.state, event);
  const changed = { state, scheduledId: undefined, action: undefined };
  const [, waiting] = await Promise.all([
    dropPlaces(ctx, row._id),
    ctx.db.query("waitingQueues").first(),
    ctx.db.patch("processes", row._id, changed),
  ]);
  if (waiting !== null) await ctx.scheduler.runAfter(0, internal.push.mainLoop.rouseQueues, {});
  return (await ctx.db.get("processes", row._id))!;
}

/** Processes with a scheduled function that has ended: of all that run, as many as are asked about in a snapshot. */
export async function findLost(db: DatabaseReader): Promise<Id<"processes">[]> {
  const rows = await runningProcesses(db);
  const start = Math.floor(Math.random() * rows.length);
  const some = [...rows.slice(start), ...rows.slice(0, start)].slice(0, LOST_ASKED);
  const alive = await Promise.all(
    some.map(async ({ scheduledId }) => scheduledId !== undefined && (await runs(db, scheduledId))),
  );
  return some.filter((_, i) => !alive[i]).map(({ _id }) => _id);
}

/** Processes about which one sweep asks. */
const LOST_ASKED = 32;

/** Frees the slot of a process that a snapshot has shown to have ended, unless another transaction has. */
export async function freeLost(ctx: MutationCtx, id: Id<"processes">): Promise<void> {
  const row = await ctx.db.get("processes", id);
  if (row === null || row.state === "free") return;
  if (row.scheduledId !== undefined && (await runs(ctx.db, row.scheduledId))) return;
  await loseProcess(ctx, row);
}

// --- Queues that wait ----------------------------------------------------------------------------

/** Write, then read: the queue waits for a slot or for places, and the process that frees either has it woken. */
export async function waitFor(ctx: MutationCtx, queue: string, isServed: boolean): Promise<void> {
  const known = await ctx.db
    .query("waitingQueues")
    .withIndex("queue", (q) => q.eq("queue", queue))
    .first();
  if (known !== null) {
    if (known.isServed !== isServed) await ctx.db.patch("waitingQueues", known._id, { isServed });
    return;
  }
  await ctx.db.insert("waitingQueues", { queue, isServed });
  // A process may have ended meanwhile, and seen no queue that waits: this wake begins after both.
  await scheduleWake(ctx, { name: queue }, undefined, WAKE_AGAIN_MS);
}

/** A lane's step gives places back. Reads for real, where it does, also the first queue that waits, which is woken. */
export async function takeBackFrom(ctx: MutationCtx, back: GivenBack): Promise<void> {
  if (!(await takeBackPlaces(ctx, back))) return;
  const waiting = await ctx.db.query("waitingQueues").first();
  if (waiting !== null) await ctx.scheduler.runAfter(0, internal.push.mainLoop.rouseQueues, {});
}

/**
 * Wakes queues that wait, longest wait first, a few at a time, and each once: a queue that was paused meanwhile, or has
 * no jobs any more, takes the turn of no other. A process that has places to spare gives them back first.
 */
export const rouseQueues = internalMutation({
  args: { upTo: v.optional(v.number()), from: v.optional(vGivenBack) },
  returns: v.null(),
  handler: (ctx, args): Promise<null> => rouseWaiting(ctx, args),
});

export async function rouseWaiting(
  ctx: MutationCtx,
  { upTo = Date.now(), from }: { upTo?: number; from?: GivenBack },
): Promise<null> {
  if (from !== undefined) await takeBackPlaces(ctx, from);
  const rows = await ctx.db
    .query("waitingQueues")
    .withIndex("by_creation_time", (q) => q.lte("_creationTime", upTo))
    .take(ROUSED);
  for (const { _id, queue } of rows) {
    await ctx.db.delete("waitingQueues", _id);
    await scheduleWake(ctx, { name: queue });
  }
  if (rows.length === ROUSED)
    await ctx.scheduler.runAfter(ROUSE_AGAIN_MS, internal.push.mainLoop.rouseQueues, { upTo });
  return null;
}
