/**
 * The slots and places of the mount, as a transaction sees them: reads of `processes` that decide nothing. The
 * decisions are in `mainLoop.ts`.
 */
import { v, type Infer } from "convex/values";
import {
  keptSlots,
  limitsOf,
  placesLeft,
  PROCESS_FULL,
  PROCESS_WIDTH,
  type MountLimits,
  type MountView,
  type QueueConfig,
} from "../../shared/index.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import type { DatabaseReader, MutationCtx } from "../_generated/server.js";
import { allGrants } from "./grants.js";

export type Process = Doc<"processes">;

export const vMountView = v.object({
  /** Free slots that may be taken, of many a few: a wake picks one. `null` is a slot that has no row yet. */
  slots: v.array(v.union(v.id("processes"), v.null())),
  /** So many slots are kept for receivers. */
  kept: v.number(),
  /** Receivers that are not full; where one process may have all places, full ones too. */
  receivers: v.array(v.object({ id: v.id("processes"), openedAt: v.number() })),
  /** Places that receivers may be given, as {@link placesLeft} says. Where slots are left it is not asked: all. */
  left: v.object({ any: v.number(), few: v.number() }),
});
export type SlotsSeen = Infer<typeof vMountView>;

/** Free slots that a snapshot shows at least: a wake picks one by lot. */
const SLOTS_SEEN = 8;

type Asking = Pick<QueueConfig, "handler" | "schedulerShare">;

/** The action in which the jobs of a queue run, if it is the app's. */
export function actionOf({ handler }: Asking): string | undefined {
  return handler?.kind === "inline" ? handler.handle : undefined;
}

export async function mountLimits(
  { meta }: Pick<MutationCtx, "meta">,
  { config }: { config: Asking },
): Promise<MountLimits> {
  const { class: of } = await meta.getDeploymentMetadata();
  return limitsOf(of, config.schedulerShare);
}

/** The numbers of the slots that a queue may take: inline handlers have the upper half of them. */
export function slotsOf({ slots }: MountLimits, isInline: boolean): { from: number; to: number } {
  return { from: isInline ? Math.floor(slots / 2) : 0, to: slots };
}

/** The slots and places for a queue with this configuration, as a snapshot shows them. */
export async function mountViewOf(
  db: DatabaseReader,
  deploymentClass: string,
  config: Asking = {},
): Promise<SlotsSeen> {
  const action = actionOf(config);
  const limits = limitsOf(deploymentClass, config.schedulerShare);
  const isInline = action !== undefined;
  const { from, to } = slotsOf(limits, isInline);
  const kept = keptSlots(limits, isInline);
  const shown = Math.max(SLOTS_SEEN, kept + 1);
  const [free, receiving, last] = await Promise.all([
    freeSlots(db, { from, to }, shown, isInline),
    db
      .query("processes")
      .withIndex("state", (q) => q.eq("state", "receiving"))
      .take(RECEIVERS_READ),
    db.query("processes").order("desc").first(),
  ]);
  const unborn = to - Math.max(from, (last?.number ?? -1) + 1);
  const slots: SlotsSeen["slots"] = free.map(({ _id }) => _id);
  while (slots.length < shown && slots.length - free.length < unborn) slots.push(null);
  const grants = slots.length > kept ? [] : await allGrants(db);
  const full = new Set(
    grants.filter(({ extra }) => extra >= PROCESS_FULL - 1).map(({ process }) => process),
  );
  // Where one process may have all places, a second one could only share them.
  const takesPlaces = config.handler?.kind !== "mutation" && limits.all > PROCESS_WIDTH;
  const receivers = receiving
    .filter((one) => one.action === action && !(takesPlaces && full.has(one._id)))
    .map(({ _id: id, openedAt }) => ({ id, openedAt }));
  return { slots, kept, receivers, left: placesLeft(limits, grants) };
}

/**
 * Some of the free slots. Of many, slots from a number on that is drawn by lot: on the larger classes dozens of wakes
 * at the same moment, all with the same eight, would retry again and again.
 */
async function freeSlots(
  db: DatabaseReader,
  { from, to }: { from: number; to: number },
  shown: number,
  isInline: boolean,
): Promise<Process[]> {
  const between = (first: number, end: number, count: number) =>
    db
      .query("processes")
      .withIndex("state", (q) => q.eq("state", "free").gte("number", first).lt("number", end))
      .order(isInline ? "desc" : "asc")
      .take(count);
  const start = from + Math.floor(Math.random() * Math.max(1, to - from - shown));
  const rows = await between(start, to, shown);
  if (start === from || rows.length === shown) return rows;
  return [...rows, ...(await between(from, start, shown - rows.length))];
}

/** As many as are at once as a rule: the receiver, and receivers that are too old. */
const RECEIVERS_READ = 64;

/** The arguments of {@link choose}. */
export function viewOf({ slots, kept, receivers }: SlotsSeen): MountView<Id<"processes">> {
  return { free: slots.length, kept, receivers };
}

/** All processes that run, for real. */
export async function runningProcesses(db: DatabaseReader): Promise<Process[]> {
  const inState = (state: Process["state"]) =>
    db
      .query("processes")
      .withIndex("state", (q) => q.eq("state", state))
      .collect();
  return (await Promise.all([inState("open"), inState("receiving")])).flat();
}
