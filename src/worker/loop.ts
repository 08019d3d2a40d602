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
import { LEASES_MAX, type QuietBy } from "../shared/index.js";
import type { Bounds } from "./asking.js";
import { describe, type Attempt } from "./attempts.js";
import { unlessAborted, type CallEnd } from "./calls.js";
import { confirmLeases } from "./confirm.js";
import { judge, type Failure } from "./errors.js";
import type { CallName, WorkerStatus } from "./events.js";
import { sayGoodbye } from "./goodbye.js";
import { greet } from "./hello.js";
import type { ClaimConditions } from "./hookTypes.js";
import { GRACE_DEFAULT_MS } from "./limits.js";
import type { Sending } from "./outbox.js";
import { partsOf, type LoopOptions, type Parts } from "./parts.js";
import type { Claimed, ClaimRequest } from "./transport.js";

export class Loop {
  private readonly parts: Parts;
  private slots: number;
  /** The program, and an operator of the deployment. */
  private readonly quietBy = new Set<QuietBy>();
  private isGreeted = false;
  private error: Error | undefined;
  private readonly gaveUp = new AbortController();

  constructor(private readonly options: LoopOptions) {
    this.slots = options.concurrency;
    this.parts = partsOf(options, {
      changed: () => this.changed(),
      isBusy: () => this.isBusy(),
      slots: () => this.slotsNow(),
      isQuiet: () => this.quietBy.size > 0,
      mustBeSeen: () => this.quietBy.has("operator"),
      room: () => this.room(0),
      stop: () => this.stop(),
      failed: (call, failure) => this.failed(call, failure),
      sideCallFailed: (call, error) => this.sideCallFailed(call, error),
      giveUp: () => this.endNow(),
      gaveUp: this.gaveUp.signal,
    });
  }

  /** Works until it is stopped. Rejects with the error that ended it, if one did. */
  async run(): Promise<void> {
    const { following, heart, status, lifetime, calls } = this.parts;
    following.start();
    heart.schedule();
    status.start();
    lifetime.start();
    try {
      const greeted = await greet(this.options, calls);
      this.isGreeted = greeted.kind === "answered";
      this.failed("hello", greeted);
      while (!this.isOver()) await this.step();
    } finally {
      // Also after an error of our own: beats that go on by themselves would keep the jobs from every other worker.
      following.stop();
      this.end();
      if (calls.everAnswered) await sayGoodbye(this.options, calls.after);
    }
    if (this.error !== undefined) throw this.error;
  }

  private end(): void {
    const { stopping, heart, reports, cancellations, attempts, gathering } = this.parts;
    const { onCall, status, lifetime } = this.parts;
    onCall.stop();
    stopping.end();
    this.gaveUp.abort();
    lifetime.end();
    heart.stop();
    reports.stop();
    cancellations.stop();
    gathering.end();
    attempts.dropAll();
    status.is("stopped");
    this.options.emit({ kind: "stopped", unrecorded: this.parts.outbox.size });
  }

  /** Claims nothing more, and ends within the grace and the time of the last calls. Called again it only hurries. */
  stop(graceMs = this.options.graceMs ?? GRACE_DEFAULT_MS): void {
    if (!this.parts.stopping.begin(graceMs)) return;
    this.options.emit({ kind: "stopping", graceMs });
    this.parts.gathering.giveBack();
    // Else its last word ends the duty, and a beat beside that would conflict, and bring it back.
    if (this.isBusy()) this.parts.onCall.hasClosed();
    this.refresh(true);
    this.parts.waker.wake();
  }

  /** From now on so many jobs at once. Jobs above it come to their end. */
  setConcurrency(slots: number): void {
    this.slots = slots;
    this.parts.gathering.changed();
    this.parts.waker.wake();
  }

  /** Whether it claims nothing for now. One of two does not end the other's word. */
  setQuiet(isQuiet: boolean, by: QuietBy = "worker"): void {
    if (this.quietBy.has(by) === isQuiet) return;
    if (isQuiet) this.quietBy.add(by);
    else this.quietBy.delete(by);
    this.options.emit({ kind: "quiet", isQuiet, by });
    this.parts.heart.schedule();
    if (isQuiet) this.parts.onCall.hasClosed();
    this.parts.waker.wake();
  }

  statusNow(): WorkerStatus {
    return this.parts.status.now();
  }

  // --- The loop ---------------------------------------------------------------------------------

  private async step(): Promise<void> {
    const { outbox, waker } = this.parts;
    this.refresh(false);
    const sending = outbox.next();
    const { length } = sending.reports;
    const room = this.room(length);
    if (length > 0) return await this.complete(sending, sending.alone ? 0 : room);
    const claimAt = this.claimAt(room);
    if (claimAt !== null && claimAt <= this.options.clock.now()) {
      const conditions = this.mayClaim(room);
      if (conditions !== null) return await this.claim(room, conditions);
    }
    await waker.sleepUntil(this.claimAt(room), outbox.nextDueAt());
  }

  /** When to claim, or null: when something changes. */
  private claimAt(room: number): number | null {
    const { asking, gate } = this.parts;
    const [dueAt, opensAt] = [room > 0 ? asking.claimAt() : null, gate.opensAt()];
    return dueAt === null || opensAt === null ? null : Math.max(dueAt, opensAt);
  }

  /** The conditions of a claim now, or null. */
  private mayClaim(room: number): ClaimConditions | null {
    const { max, maxCost } = this.bounds(room);
    return this.parts.gate.ask(max, maxCost);
  }

  private isOver(): boolean {
    return this.parts.stopping.isOver();
  }

  /** Whether anything is in hand. */
  private isBusy(): boolean {
    const { attempts, gathering, execution, outbox } = this.parts;
    if (attempts.inHand().length > 0 || gathering.slotsUsed > 0) return true;
    return execution.ending > 0 || outbox.size > 0;
  }

  /**
   * Its state, and whether it ends by itself, as work comes and goes. Between two steps an answer may have settled the
   * last outcome, and its jobs not have begun: then no work in hand says nothing.
   */
  private refresh(isBetweenSteps: boolean): void {
    const { stopping, status, lifetime, calls } = this.parts;
    if (stopping.phase === "stopping") status.is("draining");
    // Its greeting may have been refused, and its calls not.
    const isKnown = this.isGreeted || calls.everAnswered;
    if (stopping.phase !== "working" || !isKnown) return;
    const isBusy = this.isBusy();
    if (isBetweenSteps && !isBusy) return;
    status.is(isBusy ? "working" : "waiting");
    lifetime.changed(isBusy);
  }

  /** How many jobs to ask for, once so many outcomes are recorded. */
  private room(recorded: number): number {
    const { stopping, attempts, gathering, lifetime } = this.parts;
    if (stopping.phase !== "working" || this.quietBy.size > 0 || this.budget() <= 0) return 0;
    const { used, had } = this.slotsNow();
    const jobs = gathering.room(had - used);
    const leases = LEASES_MAX - (attempts.held().length - recorded);
    return Math.max(0, Math.min(jobs, leases, lifetime.left));
  }

  private slotsNow(): { used: number; had: number } {
    const { attempts, gathering } = this.parts;
    return { used: attempts.slotsUsed() + gathering.slotsUsed, had: this.slots };
  }

  /** The part of the worker's budget that running jobs leave over. */
  private budget(): number {
    const { maxCost = Infinity } = this.options;
    return maxCost - this.parts.attempts.costUsed();
  }

  private async claim(room: number, conditions: ClaimConditions): Promise<void> {
    const { asking, onCall } = this.parts;
    const plain = asking.request(this.bounds(room), conditions);
    if (plain === null) return;
    const request = onCall.withClaim(plain);
    const end = await this.call("claim", (callSeq) =>
      this.options.transport.claim(callSeq, request),
    );
    if (end.kind === "answered") return await this.claimed(end, request);
    asking.cameInVain(request);
    onCall.answered(request);
    this.failed("claim", end);
  }

  private async complete(sending: Sending, room: number): Promise<void> {
    const { asking, heart, onCall, outbox, recording } = this.parts;
    await unlessAborted(this.gaveUp.signal, recording.handOver(sending));
    const conditions = room > 0 && asking.asksBeside ? this.mayClaim(room) : null;
    const plain =
      conditions === null ? undefined : asking.requestBeside(this.bounds(room), conditions);
    const claim = plain === undefined ? undefined : onCall.withClaim(plain);
    const options = {
      ...recording.optionsOf(sending),
      ...(claim === undefined ? {} : { claim }),
    };
    const end = await this.call("complete", (callSeq) =>
      this.options.transport.complete(callSeq, sending.reports, options),
    );
    if (end.kind === "answered") {
      if (end.reply.held !== undefined) heart.confirmed(end.reply.held, end.sentAt);
      recording.settle(end.reply.answers, end.reply.refused);
      // A job in a reply to a call that asked for none comes from an earlier copy of it; it is as much ours.
      if (claim !== undefined || end.reply.jobs.length > 0) await this.claimed(end, claim);
      return;
    }
    outbox.reject(sending);
    asking.rejected(claim);
    onCall.answered(claim);
    this.failed("complete", end);
  }

  /** A numbered call. One that was answered has renewed all leases as a beat does. */
  private async call<Reply>(
    name: CallName,
    send: (callSeq: number) => Promise<Reply>,
  ): Promise<CallEnd<Reply>> {
    const { calls, heart, attempts } = this.parts;
    const calling = calls.run(name, send);
    heart.schedule();
    const end = await calling;
    if (end.kind === "answered") attempts.renewAll(end.sentAt);
    heart.schedule();
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
    const { asking, following, attempts, cancellations, execution, onCall } = this.parts;
    asking.answered(reply, request, this.options.clock.now() - sentAt);
    onCall.answered(request, reply.duty);
    if (reply.jobs.length === 0) return following.cameInVain(request);
    const confirmed = confirmLeases(this.options, reply.jobs, { sentAt, repeats });
    const leases = (await unlessAborted(this.gaveUp.signal, confirmed)) ?? [];
    const begun: Attempt[] = [];
    for (const { job, sentAt: renewedAt } of leases) {
      const attempt = attempts.add(job, renewedAt);
      if (attempt !== null) begun.push(attempt);
    }
    this.parts.lifetime.began(begun.length);
    this.options.emit({ kind: "claimed", jobs: begun.map(describe) });
    for (const { job, isCanceled } of leases) if (isCanceled === true) attempts.cancel(job);
    cancellations.changed();
    for (const attempt of begun) execution.begin(attempt);
    if (begun.length > 0) this.parts.stopping.jobsCame();
    this.changed();
  }

  // --- Trouble, and the end ---------------------------------------------------------------------

  private changed(): void {
    const { heart, cancellations, gathering, waker, onCall } = this.parts;
    heart.schedule();
    cancellations.changed();
    gathering.changed();
    onCall.looksAgain();
    this.refresh(true);
    waker.wake();
  }

  private failed(call: CallName, end: CallEnd<unknown> | Failure): void {
    if (end.kind === "rejected") {
      this.options.emit({ kind: "callRejected", call, error: end.message });
    } else if (end.kind === "fatal") {
      this.error ??= end.error;
      this.endNow();
    } else if (end.kind === "unserved") {
      this.error ??= end.error;
      if (this.parts.stopping.phase === "working") this.stop();
    }
  }

  /** Calls outside the numbered ones repeat themselves; only an error that ends the worker matters here. */
  private sideCallFailed(call: CallName, error: unknown): Failure["kind"] {
    const failure = judge(error, this.parts.calls.everAnswered);
    if (failure.kind === "unanswered") {
      this.options.emit({ kind: "callRepeated", call, error: failure.message, inMs: 0 });
    } else {
      this.failed(call, failure);
    }
    this.parts.waker.wake();
    return failure.kind;
  }

  private endNow(): void {
    this.parts.stopping.end();
    this.gaveUp.abort();
    this.parts.waker.wake();
  }
}
