/**
 * The handlers of claimed attempts: it begins them, and passes each outcome on once the rest of its attempt's reports is
 * recorded. One job never has two handlers here (`beside.ts`). It makes no calls.
 */
import type { Outcome, Tracer } from "../shared/index.js";
import { describe, type Attempt, type Attempts } from "./attempts.js";
import { Batch } from "./batch.js";
import { isBatched, type AnyHandler } from "./batching.js";
import { Beside } from "./beside.js";
import type { Clock } from "./clock.js";
import { handlerMissing, messageOf } from "./errors.js";
import type { WorkerEvent } from "./events.js";
import { jobOf } from "./job.js";
import { runWithHooks, type JobHooks } from "./jobHooks.js";
import type { Outbox } from "./outbox.js";
import { outcomeOfStopped, failureFields } from "./outcome.js";
import type { Reports } from "./reports.js";
import { runHandler, type HandlerEnd } from "./runner.js";
import { inSpanOf } from "./spans.js";
import type { BatchHandler, Handler, Job } from "./types.js";

export interface ExecutionDeps {
  clock: Clock;
  attempts: Attempts;
  reports: Reports;
  outbox: Outbox;
  handlers: ReadonlyMap<string, AnyHandler>;
  hooks: JobHooks;
  /** The worker's name, for spans. */
  name: string;
  tracer?: Tracer;
  emit: (event: WorkerEvent) => void;
  /** An attempt waits for its batch. */
  gather: (attempt: Attempt) => void;
  /** Whether handlers may still begin. */
  mayBegin: () => boolean;
  /** A job of a queue without a handler came. */
  unserved: (error: Error) => void;
  /** An outcome is to be recorded. */
  reported: () => void;
}

export class Execution {
  private readonly beside: Beside;
  /** Attempts that have ended, with last reports still on their way. */
  ending = 0;

  constructor(private readonly deps: ExecutionDeps) {
    this.beside = new Beside(deps.clock);
  }

  begin(attempt: Attempt): void {
    const { handlers, reports, emit, clock } = this.deps;
    const { queue, id } = attempt.job;
    const handler = handlers.get(queue);
    if (handler === undefined) {
      // A mistake: the deployment hands out only jobs of the requested queues. Another worker must do it.
      this.conclude(attempt, { kind: "released" });
      return this.deps.unserved(handlerMissing(queue, [...handlers.keys()]));
    }
    // It came with the answer to a claim that was on its way when the stop began.
    if (!this.deps.mayBegin()) return this.conclude(attempt, { kind: "released" });
    // Canceled before it had begun: then it never does.
    if (attempt.reason === "canceled") return this.conclude(attempt, { kind: "canceled" });
    if (attempt.reason !== undefined) return this.endUnbegun(attempt);
    // Its last attempt was lost, and that handler goes on after its signal.
    if (this.beside.has(id)) return void this.beginAfter(attempt);
    if (isBatched(handler)) return this.deps.gather(attempt);
    const end = this.traced(attempt, () => {
      const job = jobOf(attempt, { reports, emit, clock });
      return this.beside.run(id, this.run(handler, job, attempt));
    });
    void end.then((one) => this.ended(attempt, one));
  }

  /** Runs the handler of a queue of batches. All are of that queue; each job ends by itself. */
  beginBatch(attempts: readonly Attempt[], over: () => void): Batch {
    const { handlers, reports, emit, clock } = this.deps;
    const { handler } = handlers.get(attempts[0]!.job.queue) as BatchHandler;
    const begunAt = clock.now();
    for (const attempt of attempts) this.traced(attempt, () => {});
    const batch = new Batch(attempts, {
      clock,
      jobOf: (attempt) => jobOf(attempt, { reports, emit, clock }),
      ended: (attempt, end) => {
        // Answered before its batch has ended, the job may come again: this handler is done with it.
        this.beside.end(attempt.job.id, running);
        this.ended(attempt, end, begunAt);
      },
      abandoned: (answered) => {
        for (const one of answered) emit({ kind: "handlerAbandoned", ...describe(one) });
        over();
      },
    });
    const running = batch.run(handler);
    for (const { job } of attempts) void this.beside.run(job.id, running);
    void running.then(over);
    return batch;
  }

  /**
   * An attempt whose signal has aborted before its handler began. One that is out of time has not failed: it goes back,
   * for a worker with a free slot.
   */
  endUnbegun(attempt: Attempt): void {
    if (attempt.state === "lost") this.deps.attempts.drop(attempt);
    else if (attempt.state === "running") {
      this.conclude(attempt, { kind: attempt.reason === "canceled" ? "canceled" : "released" });
    }
  }

  /** Ends an attempt's part: the rest of its reports goes first, then its outcome. */
  conclude(attempt: Attempt, outcome: Outcome): void {
    this.deps.attempts.finish(attempt);
    attempt.traced?.ended(outcome);
    const rest = this.deps.reports.flush(attempt);
    if (rest === null) return this.report(attempt, outcome);
    this.ending += 1;
    void rest.then(() => {
      this.ending -= 1;
      this.report(attempt, outcome);
    });
  }

  /** Of a batch the handler runs in no span. */
  private traced<T>(attempt: Attempt, run: () => T): T {
    const { tracer, name: worker } = this.deps;
    return inSpanOf(attempt, { tracer, worker }, run);
  }

  private run(handler: Handler, job: Job, attempt: Attempt): Promise<HandlerEnd> {
    const { hooks, clock, emit } = this.deps;
    const { beforeJob, afterJob, around } = hooks;
    if ((beforeJob ?? afterJob ?? around) === undefined) return runHandler(handler, job);
    return runWithHooks(handler, job, {
      hooks,
      now: () => clock.now(),
      outcomeOf: (end) => outcomeOfStopped(attempt, end),
      continued: attempt.continued,
      failed: (error) =>
        emit({
          ...{ kind: "hookFailed", hook: "afterJob", error: messageOf(error) },
          ...describe(attempt),
        }),
    });
  }

  private async beginAfter(attempt: Attempt): Promise<void> {
    await this.beside.wait(attempt.job.id);
    if (attempt.state === "lost") return this.deps.attempts.drop(attempt);
    if (attempt.state !== "running") return;
    const { id } = attempt.job;
    if (this.beside.has(id)) this.conclude(attempt, this.beside.back(id));
    else this.begin(attempt);
  }

  private ended(attempt: Attempt, end: HandlerEnd, begunAt = attempt.startedAt): void {
    const { outcome: returned, refused } = end;
    const { emit, clock, attempts } = this.deps;
    const about = describe(attempt);
    if (attempt.state !== "running") {
      emit({ kind: "resultDropped", outcome: returned.kind, ...about });
      attempt.traced?.ended({ kind: "lost" });
      if (attempt.state === "lost") attempts.drop(attempt);
      return;
    }
    const ms = clock.now() - begunAt;
    const outcome = outcomeOfStopped(attempt, end);
    attempt.traced?.ended(outcome, end.thrown);
    const failure = outcome.kind === "failed" ? failureFields(outcome) : {};
    const event: WorkerEvent = {
      kind: "finished",
      outcome: outcome.kind,
      ms,
      ...failure,
      ...about,
    };
    if ("thrown" in end) Object.defineProperty(event, "thrown", { value: end.thrown });
    emit(event);
    if (refused !== undefined) emit({ kind: "resultRefused", error: refused, ...about });
    this.conclude(attempt, outcome);
  }

  private report({ job: { id, queue, attempt }, continued }: Attempt, outcome: Outcome): void {
    const following = outcome.kind === "succeeded" && continued.length > 0 ? { continued } : {};
    this.deps.outbox.put({ id, attempt, queue, outcome, ...following });
    this.deps.reported();
  }
}
