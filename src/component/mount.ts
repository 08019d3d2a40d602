/**
 * The slots and places of the mount, as a transaction sees them: reads of `processes` that decide nothing. What is decided
 * is `mainLoop.ts`.
 */
import { v, type Infer } from "convex/values";
import {
  limitsOf,
  placesLeft,
  receivesMs,
  type MountLimits,
  type MountView,
  type QueueConfig,
} from "../shared/index.js";
import type { Doc, Id } from "./_generated/dataModel.js";
import type { DatabaseReader } from "./_generated/server.js";

export type Process = Doc<"processes">;

export const vMountView = v.object({
  /** Free slots that may be taken, of many a few: a wake picks one. `null` is a slot that has no row yet. */
  slots: v.array(v.union(v.id("processes"), v.null())),
  receivers: v.array(v.object({ id: v.id("processes"), openedAt: v.number() })),
  /** Whether a receiver may be given another place. Where slots are left it is not asked. */
  hasPlaces: v.boolean(),
});
export type SlotsSeen = Infer<typeof vMountView>;

/** Free slots that a look shows, and receivers. */
const SLOTS_SEEN = 8;

type Asking = Pick<QueueConfig, "handler" | "schedulerShare">;

/** The action in which the jobs of a queue run, if it is the app's. */
export function actionOf({ handler }: Asking): string | undefined {
  return handler?.kind === "inline" ? handler.handle : undefined;
}

/** The numbers of the slots that a queue may take: inline handlers have the upper half of them. */
export function slotsOf({ slots }: MountLimits, isInline: boolean): { from: number; to: number } {
  return { from: isInline ? Math.floor(slots / 2) : 0, to: slots };
}

/** What a queue with this configuration may take, as a snapshot shows it. */
export async function mountViewOf(
  db: DatabaseReader,
  deploymentClass: string,
  config: Asking = {},
): Promise<SlotsSeen> {
  const action = actionOf(config);
  const limits = limitsOf(deploymentClass, config.schedulerShare);
  const { from, to } = slotsOf(limits, action !== undefined);
  const [free, receiving, last] = await Promise.all([
    db
      .query("processes")
      .withIndex("state", (q) => q.eq("state", "free").gte("number", from).lt("number", to))
      .order(action === undefined ? "asc" : "desc")
      .take(SLOTS_SEEN),
    db
      .query("processes")
      .withIndex("state", (q) => q.eq("state", "receiving"))
      .take(RECEIVERS_READ),
    db.query("processes").order("desc").first(),
  ]);
  const unborn = to - Math.max(from, (last?.number ?? -1) + 1);
  const slots: SlotsSeen["slots"] = free.map(({ _id }) => _id);
  while (slots.length < SLOTS_SEEN && slots.length - free.length < unborn) slots.push(null);
  const receivers = receiving
    .filter((one) => one.action === action)
    .map(({ _id: id, openedAt }) => ({ id, openedAt }));
  const hasPlaces =
    slots.length > 2 || placesLeft(limits, await db.query("grants").collect()).few > 0;
  return { slots, receivers, hasPlaces };
}

/** As many as are at once as a rule: the receiver, and those that are too old. */
const RECEIVERS_READ = 64;

/** What {@link choose} is asked with. */
export function viewOf({ slots, receivers }: SlotsSeen): MountView<Id<"processes">> {
  return { free: slots.length, receivers };
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

/** Until when lanes are told to a process that were handed to it. */
export function looksUntil(openedAt: number, isInline: boolean, lateMs: number): number {
  return openedAt + receivesMs(isInline) + lateMs;
}
