/** A job's payload: a number that identifies it, and the behaviour of its handler at each attempt. */
import { v, type Infer } from "convex/values";

export const vTurn = v.object({
  /** How long it takes, in milliseconds. */
  ms: v.number(),
  end: v.union(
    v.literal("returns"),
    v.literal("throws"),
    v.literal("throwsForGood"),
    v.literal("throwsUntil"),
    v.literal("snoozes"),
    v.literal("hangs"),
    v.literal("returnsBadly"),
    v.literal("throwsText"),
    /** Returns, or writes, more than fits. */
    v.literal("goesTooFar"),
    v.literal("continues"),
  ),
  /** It says how far it is, logs and writes output, if it can. */
  talks: v.optional(v.boolean()),
  /** Ends early when its signal aborts, if it has one. */
  listens: v.optional(v.boolean()),
});
export type Turn = Infer<typeof vTurn>;

export const vWork = v.object({
  n: v.number(),
  /** For attempts 1, 2, …; the last for all that follow. */
  turns: v.array(vTurn),
  /** Makes it as large as this, in bytes. */
  padding: v.optional(v.string()),
});
export type Work = Infer<typeof vWork>;

export function turnOf(work: Work, attempt: number): Turn {
  return work.turns[Math.min(attempt, work.turns.length) - 1]!;
}

/** The shape of a result, where there is one. */
export const vDone = v.object({ n: v.number(), attempt: v.number() });
