/**
 * The naive queue: jobs in an array, and what the documents say may happen to each. It knows nothing of tables, bands,
 * shards, cursors, alarms or leases' rows, and looks at every job whenever it is asked anything.
 *
 * Pure but for what it is told: it never calls the component. Where chance decides (jitter, which of many equal jobs), it is
 * told what the component did, and says whether that was allowed (`claims.ts`, `follow.ts`).
 */
import {
  EDGES,
  type Edge,
  type FinishedStatus,
  type JobOptions,
  type QueueConfig,
  type Retry,
  type Status,
} from "../../src/shared/index.js";
import { backoff, span, type Span } from "./spans.js";

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
  readonly retry: Retry;
  readonly maxResets: number;
  readonly leaseMs: number;
  readonly timeoutMs: number | undefined;
  status: Status;
  attempt: number;
  failures: number;
  resets: number;
  releases: number;
  /** Releases of leases that their holder never learnt of. */
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
  session: string | undefined;
  failedBy: Set<string>;
  /** Attempts that are over, and who reported their end, if anybody did. */
  over: Map<number, string | null>;
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
  leaseMs: number;
  timeoutAt: number | undefined;
  /** Its holder was asked to end it. */
  isAsked: boolean;
}

export interface Session {
  readonly name: string;
  readonly session: string;
  /** Of its last call; 0 before the first. */
  n: number;
  lastSeenAt: number;
  leases: Lease[];
  /** Whether its last claim's reply is known to have arrived. */
  acknowledged: boolean;
  /** When it has lost what it holds, if it goes on being silent. */
  deadlineAt: number;
}

export interface Failure {
  retryable?: boolean | undefined;
  retryAfterMs?: number | undefined;
  isTimeout?: boolean;
}

export class Model {
  readonly jobs: Job[] = [];
  readonly sessions: Session[] = [];
  /** Who has a key, and until when if it is kept for a window. */
  readonly keys = new Map<string, { job: Job; until?: number }>();
  /** What the app must have been told, each once. */
  told: { id: string; status: FinishedStatus; attempt: number }[] = [];
  isPaused = false;
  isDraining = false;
  isDeclared = false;

  constructor(
    readonly config: QueueConfig,
    /** How often each edge was walked. */
    readonly walked: Map<Edge, number>,
  ) {}

  get there(): Job[] {
    return this.jobs.filter((job) => !job.isDeleted);
  }

  find(id: string): Job | undefined {
    return this.jobs.find((job) => job.id === id);
  }

  get isCircular(): boolean {
    return this.config.circular === true;
  }

  /** The session has spoken: everything that it holds is renewed. */
  renew(session: Session, now: number): void {
    session.lastSeenAt = now;
    session.deadlineAt = this.deadlineOf(session);
  }

  /** When a session that goes on being silent has lost what it holds: with the shortest of its leases. */
  deadlineOf({ lastSeenAt, leases }: Session): number {
    const { graceMs = 0 } = this.config;
    return lastSeenAt + Math.min(...leases.map(({ leaseMs }) => leaseMs)) + graceMs;
  }

  // --- Coming in -----------------------------------------------------------------------------------

  add(id: string, payload: number, options: JobOptions, now: number): Job {
    const { key, rules = {}, runAfter = 0 } = options;
    const expiresAfterMs = options.expiresAfterMs ?? this.config.expiresAfterMs;
    const isLater = runAfter > 0;
    const dueAt = now + runAfter;
    const job: Job = {
      ...{ id, payload, priority: options.priority ?? 0, cost: options.cost ?? 1 },
      labels: options.labels ?? [],
      tags: options.tags ?? [],
      group: options.group,
      key: key?.value,
      keyUntil: key?.windowMs === undefined ? undefined : now + key.windowMs,
      retry: rules.retry ?? this.config.retry ?? NO_RETRY,
      maxResets: rules.maxResets ?? this.config.maxResets,
      leaseMs: rules.leaseMs ?? this.config.leaseMs,
      timeoutMs: rules.timeoutMs ?? this.config.timeoutMs,
      status: isLater ? "scheduled" : "pending",
      ...{ attempt: 0, failures: 0, resets: 0, releases: 0, unacknowledged: 0, rounds: 0 },
      ...{ paused: false, cancelRequested: false },
      expiresAt: expiresAfterMs === undefined ? undefined : dueAt + expiresAfterMs,
      due: { from: dueAt, to: dueAt },
      waits: "start",
      // Never worked before all others.
      isFirst: this.isCircular,
      ...{ seq: 0n, createdAt: 0, pendingSince: now, session: undefined },
      ...{ failedBy: new Set<string>(), over: new Map<number, string | null>() },
      ...{ isDeleted: false, hasMoved: true, history: ["enqueued"] },
    };
    this.jobs.push(job);
    if (job.key !== undefined) {
      const until = job.keyUntil === undefined ? {} : { until: job.keyUntil };
      this.keys.set(job.key, { job, ...until });
    }
    return job;
  }

  /** The job that has the key now. */
  ownerOf(key: string, now: number): Job | null {
    const row = this.keys.get(key);
    return row === undefined || (row.until !== undefined && row.until <= now) ? null : row.job;
  }

  // --- Edges ---------------------------------------------------------------------------------------

  private walk(job: Job, edge: Edge): void {
    const { from, to } = EDGES[edge];
    if (!(from as readonly Status[]).includes(job.status)) {
      throw new Error(`The model itself is wrong: a ${job.status} job cannot ${edge}.`);
    }
    this.walked.set(edge, (this.walked.get(edge) ?? 0) + 1);
    job.history.push(edge);
    job.status = to;
    job.hasMoved = true;
  }

  promote(job: Job, now: number): void {
    this.walk(job, "promote");
    job.pendingSince = now;
    const isBack = job.waits === "backOff" || (job.waits === "snooze" && !this.isCircular);
    if (job.waits === "snooze" && this.isCircular) job.isFirst = null;
    else job.isFirst = isBack || (job.waits === "start" && this.isCircular);
  }

  claim(job: Job, by: Session, now: number): void {
    this.walk(job, "claim");
    job.attempt += 1;
    job.session = by.session;
    by.leases.push({
      ...{ id: job.id, attempt: job.attempt, n: by.n, leaseMs: job.leaseMs },
      timeoutAt: job.timeoutMs === undefined ? undefined : now + job.timeoutMs,
      isAsked: false,
    });
  }

  succeed(job: Job, by: string, now: number): void {
    if (this.isCircular && !job.cancelRequested) return this.goRound(job, true, span(now), by);
    this.leave(job, by);
    this.walk(job, "succeed");
    this.end(job);
  }

  /** `at`: when it failed, as exactly as is known. `by`: who said so. */
  fail(job: Job, failure: Failure, at: Span, by: string | null): void {
    const name = this.sessions.find(({ session }) => session === job.session)?.name;
    const fatal = failure.retryable === false;
    const failures = job.failures + 1;
    if (name !== undefined) job.failedBy.add(name);
    if (!fatal && failures < job.retry.maxAttempts) {
      this.leave(job, by);
      this.walk(job, "backOff");
      job.failures = failures;
      job.waits = "backOff";
      job.due = backoff(job.retry, failures, failure.retryAfterMs, at);
      return;
    }
    if (!fatal && this.isCircular && job.retry.maxAttempts <= 1) {
      return this.goRound(job, false, at, by);
    }
    this.leave(job, by);
    this.walk(job, failure.isTimeout === true ? "timeOut" : "fail");
    job.failures = failures;
    this.end(job);
  }

  private goRound(job: Job, isGood: boolean, at: Span, by: string | null): void {
    const { restMs = 0 } = this.config;
    this.told.push({
      id: job.id,
      status: isGood ? "succeeded" : "failed",
      attempt: job.attempt,
    });
    this.leave(job, by);
    this.walk(job, restMs > 0 ? "rest" : "comeRound");
    if (isGood) job.failedBy.clear();
    Object.assign(job, { rounds: job.rounds + 1, resets: 0, unacknowledged: 0 });
    job.failures = isGood ? 0 : job.failures + 1;
    job.waits = "rest";
    job.due = { from: at.from + restMs, to: at.to + restMs };
    job.isFirst = false;
    job.pendingSince = at.to;
  }

  release(job: Job, by: string | null, now: number): void {
    this.leave(job, by);
    this.walk(job, "release");
    job.releases += 1;
    if (by === null) job.unacknowledged += 1;
    Object.assign(job, { isFirst: true, pendingSince: now });
  }

  snooze(job: Job, by: string, dueAt: number): void {
    this.leave(job, by);
    this.walk(job, "snooze");
    job.releases += 1;
    Object.assign(job, { waits: "snooze", due: span(dueAt) });
  }

  stop(job: Job, by: string | null): void {
    this.leave(job, by);
    this.walk(job, "stop");
    this.end(job);
  }

  /** Its holder vanished. */
  lose(job: Job, isUnknown: boolean, now: number): void {
    if (job.cancelRequested) return this.stop(job, null);
    if (isUnknown && job.unacknowledged < UNKNOWN_MAX) return this.release(job, null, now);
    this.leave(job, null);
    if (job.resets < job.maxResets) {
      this.walk(job, "reset");
      job.resets += 1;
      Object.assign(job, { isFirst: true, pendingSince: now });
      return;
    }
    this.walk(job, "timeOut");
    this.end(job);
  }

  cancel(job: Job): void {
    this.walk(job, "cancel");
    this.end(job);
  }

  expire(job: Job): void {
    this.walk(job, "expire");
    this.end(job);
  }

  requestCancel(job: Job): void {
    job.cancelRequested = true;
    this.ask(job);
  }

  /** Whether it was: its key may be another's now. */
  retry(job: Job, now: number): boolean {
    if (job.key !== undefined) {
      const owner = this.ownerOf(job.key, now);
      if (owner !== null && owner !== job) return false;
      if (owner === null && job.keyUntil === undefined) this.keys.set(job.key, { job });
    }
    this.walk(job, "retry");
    Object.assign(job, { failures: 0, resets: 0, releases: 0, unacknowledged: 0 });
    Object.assign(job, { expiresAt: undefined, isFirst: true, pendingSince: now });
    job.failedBy.clear();
    return true;
  }

  /** Whether that changed anything. */
  pause(job: Job): boolean {
    if (job.paused || !isActive(job.status)) return false;
    if (job.status === "pending") this.walk(job, "pause");
    job.paused = true;
    return true;
  }

  resume(job: Job, now: number): boolean {
    if (!job.paused) return false;
    job.paused = false;
    if (job.status !== "pending") return true;
    this.walk(job, "resume");
    job.isFirst = this.isCircular ? job.rounds === 0 : job.attempt > 0;
    job.pendingSince = now;
    return true;
  }

  delete(job: Job): void {
    if (job.status === "running") this.ask(job);
    this.freeKey(job);
    job.isDeleted = true;
  }

  private ask(job: Job): void {
    for (const { leases } of this.sessions) {
      const lease = leases.find(({ id, attempt }) => id === job.id && attempt === job.attempt);
      if (lease !== undefined) lease.isAsked = true;
    }
  }

  /** The attempt is over. */
  private leave(job: Job, by: string | null): void {
    for (const session of this.sessions) {
      session.leases = session.leases.filter(({ id }) => id !== job.id);
    }
    job.over.set(job.attempt, by);
    job.session = undefined;
  }

  private end(job: Job): void {
    this.freeKey(job);
    Object.assign(job, { paused: false, cancelRequested: false });
    const status = job.status as FinishedStatus;
    if (this.config.onCompleteExclude?.includes(status) === true) return;
    this.told.push({ id: job.id, status, attempt: job.attempt });
  }

  private freeKey(job: Job): void {
    if (job.key === undefined || job.keyUntil !== undefined) return;
    const row = this.keys.get(job.key);
    if (row?.job === job && row.until === undefined) this.keys.delete(job.key);
  }
}

const NO_RETRY: Retry = { maxAttempts: 1, initialBackoffMs: 1, base: 1, maxBackoffMs: 1 };

/** Leases that were never acknowledged give a job back so often at most before they count. */
const UNKNOWN_MAX = 3;

export function isActive(status: Status): boolean {
  return status === "scheduled" || status === "pending" || status === "running";
}
