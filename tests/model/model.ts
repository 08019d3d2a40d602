/**
 * The naive queue: jobs in an array, and the edges that the documents allow for each. It knows nothing of tables, bands, shards,
 * cursors, alarms or leases' rows, and scans every job at every question.
 *
 * Pure but for its input: it never calls the component. Where chance decides (jitter, which of many equal jobs), it gets the
 * component's choice, and says whether that was allowed (`claims.ts`, `follow.ts`).
 */
import {
  EDGES,
  type Edge,
  type FinishedStatus,
  type JobOptions,
  type Outcome,
  type QueueConfig,
  type QueueOverrides,
  type Retry,
  type Status,
} from "../../src/shared/index.js";
import { isActive, type Failure, type Job, type Session } from "./jobs.js";
import { backoff, span, type Span } from "./spans.js";

export class Model {
  readonly jobs: Job[] = [];
  readonly sessions: Session[] = [];
  /** The owner of a key, and the end of its window if it is kept for one. */
  readonly keys = new Map<string, { job: Job; until?: number }>();
  /** The callbacks that the app must have had, each once. */
  told: { id: string; status: FinishedStatus; attempt: number }[] = [];
  isPaused = false;
  isDraining = false;
  isDeclared = false;

  /** Settings changed at run time. */
  overrides: QueueOverrides = {};
  configuredAt = 0;
  /** The most it ever had. */
  shards: number;

  constructor(
    private readonly declared: QueueConfig,
    /** How often each edge was walked. */
    readonly walked: Map<Edge, number>,
  ) {
    this.shards = declared.shards;
  }

  get config(): QueueConfig {
    return { ...this.declared, ...this.overrides };
  }

  /** Whether that changed anything. */
  configure(overrides: QueueOverrides, now: number): boolean {
    const text = (one: QueueOverrides) => JSON.stringify(Object.entries(one).sort());
    const changed = text(overrides) !== text(this.overrides);
    if (changed) this.configuredAt = now;
    this.overrides = overrides;
    this.shards = this.config.shards;
    return changed;
  }

  /** The rules in force for a job. */
  rulesOf({ rules }: Job): Pick<QueueConfig, "leaseMs" | "maxResets" | "timeoutMs"> & {
    retry: Retry;
  } {
    return { retry: NO_RETRY, ...this.config, ...rules };
  }

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

  /** When a silent session has lost its leases: with the shortest of them. */
  deadlineOf({ lastSeenAt, leases }: Session): number {
    return lastSeenAt + Math.min(...leases.map(({ lastsMs }) => lastsMs));
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
      rules,
      status: isLater ? "scheduled" : "pending",
      ...{ attempt: 0, failures: 0, resets: 0, releases: 0, unacknowledged: 0, rounds: 0 },
      ...{ paused: false, cancelRequested: false },
      expiresAt: expiresAfterMs === undefined ? undefined : dueAt + expiresAfterMs,
      due: { from: dueAt, to: dueAt },
      waits: "start",
      // Without an attempt it goes before all jobs with one.
      isFirst: this.isCircular,
      ...{ seq: 0n, createdAt: 0, pendingSince: now, sessionKey: undefined },
      ...{
        failedBy: new Set<string>(),
        over: new Map<number, string | null>(),
        stopped: new Set<number>(),
      },
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
    // A round that failed counts as a try once retries are configured while its item rests.
    const isTry = job.waits === "rest" && job.failures > 0 && this.configuredAt > 0;
    if ((job.waits === "snooze" && this.isCircular) || isTry) job.isFirst = null;
    else job.isFirst = isBack || (job.waits === "start" && this.isCircular);
  }

  claim(job: Job, by: Session, now: number): void {
    this.walk(job, "claim");
    job.attempt += 1;
    job.sessionKey = by.sessionKey;
    const { leaseMs, timeoutMs } = this.rulesOf(job);
    by.leases.push({
      ...{ id: job.id, attempt: job.attempt, n: by.n },
      lastsMs: leaseMs + (this.config.graceMs ?? 0),
      timeoutAt: timeoutMs === undefined ? undefined : now + timeoutMs,
      isAsked: false,
    });
  }

  /** Whether the job would be over with this outcome, and its key free. */
  isEndedBy(job: Job, outcome: Outcome): boolean {
    switch (outcome.kind) {
      case "succeeded":
        return !this.isCircular || job.cancelRequested;
      case "canceled":
        return true;
      case "failed": {
        if (outcome.retryable === false) return true;
        const { maxAttempts } = this.rulesOf(job).retry;
        return job.failures + 1 >= maxAttempts && !(this.isCircular && maxAttempts <= 1);
      }
      default:
        return false;
    }
  }

  succeed(job: Job, by: string, now: number): void {
    if (this.isCircular && !job.cancelRequested) return this.goRound(job, true, span(now), by);
    this.leave(job, by);
    this.walk(job, "succeed");
    this.end(job);
  }

  /** `at`: the time of the failure, as exactly as is known. `by`: the session that reported it. */
  fail(job: Job, failure: Failure, at: Span, by: string | null): void {
    const name = this.sessions.find(({ sessionKey }) => sessionKey === job.sessionKey)?.name;
    const fatal = failure.retryable === false;
    const failures = job.failures + 1;
    if (name !== undefined) job.failedBy.add(name);
    const { retry } = this.rulesOf(job);
    if (!fatal && failures < retry.maxAttempts) {
      this.leave(job, by);
      this.walk(job, "backOff");
      job.failures = failures;
      job.waits = "backOff";
      job.due = backoff(retry, failures, failure.retryAfterMs, at);
      return;
    }
    if (!fatal && this.isCircular && retry.maxAttempts <= 1) {
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
    job.stopped.add(job.attempt);
    this.walk(job, "stop");
    this.end(job);
  }

  /** Its session vanished. */
  lose(job: Job, isUnknown: boolean, now: number): void {
    if (job.cancelRequested) return this.stop(job, null);
    const { maxResets } = this.rulesOf(job);
    const isReleased = isUnknown && maxResets > 0 && job.unacknowledged < UNKNOWN_MAX;
    if (isReleased) return this.release(job, null, now);
    this.leave(job, null);
    if (job.resets < maxResets) {
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
    job.sessionKey = undefined;
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
