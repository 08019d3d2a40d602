/** A job, a lease and a session, as the naive queue keeps them. */
import type { JobRules, Status } from "../../src/shared/index.js";
import type { Span } from "./spans.js";

export interface Job {
  readonly id: string;
  readonly payload: number;
  readonly priority: number;
  readonly cost: number;
  readonly labels: readonly string[];
  readonly tags: readonly string[];
  readonly group: string | undefined;
  readonly key: string | undefined;
  readonly keyUntil: number | undefined;
  /** Its own rules; the rest is its queue's configuration at the time of use. */
  readonly rules: JobRules;
  status: Status;
  attempt: number;
  failures: number;
  resets: number;
  releases: number;
  /** Releases of leases that their session never learnt of. */
  unacknowledged: number;
  rounds: number;
  paused: boolean;
  cancelRequested: boolean;
  expiresAt: number | undefined;
  /** While scheduled. */
  due: Span;
  waits: "start" | "backOff" | "snooze" | "rest";
  /** While pending: before the new ones of its priority; `null` where nothing says. */
  isFirst: boolean | null;
  /** Its place in line, as the component has given it. */
  seq: bigint;
  createdAt: number;
  pendingSince: number;
  sessionKey: string | undefined;
  failedBy: Set<string>;
  /** Attempts that are over, with the session that reported their end, if any did. */
  over: Map<number, string | null>;
  /** Attempts that ended by a cancel request, or that their worker reported as canceled. */
  stopped: Set<number>;
  isDeleted: boolean;
  /** In the step that is being played. */
  hasMoved: boolean;
  history: string[];
}

export interface Lease {
  id: string;
  attempt: number;
  /** The call that took it. */
  n: number;
  /** How long its session may be silent. */
  lastsMs: number;
  timeoutAt: number | undefined;
  /** Its session was asked to end it. */
  isAsked: boolean;
}

export interface Session {
  readonly name: string;
  readonly sessionKey: string;
  /** Of its last call; 0 before the first. */
  n: number;
  lastSeenAt: number;
  leases: Lease[];
  /** Whether its last claim's reply is known to have arrived. */
  acknowledged: boolean;
  /** When it has lost its leases, if it goes on being silent. */
  deadlineAt: number;
}

export interface Failure {
  retryable?: boolean | undefined;
  retryAfterMs?: number | undefined;
  isTimeout?: boolean;
}

export function isActive(status: Status): boolean {
  return status === "scheduled" || status === "pending" || status === "running";
}
