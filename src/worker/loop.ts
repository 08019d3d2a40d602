/**
 * The worker itself: one loop that records what has ended, claims what there is room for, and otherwise sleeps until
 * something happens. It is the only one that makes numbered calls, so these are one at a time by construction.
 *
 *     step:  outcomes to send?  ──► complete, and claim in the same call while there is room
 *            room, and time to look?  ──► claim
 *            else  ──► sleep until a handler ends, the subscription speaks, a lease changes, or a time comes
 *
 * Stopping: nothing more is claimed, handlers may end; when the grace is over they are aborted and their jobs given
 * back; when the last calls have had their time too, the loop ends whatever is left.
 */
import { LEASES_MAX, type Answer, type Outcome } from "../shared/index.js";
import { Attempts, describe, type Attempt } from "./attempts.js";
import { Calls, type CallEnd } from "./calls.js";
import type { Clock } from "./clock.js";
import { confirmLeases } from "./confirm.js";
import { handlerMissing, judge } from "./errors.js";
import { Heart } from "./heart.js";
import { Idle } from "./idle.js";
import { FLUSH_MS, GRACE_DEFAULT_MS } from "./limits.js";
import { Outbox, type Sending } from "./outbox.js";
import { ProgressReports } from "./progressReports.js";
import { runHandler } from "./runner.js";
import { Waker } from "./waker.js";
import type { Claimed, ClaimRequest, Transport } from "./transport.js";
import type { CallName, Handler, HandlerContext, WorkerEvent } from "./types.js";

export interface LoopOptions {
  clock: Clock;
  transport: Transport;
  handlers: ReadonlyMap<string, Handler>;
  concurrency: number;
  presenceMs: number;
  emit: (event: WorkerEvent) => void;
}

export class Loop {
  private readonly waker: Waker;
  private readonly attempts: Attempts;
  private readonly outbox: Outbox;
  private readonly idle: Idle;
  private readonly heart: Heart;
  private readonly progress: ProgressReports;
  private readonly calls: Calls;
  private cursor: string | undefined;

  private phase: "working" | "stopping" | "over" = "working";
  private error: Error | undefined;
  /** While stopping, until the grace is over. */
  private graceEndsAt: number | undefined;
  private cancelGrace = () => {};
  private giveUp = () => {};

  constructor(private readonly options: LoopOptions) {
    const { clock, transport, emit, presenceMs } = options;
    const gaveUp = new Promise<void>((resolve) => (this.giveUp = resolve));
    this.waker = new Waker(clock);
    this.outbox = new Outbox(clock);
    this.idle = new Idle(clock);
    this.calls = new Calls({ clock, emit, gaveUp });
    this.attempts = new Attempts({
      clock,
      emit,
      changed: () => this.changed(),
      giveBack: (attempt) => this.report(attempt, { kind: "released" }),
    });
    const { attempts } = this;
    this.heart = new Heart({
      clock,
      transport,
      attempts,
      presenceMs,
      failed: (error) => this.sideCallFailed("heartbeat", error),
    });
    this.progress = new ProgressReports({
      clock,
      transport,
      attempts,
      failed: (error) => this.sideCallFailed("progress", error),
    });
  }

  /** Works until it is stopped. Rejects with the error that ended it, if one did. */
  async run(): Promise<void> {
    const unwatch = this.options.transport.watchHasWork(
      (hasWork) => {
        this.idle.told(hasWork);
        this.waker.wake();
      },
      (error) => {
        this.idle.untold();
        this.sideCallFailed("hasWork", error);
      },
    );
    this.heart.schedule();
    while (!this.isOver()) await this.step();
    unwatch();
    this.phase = "over";
    this.cancelGrace();
    this.giveUp();
    this.heart.stop();
    this.progress.stop();
    this.attempts.dropAll();
    this.options.emit({ kind: "stopped", unrecorded: this.outbox.size });
    if (this.error !== undefined) throw this.error;
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
    const claimAt = room > 0 ? this.idle.claimAt() : null;
    if (claimAt !== null && claimAt <= this.options.clock.now()) return await this.claim(room);
    await this.waker.sleepUntil(claimAt, this.outbox.nextDueAt());
  }

  private isOver(): boolean {
    if (this.phase === "over") return true;
    return this.phase === "stopping" && this.attempts.slotsUsed() === 0 && this.outbox.size === 0;
  }

  /** How many jobs to ask for, once so many outcomes are recorded. */
  private room(recorded: number): number {
    if (this.phase !== "working") return 0;
    const slots = this.options.concurrency - this.attempts.slotsUsed();
    const leases = LEASES_MAX - (this.attempts.held().length - recorded);
    return Math.max(0, Math.min(slots, leases));
  }

  private async claim(room: number): Promise<void> {
    const request = this.claimRequest(room);
    const end = await this.calls.run("claim", (n) => this.options.transport.claim(n, request));
    if (end.kind === "answered") return await this.claimed(end, room);
    this.idle.claimed(0, room);
    this.cursor = undefined;
    this.failed("claim", end);
  }

  private async complete(sending: Sending, room: number): Promise<void> {
    const options = {
      ...(room > 0 ? { claim: this.claimRequest(room) } : {}),
      ...(sending.deferCallbacks ? { deferCallbacks: true } : {}),
    };
    const end = await this.calls.run("complete", (n) =>
      this.options.transport.complete(n, sending.reports, options),
    );
    if (end.kind === "answered") {
      this.settle(end.reply.answers);
      // A job in a reply to a call that asked for none comes from an earlier copy of it; it is as much ours.
      if (room > 0 || end.reply.jobs.length > 0) await this.claimed(end, room);
      return;
    }
    this.outbox.reject(sending);
    this.cursor = undefined;
    this.failed("complete", end);
  }

  private claimRequest(max: number): ClaimRequest {
    return this.cursor === undefined ? { max } : { max, cursor: this.cursor };
  }

  /** Each outcome by its own answer. One that the reply does not name stays, and goes with the next call. */
  private settle(answers: readonly Answer[]): void {
    for (const { id, attempt: number, answer } of answers) {
      const report = this.outbox.settle(id, number);
      const attempt = this.attempts.find({ id, attempt: number });
      if (report === undefined || attempt === undefined) continue;
      const about = describe(attempt);
      if (answer === "ok" || answer === "recorded") {
        this.options.emit({ kind: "recorded", answer, ...about });
      } else {
        this.options.emit({ kind: "leaseLost", reason: answer, ...about });
        this.options.emit({ kind: "resultDropped", outcome: report.outcome.kind, ...about });
      }
      this.attempts.drop(attempt);
    }
  }

  // --- Jobs -------------------------------------------------------------------------------------

  private async claimed(
    { reply, sentAt, repeats }: Extract<CallEnd<Claimed>, { kind: "answered" }>,
    asked: number,
  ): Promise<void> {
    this.cursor = reply.cursor ?? this.cursor;
    this.idle.claimed(reply.jobs.length, asked);
    if (reply.jobs.length === 0) return;
    const leases =
      repeats === 0
        ? reply.jobs.map((job) => ({ job, sentAt }))
        : await confirmLeases(this.options, reply.jobs, sentAt);
    const begun = leases
      .map((lease) => this.attempts.add(lease.job, lease.sentAt))
      .filter((attempt) => attempt !== null);
    this.options.emit({ kind: "claimed", jobs: begun.map(describe) });
    for (const attempt of begun) this.begin(attempt);
    if (this.graceEndsAt !== undefined && begun.length > 0) this.awaitGrace();
    this.changed();
  }

  private begin(attempt: Attempt): void {
    const { queue } = attempt.job;
    const handler = this.options.handlers.get(queue);
    if (handler === undefined) {
      // The deployment hands out only what was asked for, so this is a mistake; the job is somebody else's to do.
      this.attempts.finish(attempt);
      this.report(attempt, { kind: "released" });
      this.failed("claim", {
        kind: "unserved",
        error: handlerMissing(queue, [...this.options.handlers.keys()]),
      });
      return;
    }
    if (this.phase !== "working") {
      // It came with the answer to a claim that was on its way when the stop began.
      this.attempts.finish(attempt);
      this.report(attempt, { kind: "released" });
      return;
    }
    void runHandler(handler, attempt.job, this.contextOf(attempt)).then((outcome) =>
      this.ended(attempt, outcome),
    );
  }

  private contextOf(attempt: Attempt): HandlerContext {
    return {
      signal: attempt.abort.signal,
      progress: (value) => this.progress.report(attempt, value),
      log: (message, details) =>
        this.options.emit({
          kind: "log",
          message,
          ...(details === undefined ? {} : { details }),
          ...describe(attempt),
        }),
    };
  }

  private ended(attempt: Attempt, outcome: Outcome): void {
    const { emit, clock } = this.options;
    const about = describe(attempt);
    if (attempt.state !== "running") {
      emit({ kind: "resultDropped", outcome: outcome.kind, ...about });
      if (attempt.state === "lost") this.attempts.drop(attempt);
      return;
    }
    const ms = clock.now() - attempt.startedAt;
    const error = outcome.kind === "failed" ? { error: outcome.error } : {};
    emit({ kind: "finished", outcome: outcome.kind, ms, ...error, ...about });
    this.attempts.finish(attempt);
    // A handler that gave up because its lease ran out here has not failed. Should the lease still stand at the
    // deployment, the job goes back to the queue; a result, though, is still worth reporting.
    const gaveUp = attempt.expired && outcome.kind === "failed";
    this.report(attempt, gaveUp ? { kind: "released" } : outcome);
  }

  private report({ job: { id, queue, attempt } }: Attempt, outcome: Outcome): void {
    this.outbox.put({ id, attempt, queue, outcome });
    this.waker.wake();
  }

  // --- Trouble, and the end ---------------------------------------------------------------------

  private changed(): void {
    this.heart.schedule();
    this.waker.wake();
  }

  private failed(call: CallName, end: Exclude<CallEnd<unknown>, { kind: "answered" }>): void {
    if (end.kind === "rejected") {
      this.options.emit({ kind: "callRejected", call, error: end.message });
    } else if (end.kind === "fatal") {
      this.fail(end.error);
    } else if (end.kind === "unserved") {
      this.error ??= end.error;
      if (this.phase === "working") this.stop(GRACE_DEFAULT_MS);
    }
  }

  /** Beats, progress and the subscription are not repeated by themselves; only what ends the worker matters here. */
  private sideCallFailed(call: CallName, error: unknown): void {
    const failure = judge(error, this.calls.everAnswered);
    if (failure.kind === "unanswered") {
      this.options.emit({ kind: "callRepeated", call, error: failure.message, inMs: 0 });
    } else {
      this.failed(call, failure);
    }
    this.waker.wake();
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
    const busy = this.attempts.slotsUsed() > 0 || this.outbox.size > 0;
    const left = Math.max(0, this.graceEndsAt! - clock.now());
    this.cancelGrace();
    this.cancelGrace = clock.after(busy ? left : Math.min(left, FLUSH_MS), () => this.endGrace());
  }

  private endGrace(): void {
    this.graceEndsAt = undefined;
    for (const attempt of this.attempts.running()) {
      this.attempts.stop(attempt);
      this.report(attempt, { kind: "released" });
    }
    this.attempts.dropLost();
    this.cancelGrace = this.options.clock.after(FLUSH_MS, () => {
      this.phase = "over";
      this.giveUp();
      this.waker.wake();
    });
  }
}
