/**
 * Jobs with handlers that run in the lane's own process, and the actions of any job's handler in Convex: the same as a
 * worker's handler, by the same code. It knows the component only by two calls.
 *
 * Handlers that share a process share its fate: one that ends it ends the attempts of all, and each is then lost.
 */
import type { Value } from "convex/values";
import type { Answer, ClaimedJob, JobFacts, LaneJob, Lease, Outcome } from "../shared/index.js";
import { LANE_ASK_MS, SIGNAL_ASK_MS, type Tracer } from "../shared/index.js";
import { Attempts, type Attempt } from "../worker/attempts.js";
import { systemClock, type Clock } from "../worker/clock.js";
import { printEvent } from "../worker/consoleEvents.js";
import { actionsOf, withFacts } from "../worker/job.js";
import { OUTPUT_DEFAULT } from "../worker/limits.js";
import { outcomeOfAbandoned, outcomeOfStopped } from "../worker/outcome.js";
import { Reports } from "../worker/reports.js";
import { runHandler, type HandlerEnd } from "../worker/runner.js";
import { inSpanOf } from "../worker/spans.js";
import type { Report, Transport } from "../worker/transport.js";
import type { Job, JobActions } from "../worker/types.js";

/** How handlers' words get to the component. */
export interface Says {
  report: Transport["report"];
  /** How these leases stand: which are to be ended. */
  standing(leases: Lease[]): Promise<Answer[]>;
}

/** How a handler ended, and the jobs that follow: named by its code, or made already where it is a function of its own. */
export type Ended = Pick<Report, "outcome" | "continued" | "follows">;

/** A handler with a function of its own may have returned, and its calls fail from then on: so many, and it asks no more. */
const FAILED_ASKS_MAX = 3;

/** A lane has no lease that its own clock could end: as long as a timer can be, and none is set. */
const NO_LEASE_MS = 2 ** 31 - 1;

/** Handlers of any number of jobs in this process. */
export class Handling {
  private readonly attempts: Attempts;
  private readonly reports: Reports;
  private readonly ends = new Map<Attempt, (outcome: Outcome) => void>();
  /** Attempts with handlers that have taken their signal, which has not aborted. */
  private readonly watched = new Set<Attempt>();
  private cancelAsking: (() => void) | null = null;
  private askedAllAt: number;
  private failedAsks = 0;

  constructor(
    private readonly says: Says,
    private readonly clock: Clock = systemClock,
    private readonly tracer?: Tracer,
  ) {
    this.askedAllAt = clock.now();
    this.attempts = new Attempts({
      ...{ clock: withoutLeases(clock), emit: printEvent },
      changed: () => this.releaseLost(),
      abandoned: (attempt) => this.ends.get(attempt)?.(outcomeOfAbandoned(attempt)),
    });
    this.reports = new Reports({
      ...{ clock, attempts: this.attempts, output: OUTPUT_DEFAULT, emit: printEvent },
      transport: { report: (said) => says.report(said) },
      failed: () => "rejected",
    });
  }

  /** Runs a handler; resolves when it has ended and all of its reports are recorded, or when it is abandoned. */
  async run(handler: (job: Job) => unknown, one: LaneJob): Promise<Ended> {
    return await this.runBy(one, (attempt, ended) => {
      void this.traced(attempt, () => runHandler(handler, this.jobOf(attempt))).then(ended);
    });
  }

  /** Begins the attempt's span, and runs its handler inside it. */
  traced<T>(attempt: Attempt, run: () => T): T {
    return inSpanOf(attempt, { tracer: this.tracer }, run);
  }

  /** The job of an attempt, for a handler in this process. */
  jobOf(attempt: Attempt): Job {
    return withFacts(attempt, this.actionsOf(attempt));
  }

  /** As {@link run}, of a handler that `begin` sees to. */
  async runBy(
    { job }: LaneJob,
    begin: (attempt: Attempt, ended: (end: HandlerEnd) => void) => void,
  ): Promise<Ended> {
    const attempt = this.begin(job);
    if (attempt === null) return { outcome: { kind: "released" } };
    this.ask();
    const outcome = await new Promise<Outcome>((resolve) => {
      this.ends.set(attempt, resolve);
      begin(attempt, (end) => {
        const outcome = outcomeOfStopped(attempt, end);
        attempt.traced?.ended(outcome, end.thrown);
        resolve(outcome);
      });
    });
    attempt.traced?.ended(outcome);
    this.ends.delete(attempt);
    if (attempt.state === "running") this.attempts.finish(attempt);
    await this.reports.flush(attempt);
    this.attempts.drop(attempt);
    this.watched.delete(attempt);
    if (this.attempts.running().length === 0) this.stopAsking();
    const { continued } = attempt;
    return { outcome, ...(outcome.kind === "succeeded" && continued.length > 0 && { continued }) };
  }

  /** Of a job that runs in a function of its own: nothing is known of its time. */
  begin({ timeoutMs, ...job }: ClaimedJob): Attempt | null {
    const timed = timeoutMs === undefined ? {} : { timeoutMs };
    return this.attempts.add({ ...job, ...timed, leaseMs: NO_LEASE_MS }, this.clock.now());
  }

  /** The actions of an attempt's handler: here it asks the component. */
  actionsOf(attempt: Attempt): JobActions {
    const { signal } = attempt.abort;
    const actions = {
      ...actionsOf(attempt, { reports: this.reports, emit: printEvent, clock: this.clock }),
      isCanceled: async () => {
        if (!signal.aborted) await this.hear([attempt]);
        return signal.aborted;
      },
    };
    // A handler that never takes its signal costs no question.
    const get = () => (this.watch(attempt), signal);
    return Object.defineProperty(actions, "signal", { get, enumerable: true });
  }

  /** From now on the component is asked, so often that the signal aborts within a second of a cancel. */
  private watch(attempt: Attempt): void {
    if (attempt.state !== "running" || attempt.abort.signal.aborted) return;
    if (this.watched.has(attempt)) return;
    this.watched.add(attempt);
    if (this.watched.size > 1) return;
    this.stopAsking();
    this.ask();
  }

  /** Until all reports are recorded, or dropped. */
  async flush(attempt: Attempt): Promise<void> {
    await this.reports.flush(attempt);
  }

  private async hear(asked: readonly Attempt[]): Promise<void> {
    const leases = asked.map(({ job: { id, attempt } }) => ({ id, attempt }));
    for (const one of await this.says.standing(leases)) {
      if (one.answer === "canceled") this.attempts.cancel(one);
      else if (one.answer !== "ok") this.attempts.lose(one);
    }
    for (const attempt of asked) if (attempt.abort.signal.aborted) this.watched.delete(attempt);
  }

  /**
   * The component is asked now and then about an attempt that has run for a while, and often about one with a taken
   * signal: short jobs end by themselves.
   */
  private ask(): void {
    const afterMs = this.watched.size > 0 ? SIGNAL_ASK_MS : LANE_ASK_MS;
    this.cancelAsking ??= this.clock.after(afterMs, () => void this.askDue());
  }

  /** No timer outlives the jobs: the lane's function ends with them. */
  private stopAsking(): void {
    this.cancelAsking?.();
    this.cancelAsking = null;
  }

  private async askDue(): Promise<void> {
    const due = this.dueNow();
    try {
      if (due.length > 0) await this.hear(due);
      this.failedAsks = 0;
    } catch {
      // It is asked again: nothing hangs on it but how soon a canceled job ends.
      this.failedAsks += 1;
    }
    this.cancelAsking = null;
    const mayHaveReturned = this.ends.size === 0 && this.failedAsks >= FAILED_ASKS_MAX;
    if (this.attempts.running().length > 0 && !mayHaveReturned) this.ask();
  }

  private dueNow(): Attempt[] {
    const since = this.clock.now() - LANE_ASK_MS;
    const running = this.attempts.running();
    const isTurnOfAll = this.askedAllAt <= since;
    if (isTurnOfAll) this.askedAllAt = this.clock.now();
    return running.filter(
      (attempt) => this.watched.has(attempt) || (isTurnOfAll && attempt.startedAt <= since),
    );
  }

  /** The component says that it is another's: nothing that its handler brings is wanted. */
  private releaseLost(): void {
    for (const [attempt, end] of this.ends) {
      if (attempt.state === "lost") end({ kind: "released" });
    }
  }
}

function withoutLeases(clock: Clock): Clock {
  return {
    ...clock,
    after: (ms, run) => (ms >= NO_LEASE_MS ? () => {} : clock.after(ms, run)),
  };
}

/** A job of a handler with a function of its own: its lane alone knows the lease. */
export function claimedOf(job: JobFacts): ClaimedJob {
  const { timeoutMs: _, idempotencyKey: __, ...facts } = job;
  return { ...facts, payload: null as Value, leaseMs: NO_LEASE_MS };
}
