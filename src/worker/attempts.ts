/**
 * The attempts of this process, and the resources of each: a lease at the deployment, a slot in this process, or both.
 *
 *     running ──ends──► finished ──answered──► (gone)
 *        └──leaseLost──► lost ──ends, or is abandoned──► (gone)
 *
 * A `running` attempt has lease and slot, a `finished` one only the lease, a `lost` one only the slot. One that is to
 * stop (canceled, too long, out of lease by the own clock) goes on `running` until its handler has. It knows nothing of
 * calls.
 */
import {
  COST_DEFAULT,
  type ClaimedJob,
  type Continuation,
  type Lease,
  type TracedAttempt,
} from "../shared/index.js";
import type { Clock } from "./clock.js";
import { ABANDON_AFTER_MS } from "./limits.js";
import { JobAborted } from "./control.js";
import type { AbortReason, WorkerEvent } from "./events.js";

export interface Attempt {
  readonly job: ClaimedJob;
  readonly startedAt: number;
  state: "running" | "finished" | "lost" | "gone";
  /** By the worker's own clock: when the last acknowledged beat was *sent*, plus the lease. */
  expiresAt: number;
  /** Why its signal was aborted. Unless the lease was lost, it is still this worker's to end. */
  reason: OwnReason | undefined;
  readonly abort: AbortController;
  /** Jobs that its handler wants enqueued with its result. */
  readonly continued: Continuation[];
  /** Its place in a batch; absent where it has a slot of its own. */
  batch?: "waiting" | "begun";
  /** Its span, once its handler has begun; absent without a tracer. */
  traced?: TracedAttempt;
  cancelTimer: () => void;
  cancelTimeout: () => void;
}

/** A reason of one attempt's signal. */
type OwnReason = Exclude<AbortReason, "answered">;

export interface AttemptsDeps {
  clock: Clock;
  emit: (event: WorkerEvent) => void;
  /** A slot or a lease has come free. */
  changed: () => void;
  /** The handler of an attempt with a lease that may still stand goes on after its signal: its slot is freed. */
  abandoned: (attempt: Attempt) => void;
}

export class Attempts {
  private readonly all = new Map<string, Attempt>();

  constructor(private readonly deps: AttemptsDeps) {}

  /** Takes up a claimed job; null if it is in hand already (the reply of a repeated call names it again). */
  add(job: ClaimedJob, sentAt: number): Attempt | null {
    const key = keyOf(job);
    if (this.all.has(key)) return null;
    const attempt: Attempt = {
      job,
      startedAt: this.deps.clock.now(),
      state: "running",
      expiresAt: sentAt + job.leaseMs,
      reason: undefined,
      abort: new AbortController(),
      continued: [],
      cancelTimer: () => {},
      cancelTimeout: () => {},
    };
    this.all.set(key, attempt);
    this.watchExpiry(attempt);
    this.watchTimeout(attempt, sentAt);
    return attempt;
  }

  find(lease: Lease): Attempt | undefined {
    return this.all.get(keyOf(lease));
  }

  /** Attempts with a lease that, as far as this process knows, still stands. */
  held(): Attempt[] {
    return [...this.all.values()].filter(
      ({ state }) => state === "running" || state === "finished",
    );
  }

  running(): Attempt[] {
    return [...this.all.values()].filter(({ state }) => state === "running");
  }

  /** Attempts with handlers that run, whether for a job that is still ours or not, and attempts that wait for a batch. */
  inHand(): Attempt[] {
    return [...this.all.values()].filter(({ state }) => state === "running" || state === "lost");
  }

  /** Handlers of one job each. A batch has a slot of its own. */
  slotsUsed(): number {
    return this.inHand().filter(({ batch }) => batch === undefined).length;
  }

  /** The cost of the jobs in hand, out of the worker's budget. */
  costUsed(): number {
    return this.inHand().reduce((sum, { job }) => sum + (job.cost ?? COST_DEFAULT), 0);
  }

  /** The deployment has confirmed the lease by a beat that was sent then. */
  renew(lease: Lease, sentAt: number): void {
    const attempt = this.find(lease);
    if (attempt === undefined) return;
    attempt.expiresAt = Math.max(attempt.expiresAt, sentAt + attempt.job.leaseMs);
  }

  /** A claim or completion was answered: it was a beat too, for every lease that was in hand when it was sent. */
  renewAll(sentAt: number): void {
    for (const { job, startedAt } of this.held()) if (startedAt <= sentAt) this.renew(job, sentAt);
  }

  /** Cancellation of the job was requested. The lease stands: its handler's result is still worth reporting. */
  cancel(lease: Lease): void {
    const attempt = this.find(lease);
    if (attempt !== undefined) this.tellToStop(attempt, "canceled");
  }

  /** The deployment says that the lease of a running handler is gone. */
  lose(lease: Lease): void {
    const attempt = this.find(lease);
    // A finished attempt gets its own answer from `complete`, and only that one is believed: a beat that crossed it on
    // the way says `leaseLost` of a job that has just been recorded.
    if (attempt?.state !== "running") return;
    attempt.state = "lost";
    this.abandonLater(attempt);
    this.signal(attempt, "leaseLost");
    this.deps.changed();
  }

  /** Ends a running handler's part because the worker's grace is over. */
  stop(attempt: Attempt): void {
    this.finish(attempt);
    this.signal(attempt, "stopping");
  }

  /** The handler has ended, or its job is given back: the lease is kept until the outcome is recorded. */
  finish(attempt: Attempt): void {
    attempt.state = "finished";
    this.cancelTimers(attempt);
    this.deps.changed();
  }

  /** Handlers of lost jobs have no more say. */
  dropLost(): void {
    for (const attempt of this.all.values()) if (attempt.state === "lost") this.drop(attempt);
  }

  /** Nothing is left to be said about it. */
  drop(attempt: Attempt): void {
    attempt.state = "gone";
    this.cancelTimers(attempt);
    this.all.delete(keyOf(attempt.job));
    this.deps.changed();
  }

  /** Ends everything at once: the deployment no longer accepts calls of this worker. */
  dropAll(): void {
    for (const attempt of [...this.all.values()]) {
      attempt.abort.abort(new JobAborted("stopping", "The worker has stopped."));
      this.drop(attempt);
    }
  }

  private watchExpiry(attempt: Attempt): void {
    const { clock } = this.deps;
    const wait = Math.max(0, attempt.expiresAt - clock.now());
    attempt.cancelTimer = clock.after(wait, () => {
      if (attempt.state !== "running") return;
      if (clock.now() < attempt.expiresAt) return this.watchExpiry(attempt);
      this.tellToStop(attempt, "expired");
    });
  }

  /** From when the claim was sent: a little before the deployment's own bound, so that its word comes first. */
  private watchTimeout(attempt: Attempt, sentAt: number): void {
    const { timeoutMs } = attempt.job;
    if (timeoutMs === undefined) return;
    const { clock } = this.deps;
    const wait = Math.max(0, sentAt + timeoutMs - clock.now());
    attempt.cancelTimeout = clock.after(wait, () => this.tellToStop(attempt, "timedOut"));
  }

  private tellToStop(attempt: Attempt, reason: "canceled" | "timedOut" | "expired"): void {
    if (attempt.state !== "running" || attempt.reason !== undefined) return;
    this.abandonLater(attempt);
    this.signal(attempt, reason);
  }

  private signal(attempt: Attempt, reason: OwnReason): void {
    if (attempt.reason !== undefined) return;
    attempt.reason = reason;
    const about = describe(attempt);
    this.deps.emit(
      reason === "canceled" || reason === "timedOut"
        ? { kind: "aborted", reason, ...about }
        : { kind: "leaseLost", reason, ...about },
    );
    attempt.abort.abort(new JobAborted(reason, WHY[reason]));
  }

  private cancelTimers(attempt: Attempt): void {
    attempt.cancelTimer();
    attempt.cancelTimeout();
  }

  /** A handler that ignores its signal must not keep its slot for ever. */
  private abandonLater(attempt: Attempt): void {
    attempt.cancelTimer();
    attempt.cancelTimer = this.deps.clock.after(ABANDON_AFTER_MS, () => {
      if (attempt.state !== "running" && attempt.state !== "lost") return;
      this.deps.emit({ kind: "handlerAbandoned", ...describe(attempt) });
      if (attempt.state === "lost") return this.drop(attempt);
      this.deps.abandoned(attempt);
    });
  }
}

const WHY: Record<OwnReason, string> = {
  leaseLost: "The lease of this job was lost: another worker may have it.",
  canceled: "The job was canceled.",
  timedOut: "The attempt ran longer than the job's timeoutMs.",
  expired: "The lease of this job ran out: no heartbeat got through in time.",
  stopping: "The worker is stopping, and its grace is over.",
};

export function describe({ job: { id, queue, attempt } }: Attempt): {
  id: string;
  queue: string;
  attempt: number;
} {
  return { id, queue, attempt };
}

function keyOf({ id, attempt }: Lease): string {
  return `${attempt}:${id}`;
}
