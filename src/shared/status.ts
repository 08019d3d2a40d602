/**
 * The statuses of a job and every edge between them: the state machine, written once. Names of statuses stand again in unions
 * with fields of their own: `protocol.ts`, `jobStatus.ts`, `onComplete.ts`, `reports.ts`. `CONTRIBUTING.md` has the steps that
 * add one.
 *
 * Pure. `src/component/edges/transitions.ts` has one function per edge and is the only writer of `status`; pages and documents
 * draw this table.
 */
import { v, type Infer } from "convex/values";

/** Every status, in the order in which people read them. */
export const STATUSES = [
  /** Due later, or backing off. */
  "scheduled",
  /** Claimable. */
  "pending",
  /** Leased to a session. */
  "running",
  "succeeded",
  "failed",
  "canceled",
  /** Its last lease was lost and no reset was left, or its last attempt or the whole job took longer than it may. */
  "timedOut",
] as const;

export const vStatus = v.union(
  v.literal("scheduled"),
  v.literal("pending"),
  v.literal("running"),
  v.literal("succeeded"),
  v.literal("failed"),
  v.literal("canceled"),
  v.literal("timedOut"),
);
export type Status = Infer<typeof vStatus>;

/** The statuses that only an explicit `retry` leaves. */
export const FINISHED_STATUSES = ["succeeded", "failed", "canceled", "timedOut"] as const;
export type FinishedStatus = (typeof FINISHED_STATUSES)[number];

export function isFinished(status: Status): status is FinishedStatus {
  return (FINISHED_STATUSES as readonly Status[]).includes(status);
}

/** The statuses from which `cancel` ends a job at once. A running job belongs to its session, which is asked to stop. */
export const CANCELABLE_STATUSES = ["scheduled", "pending"] as const;

interface EdgeSpec {
  readonly from: readonly Status[];
  readonly to: Status;
  /** The counter of the edge, if any. `attempt` counts claims and is never set back: it is the fencing token. */
  readonly counts?: "attempt" | "failures" | "resets" | "releases" | "rounds";
}

/**
 * The edges of an existing job. A late, repeated or foreign message finds the job in a status without such an edge, and never
 * moves it.
 */
export const EDGES = {
  /** It has fallen due. */
  promote: { from: ["scheduled"], to: "pending" },
  /** It has fallen due and cannot be made claimable: it is retried later, and holds up no other job. */
  postpone: { from: ["scheduled"], to: "scheduled" },
  /** Paused while it waits: it leaves the range that claims read, and stays `pending`. */
  pause: { from: ["pending"], to: "pending" },
  /** Resumed, or no longer left to certain workers only: it stands in line again. */
  resume: { from: ["pending"], to: "pending" },
  /** A session takes it. */
  claim: { from: ["pending"], to: "running", counts: "attempt" },
  /** Its session reports a result. */
  succeed: { from: ["running"], to: "succeeded" },
  /** Its session has worked on it, and it goes to the end of the ring: a circular queue never finishes an item. */
  comeRound: { from: ["running"], to: "pending", counts: "rounds" },
  /** The same, in a queue that lets its items rest between two rounds. */
  rest: { from: ["running"], to: "scheduled", counts: "rounds" },
  /** Its session reports an error, or its `timeoutMs` has passed, and no attempt is left. */
  fail: { from: ["running"], to: "failed", counts: "failures" },
  /** The same, and another attempt is left: it waits for its turn. */
  backOff: { from: ["running"], to: "scheduled", counts: "failures" },
  /** Its session gives it back, or never learnt that it had it. */
  release: { from: ["running"], to: "pending", counts: "releases" },
  /** Its session gives it back until later. It uses no attempt of `maxAttempts`. */
  snooze: { from: ["running"], to: "scheduled", counts: "releases" },
  /** Its session vanished, and a reset is left. */
  reset: { from: ["running"], to: "pending", counts: "resets" },
  /** A worker's job that is released or reset, with its place forgotten while it ran: it waits until it has another. */
  releaseLater: { from: ["running"], to: "scheduled", counts: "releases" },
  resetLater: { from: ["running"], to: "scheduled", counts: "resets" },
  /**
   * Its session vanished, and no reset is left; or its `timeoutMs` has passed, and no attempt is left; or its deadline has
   * passed, whether it waits or runs.
   */
  timeOut: { from: ["scheduled", "pending", "running"], to: "timedOut" },
  /** Canceled, and its session has stopped, failed or vanished. */
  stop: { from: ["running"], to: "canceled" },
  /** Canceled before it started. */
  cancel: { from: CANCELABLE_STATUSES, to: "canceled" },
  /** It did not start in time. */
  expire: { from: CANCELABLE_STATUSES, to: "failed" },
  /** Retried after its end. */
  retry: { from: FINISHED_STATUSES, to: "pending" },
} as const satisfies Record<string, EdgeSpec>;

export type Edge = keyof typeof EDGES;

/** Whether the edge leaves this status. */
export function mayMove(edge: Edge, status: Status): boolean {
  return (EDGES[edge].from as readonly Status[]).includes(status);
}
