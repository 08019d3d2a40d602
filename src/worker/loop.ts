/**
 * The worker itself: one loop that records finished outcomes, claims jobs for its free slots, and otherwise sleeps
 * until something happens. It is the only one that makes numbered calls, so these are one at a time by construction.
 *
 *     step:  outcomes to send?  ──► complete, and claim in the same call while there is room
 *            room, and a claim due?  ──► claim
 *            else  ──► sleep until a handler ends, the subscription speaks, a lease changes, or a time comes
 *
 * Stopping: nothing more is claimed, handlers may end; when the grace is over they are aborted and their jobs given
 * back; when the time of the last calls is over too, the loop ends all that is left.
 */
import { LEASES_MAX, type Outcome } from "../shared/index.js";
import { Asking, type Bounds } from "./asking.js";
import { Attempts, describe, type Attempt } from "./attempts.js";
import { Beside } from "./beside.js";
import { Calls, type CallEnd } from "./calls.js";
import { Cancellations } from "./cancellations.js";
import type { Clock } from "./clock.js";
import { confirmLeases } from "./confirm.js";
import { handlerMissing, judge, messageOf, type Failure } from "./errors.js";
import { Following } from "./following.js";
import { Heart } from "./heart.js";
import { jobOf } from "./job.js";
import { sayGoodbye } from "./goodbye.js";
import { greet } from "./hello.js";
import { FLUSH_MS, GRACE_DEFAULT_MS } from "./limits.js";
import { Outbox, type Sending } from "./outbox.js";
import { outcomeOfAbandoned, outcomeOfStopped, saidOf } from "./outcome.js";
import { Recording } from "./recording.js";
import { Reports } from "./reports.js";
import { runHandler, type HandlerEnd } from "./runner.js";
import { Waker } from "./waker.js";
import type { Claimed, ClaimRequest, Transport } from "./transport.js";
import type { CallName, Handler, OutputOptions, WorkerEvent } from "./types.js";

export interface LoopOptions {
  clock: Clock;
  /** Of the worker: a job that it has failed it leaves to other workers for a while. */
  name: string;
  /** The queues that it serves, of its handlers'. */
  queues: readonly string[];
  transport: Transport;
  handlers: ReadonlyMap<string, Handler>;
  concurrency: number;
  presenceMs: number;
  /** The budget of its jobs' costs; absent, there is none. */
  maxCost?: number;
  output: Required<OutputOptions>;
  emit: (event: WorkerEvent) => void;
}

export class Loop {
  private readonly waker: Waker;
  private readonly attempts: Attempts;
  private readonly outbox: Outbox;
  private readonly asking: Asking;
  private readonly heart: Heart;
  private readonly recording: Recording;
  private readonly reports: Reports;
  private readonly cancellations: Cancellations;
  private readonly calls: Calls;
  private readonly beside: Beside;
  private readonly following: Following;
  /** Attempts that have ended, with last reports still on their way. */
  private ending = 0;

  private phase: "working" | "stopping" | "over" = "working";
  private error: Error | undefined;
  /** While stopping, until the grace is over. */
  private graceEndsAt: number | undefined;
  private cancelGrace = () => {};
  private giveUp = () => {};

  constructor(private readonly options: LoopOptions) {
    this.beside = new Beside(options.clock);
    const { clock, transport, emit, presenceMs, output } = options;
    const gaveUp = new Promise<void>((resolve) => (this.giveUp = resolve));
    this.waker = new Waker(clock);
    this.outbox = new Outbox(clock);
    this.asking = new Asking(clock, options.queues, options.name);
    this.following = new Following({
      ...{ transport, asking: this.asking, maxCost: options.maxCost },
      told: () => this.waker.wake(),
      failed: (error) => void this.sideCallFailed("hasWork", error),
    });
    this.calls = new Calls({ clock, emit, gaveUp });
    this.attempts = new Attempts({
      clock,
      emit,
      changed: () => this.changed(),
      abandoned: (attempt) => this.conclude(attempt, outcomeOfAbandoned(attempt)),
    });
    const { attempts } = this;
    this.heart = new Heart({
      clock,
      transport,
      attempts,
      presenceMs,
      isCalling: () => this.calls.isCalling,
      hearsCancellations: () => this.cancellations.isLive,
      failed: (error) => void this.sideCallFailed("heartbeat", error),
    });
    this.recording = new Recording({
      attempts,
      outbox: this.outbox,
      transport,
      emit,
      failed: (error) => void this.sideCallFailed("complete", error),
    });
    this.reports = new Reports({
      clock,
      transport,
      attempts,
      output,
      emit,
      failed: (error) => this.sideCallFailed("report", error),
    });
    this.cancellations = new Cancellations({
      clock,
      transport,
      attempts,
      failed: (error) =>
        emit({ kind: "callRejected", call: "cancellations", error: messageOf(error) }),
    });
  }

  /** Works until it is stopped. Rejects with the error that ended it, if one did. */
  async run(): Promise<void> {
    this.following.start();
    this.heart.schedule();
    try {
      this.failed("hello", await greet(this.options, this.calls));
      while (!this.isOver()) await this.step();
    } finally {
      // Also after an error of our own: beats that go on by themselves would keep the jobs from every other worker.
      this.following.stop();
      this.end();
      if (this.calls.everAnswered) await sayGoodbye(this.options, this.calls.after);
    }
    if (this.error !== undefined) throw this.error;
  }

  private end(): void {
    this.phase = "over";
    this.cancelGrace();
    this.giveUp();
    this.heart.stop();
    this.reports.stop();
    this.cancellations.stop();
    this.attempts.dropAll();
    this.options.emit({ kind: "stopped", unrecorded: this.outbox.size });
  }

  /** Claims nothing more, and ends within the grace and the time of the last calls. May be called again to hurry. */
  stop(graceMs: number): void {
    if (this.phase === "over") return;
    this.phase = "stopping";
    this.options.emit({ kind: "stopping", graceMs });
    this.graceEndsAt = this.options.clock.now() + graceMs;
    this.awaitGrace();
    this.waker.wake();
  }

  // --- The loop ---------------------------------------------------------------------------------

  private async step(): Promise<void> {
    const sending = this.outbox.next();
    const { length } = sending.reports;
    const room = this.room(length);
    if (length > 0) return await this.complete(sending, sending.alone ? 0 : room);
    const claimAt = room > 0 ? this.asking.claimAt() : null;
    if (claimAt !== null && claimAt <= this.options.clock.now()) return await this.claim(room);
    await this.waker.sleepUntil(claimAt, this.outbox.nextDueAt());
  }

  private isOver(): boolean {
    if (this.phase === "over") return true;
    return this.phase === "stopping" && !this.isBusy();
  }

  /** Whether anything is in hand. */
  private isBusy(): boolean {
    return this.attempts.slotsUsed() > 0 || this.ending > 0 || this.outbox.size > 0;
  }

  /** How many jobs to ask for, once so many outcomes are recorded. */
  private room(recorded: number): number {
    if (this.phase !== "working" || this.budget() <= 0) return 0;
    const slots = this.options.concurrency - this.attempts.slotsUsed();
    const leases = LEASES_MAX - (this.attempts.held().length - recorded);
    return Math.max(0, Math.min(slots, leases));
  }

  /** The part of the worker's budget that running jobs leave over. */
  private budget(): number {
    const { maxCost = Infinity } = this.options;
    return maxCost - this.attempts.costUsed();
  }

  private async claim(room: number): Promise<void> {
    const request = this.asking.request(this.bounds(room));
    const end = await this.call("claim", (n) => this.options.transport.claim(n, request));
    if (end.kind === "answered") return await this.claimed(end, request);
    this.asking.cameInVain(request);
    this.failed("claim", end);
  }

  private async complete(sending: Sending, room: number): Promise<void> {
    await this.recording.handOver(sending);
    const claim = room > 0 ? this.asking.requestBeside(this.bounds(room)) : undefined;
    const options = {
      ...this.recording.optionsOf(sending),
      ...(claim === undefined ? {} : { claim }),
    };
    const end = await this.call("complete", (n) =>
      this.options.transport.complete(n, sending.reports, options),
    );
    if (end.kind === "answered") {
      if (end.reply.held !== undefined) this.heart.heard(end.reply.held, end.sentAt);
      this.recording.settle(end.reply.answers, end.reply.refused);
      // A job in a reply to a call that asked for none comes from an earlier copy of it; it is as much ours.
      if (claim !== undefined || end.reply.jobs.length > 0) await this.claimed(end, claim);
      return;
    }
    this.outbox.reject(sending);
    this.asking.rejected(claim);
    this.failed("complete", end);
  }

  /** A numbered call. One that was answered has renewed all leases as a beat does. */
  private async call<Reply>(
    name: CallName,
    send: (n: number) => Promise<Reply>,
  ): Promise<CallEnd<Reply>> {
    const calling = this.calls.run(name, send);
    this.heart.schedule();
    const end = await calling;
    if (end.kind === "answered") this.attempts.renewAll(end.sentAt);
    this.heart.schedule();
    return end;
  }

  private bounds(max: number): Bounds {
    const budget = this.budget();
    return { max, ...(budget === Infinity ? {} : { maxCost: budget }) };
  }

  // --- Jobs -------------------------------------------------------------------------------------

  private async claimed(
    { reply, sentAt, repeats }: Extract<CallEnd<Claimed>, { kind: "answered" }>,
    request: ClaimRequest | undefined,
  ): Promise<void> {
    this.asking.answered(reply, request, this.options.clock.now() - sentAt);
    if (reply.jobs.length === 0) return this.following.cameInVain(request);
    const leases = await confirmLeases(this.options, reply.jobs, { sentAt, repeats });
    const begun: Attempt[] = [];
    for (const { job, sentAt: renewedAt } of leases) {
      const attempt = this.attempts.add(job, renewedAt);
      if (attempt !== null) begun.push(attempt);
    }
    this.options.emit({ kind: "claimed", jobs: begun.map(describe) });
    for (const { job, isCanceled } of leases) if (isCanceled === true) this.attempts.cancel(job);
    this.cancellations.changed();
    for (const attempt of begun) this.begin(attempt);
    if (this.graceEndsAt !== undefined && begun.length > 0) this.awaitGrace();
    this.changed();
  }

  private begin(attempt: Attempt): void {
    const { queue } = attempt.job;
    const handler = this.options.handlers.get(queue);
    if (handler === undefined) {
      // A mistake: the deployment hands out only jobs of the requested queues. Another worker must do it.
      this.conclude(attempt, { kind: "released" });
      this.failed("claim", {
        kind: "unserved",
        error: handlerMissing(queue, [...this.options.handlers.keys()]),
      });
      return;
    }
    if (this.phase !== "working") {
      // It came with the answer to a claim that was on its way when the stop began.
      this.conclude(attempt, { kind: "released" });
      return;
    }
    if (attempt.reason === "canceled") {
      // Canceled before it had begun: then it never does.
      return this.conclude(attempt, { kind: "canceled" });
    }
    // Its last attempt was lost, and that handler goes on after its signal.
    if (this.beside.has(attempt.job.id)) return void this.beginAfter(attempt);
    const job = jobOf(attempt, { reports: this.reports, emit: this.options.emit });
    const end = this.beside.run(attempt.job.id, runHandler(handler, job));
    void end.then((one) => this.ended(attempt, one));
  }

  private async beginAfter(attempt: Attempt): Promise<void> {
    await this.beside.wait(attempt.job.id);
    if (attempt.state === "lost") return this.attempts.drop(attempt);
    if (attempt.state !== "running") return;
    if (this.beside.has(attempt.job.id)) this.conclude(attempt, { kind: "released" });
    else this.begin(attempt);
  }

  private ended(attempt: Attempt, end: HandlerEnd): void {
    const { outcome: returned, refused } = end;
    const { emit, clock } = this.options;
    const about = describe(attempt);
    if (attempt.state !== "running") {
      emit({ kind: "resultDropped", outcome: returned.kind, ...about });
      if (attempt.state === "lost") this.attempts.drop(attempt);
      return;
    }
    const ms = clock.now() - attempt.startedAt;
    const outcome = outcomeOfStopped(attempt, end);
    const said = outcome.kind === "failed" ? saidOf(outcome) : {};
    emit({ kind: "finished", outcome: outcome.kind, ms, ...said, ...about });
    if (refused !== undefined) emit({ kind: "resultRefused", error: refused, ...about });
    this.conclude(attempt, outcome);
  }

  /** Ends an attempt's part: the rest of its reports goes first, then its outcome. */
  private conclude(attempt: Attempt, outcome: Outcome): void {
    this.attempts.finish(attempt);
    const rest = this.reports.flush(attempt);
    if (rest === null) return this.report(attempt, outcome);
    this.ending += 1;
    void rest.then(() => {
      this.ending -= 1;
      this.report(attempt, outcome);
    });
  }

  private report({ job: { id, queue, attempt }, continued }: Attempt, outcome: Outcome): void {
    const following = outcome.kind === "succeeded" && continued.length > 0 ? { continued } : {};
    this.outbox.put({ id, attempt, queue, outcome, ...following });
    this.waker.wake();
  }

  // --- Trouble, and the end ---------------------------------------------------------------------

  private changed(): void {
    this.heart.schedule();
    this.cancellations.changed();
    this.waker.wake();
  }

  private failed(call: CallName, end: CallEnd<unknown>): void {
    if (end.kind === "rejected") {
      this.options.emit({ kind: "callRejected", call, error: end.message });
    } else if (end.kind === "fatal") {
      this.fail(end.error);
    } else if (end.kind === "unserved") {
      this.error ??= end.error;
      if (this.phase === "working") this.stop(GRACE_DEFAULT_MS);
    }
  }

  /** Calls outside the numbered ones repeat themselves; only an error that ends the worker matters here. */
  private sideCallFailed(call: CallName, error: unknown): Failure["kind"] {
    const failure = judge(error, this.calls.everAnswered);
    if (failure.kind === "unanswered") {
      this.options.emit({ kind: "callRepeated", call, error: failure.message, inMs: 0 });
    } else {
      this.failed(call, failure);
    }
    this.waker.wake();
    return failure.kind;
  }

  private fail(error: Error): void {
    this.error ??= error;
    this.phase = "over";
    this.giveUp();
    this.waker.wake();
  }

  /** Grace is for handlers and outcomes. With none in hand, only a call in flight is waited for, and that briefly. */
  private awaitGrace(): void {
    const { clock } = this.options;
    const left = Math.max(0, this.graceEndsAt! - clock.now());
    this.cancelGrace();
    this.cancelGrace = clock.after(this.isBusy() ? left : Math.min(left, FLUSH_MS), this.endGrace);
  }

  private readonly endGrace = (): void => {
    this.graceEndsAt = undefined;
    for (const attempt of this.attempts.running()) {
      this.attempts.stop(attempt);
      this.conclude(attempt, { kind: "released" });
    }
    this.attempts.dropLost();
    this.cancelGrace = this.options.clock.after(FLUSH_MS, () => {
      this.phase = "over";
      this.giveUp();
      this.waker.wake();
    });
  };
}
