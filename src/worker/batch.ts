/**
 * One batch: its handler's run, and each job's end. A job that the handler has answered ends by that answer, within a
 * quarter of a second; every other ends as the batch does. It knows nothing of leases or calls.
 */
import { conveyorError, Snoozed } from "../shared/index.js";
import type { Attempt } from "./attempts.js";
import type { Clock } from "./clock.js";
import { JobAborted } from "./control.js";
import { ABANDON_AFTER_MS, ANSWERS_INTERVAL_MS } from "./limits.js";
import { outcomeOfError, outcomeOfValue } from "./outcome.js";
import { runHandler, UNREADABLE, type HandlerEnd } from "./runner.js";
import type { BatchContext, BatchJob, Job, JobAnswers } from "./types.js";

/** The handler of a batch, for any queue. */
export type HandlesBatch = (jobs: any[], batch: BatchContext) => unknown;

export interface BatchDeps {
  clock: Pick<Clock, "after">;
  jobOf: (attempt: Attempt) => Job;
  /** A job has ended. */
  ended: (attempt: Attempt, end: HandlerEnd) => void;
  /** The handler goes on after it has answered these jobs and no other is wanted: its slot is free. */
  abandoned: (answered: Attempt[]) => void;
}

export class Batch {
  private readonly answers = new Map<Attempt, HandlerEnd>();
  private readonly delivered = new Set<Attempt>();
  private readonly abort = new AbortController();
  private isOver = false;
  private isAbandoned = false;
  private isForgotten = false;
  private cancelTimer: (() => void) | undefined;
  private cancelAbandon = () => {};

  constructor(
    readonly attempts: readonly Attempt[],
    private readonly deps: BatchDeps,
  ) {}

  /** Whether its handler runs, and is wanted: one that ignores the signals of all its jobs is given up with them. */
  get isRunning(): boolean {
    if (this.isOver || this.isAbandoned) return false;
    const isLive = ({ state }: Attempt) => state === "running" || state === "lost";
    return this.answers.size === this.attempts.length || this.attempts.some(isLive);
  }

  /** Resolves when the handler has ended. Never rejects. */
  async run(handler: HandlesBatch): Promise<void> {
    const { attempts, abort } = this;
    for (const { abort: own } of attempts)
      own.signal.addEventListener("abort", () => this.abortUnwanted(), { once: true });
    const jobs = attempts.map((attempt) => this.jobOf(attempt));
    const ends = await endsOf(() => handler([...jobs], { signal: abort.signal }), attempts.length);
    this.isOver = true;
    this.forget();
    for (const [i, attempt] of attempts.entries()) {
      if (!this.delivered.has(attempt))
        this.deps.ended(attempt, this.answers.get(attempt) ?? ends[i]!);
    }
  }

  private jobOf(attempt: Attempt): BatchJob {
    const answers: JobAnswers = {
      succeed: (result?: unknown) => this.answer(attempt, () => endOfValue(result)),
      fail: (error) => this.answer(attempt, () => endOfThrown(error)),
      snooze: (ms) => this.answer(attempt, () => endOfThrown(new Snoozed(ms))),
    };
    // Into the job: a copy would take its signal.
    return Object.assign(this.deps.jobOf(attempt), answers);
  }

  /** After the batch it is dropped, as all words of a job that is over are. */
  private answer(attempt: Attempt, end: () => HandlerEnd): void {
    if (this.isOver) return;
    if (this.answers.has(attempt)) throw answeredTwice(attempt);
    this.answers.set(attempt, end());
    if (!this.isForgotten)
      this.cancelTimer ??= this.deps.clock.after(ANSWERS_INTERVAL_MS, () => this.tell());
    this.abortUnwanted();
  }

  /**
   * Tells the answers that it has not yet told. Those of a while go together: a call each would be the cost that batches
   * are to save.
   */
  tell(): void {
    this.cancelTimer?.();
    this.cancelTimer = undefined;
    for (const [attempt, end] of this.answers) {
      if (this.delivered.has(attempt)) continue;
      this.delivered.add(attempt);
      this.deps.ended(attempt, end);
    }
  }

  /** Nothing is waited for any more. */
  forget(): void {
    this.isForgotten = true;
    this.cancelTimer?.();
    this.cancelAbandon();
  }

  /** The handler is to stop once each of its jobs has its answer, or its own signal to stop. */
  private abortUnwanted(): void {
    const isUnwanted = (attempt: Attempt) =>
      attempt.abort.signal.aborted || this.answers.has(attempt);
    if (this.isOver || this.abort.signal.aborted || !this.attempts.every(isUnwanted)) return;
    const reason = this.attempts.find((one) => one.reason !== undefined)?.reason ?? "answered";
    if (!this.isForgotten)
      this.cancelAbandon = this.deps.clock.after(ABANDON_AFTER_MS, () => this.abandon());
    this.abort.abort(new JobAborted(reason, "No job of this batch waits for an answer any more."));
  }

  private abandon(): void {
    this.isAbandoned = true;
    this.deps.abandoned(this.attempts.filter((attempt) => this.answers.has(attempt)));
  }
}

/** The end of each job that has no answer. */
async function endsOf(handler: () => unknown, jobs: number): Promise<HandlerEnd[]> {
  let ends: HandlerEnd[] | undefined;
  const whole = await runHandler(async () => {
    const returned = await handler();
    if (returned === undefined || returned === null) return undefined;
    if (!Array.isArray(returned)) throw noArray(jobs, returned);
    if (returned.length !== jobs) throw otherLength(jobs, returned.length);
    const results: unknown[] = [...(returned as unknown[])];
    ends = await Promise.all(results.map((result) => runHandler(() => result, undefined)));
    return undefined;
  }, undefined);
  return ends ?? Array.from({ length: jobs }, () => whole);
}

function endOfValue(value: unknown): HandlerEnd {
  const outcome = outcomeOfValue(value);
  return outcome.kind === "failed" ? { outcome, refused: outcome.error } : { outcome };
}

function endOfThrown(error: unknown): HandlerEnd {
  try {
    return { outcome: outcomeOfError(error), thrown: error };
  } catch {
    return { outcome: { kind: "failed", error: UNREADABLE } };
  }
}

function noArray(jobs: number, got: unknown): Error {
  return conveyorError(
    "invalidArgument",
    `The handler of a batch must return an array of ${jobs} results, one for each job, or nothing; got ${typeof got}.`,
    { argument: "results" },
  );
}

function otherLength(jobs: number, got: number): Error {
  return conveyorError(
    "invalidArgument",
    `The handler of a batch of ${jobs} jobs must return as many results, in the order of the jobs; got ${got}. ` +
      "Return null for a job without a result, or answer jobs by `job.succeed` and `job.fail` and return nothing.",
    { argument: "results", got, wanted: jobs },
  );
}

function answeredTwice({ job: { id } }: Attempt): Error {
  return conveyorError(
    "invalidArgument",
    `The job ${id} has been answered, and a job has one answer. Answer it at one place: \`succeed\`, \`fail\` or \`snooze\`.`,
    { argument: "answer", job: id },
  );
}
