/**
 * Heartbeats: all leases in one call, whenever the first of them has used up a third of its time. They go in parallel
 * to the session's other calls and carry no number, since a repeat does no harm. A claim or completion is a beat as
 * well, so a busy worker of short jobs sends none of its own: each completion answers for all leases. An idle worker beats
 * seldom, to be seen.
 */
import { HEARTBEATS_PER_LEASE, type Answer } from "../shared/index.js";
import type { Attempt, Attempts } from "./attempts.js";
import type { Clock } from "./clock.js";
import type { OnCall } from "./onCall.js";
import type { Transport } from "./transport.js";

export interface HeartDeps {
  clock: Clock;
  transport: Transport;
  attempts: Attempts;
  /** 0 for never. */
  presenceMs: () => number;
  onCall: Pick<OnCall, "beatMs" | "withBeat" | "answered" | "knowsFleet">;
  /** Whether a claim or completion is on its way: it is a beat too, and the two would conflict at one row. */
  isCalling: () => boolean;
  /** Whether cancellations are heard of without beats. If not, other calls do not stand in for a beat. */
  hearsCancellations: () => boolean;
  failed: (error: unknown) => void;
}

export class Heart {
  private cancelTimer = () => {};
  /** Beats on their way. */
  private beating = 0;
  private isHurried = false;
  private stopped = false;
  private lastSentAt: number;
  private lastFailed = false;

  constructor(private readonly deps: HeartDeps) {
    this.lastSentAt = deps.clock.now();
  }

  /** Sets the timer anew; to be called whenever leases come or go. */
  schedule(): void {
    this.cancelTimer();
    if (this.stopped) return;
    const dueAt = this.dueAt();
    if (dueAt === null) return;
    const { clock } = this.deps;
    this.cancelTimer = clock.after(Math.max(0, dueAt - clock.now()), () => void this.beat());
  }

  /** Another call was a beat as well, and was answered as one. */
  confirmed(answers: readonly Answer[], sentAt: number): void {
    this.lastSentAt = Math.max(this.lastSentAt, sentAt);
    this.lastFailed = false;
    this.apply(answers, sentAt);
  }

  /** Beats at once; where a beat is on its way, right after that: one that is sent beside it says nothing of duty. */
  hurry(): void {
    this.isHurried = this.beating > 0;
    if (this.isHurried || this.stopped) return;
    this.cancelTimer();
    void this.beat();
  }

  stop(): void {
    this.stopped = true;
    this.cancelTimer();
  }

  private dueAt(): number | null {
    const held = this.deps.attempts.held();
    const { onCall, presenceMs } = this.deps;
    const { beatMs } = onCall;
    // Not for ever: a call that hangs must not cost the leases.
    const whileCalling = (ms: number) => (this.deps.isCalling() ? ms / HEARTBEATS_PER_LEASE : 0);
    if (held.length === 0) {
      if (this.beating > 0) return null;
      const ms = beatMs === undefined ? presenceMs() : (beatMs ?? 0);
      return ms === 0 ? null : this.lastSentAt + ms + whileCalling(ms);
    }
    const due = held.map((attempt) => this.dueFor(attempt));
    // A beat that failed is soon sent again: a tenth of the lease leaves time for several more before it ends.
    const shortest = Math.min(...held.map(({ job }) => job.leaseMs));
    const pause = this.lastFailed ? shortest / 10 : shortest / HEARTBEATS_PER_LEASE;
    const soonest = this.lastAffects(held) ? this.lastSentAt + pause : -Infinity;
    const renewal = Math.max(soonest, Math.min(...due) + whileCalling(shortest));
    // A beat that hangs must not cost the leases either: another one goes in its time beside it, for these alone.
    if (beatMs === undefined || this.beating > 0) return renewal;
    return Math.min(this.lastSentAt + (beatMs ?? Infinity), renewal);
  }

  private dueFor({ expiresAt, startedAt, job: { leaseMs } }: Attempt): number {
    const third = leaseMs / HEARTBEATS_PER_LEASE;
    const renewal = expiresAt - leaseMs + third;
    // A claim renews a lease without a word of it: one that was lost all the same is heard of within its time.
    const unheardMs = this.deps.hearsCancellations() ? leaseMs : third;
    return Math.min(renewal, Math.max(startedAt, this.lastSentAt) + unheardMs);
  }

  /** Whether the last beat was sent for any lease still in hand; a new lease does not wait for an old beat's pause. */
  private lastAffects(held: ReturnType<Attempts["held"]>): boolean {
    return held.some(({ startedAt }) => startedAt <= this.lastSentAt);
  }

  private async beat(): Promise<void> {
    const { clock, transport, attempts, onCall } = this.deps;
    const asked = this.beating > 0 ? {} : onCall.withBeat();
    this.beating += 1;
    this.lastSentAt = clock.now();
    this.lastFailed = false;
    const sentAt = this.lastSentAt;
    const leases = attempts.held().map(({ job: { id, attempt } }) => ({ id, attempt }));
    this.schedule();
    try {
      const { answers, fleet, duty } = await transport.heartbeat(leases, asked);
      // A duty that came now would never end.
      if (this.stopped) return;
      this.apply(answers, sentAt);
      onCall.answered(asked, duty);
      if (fleet !== undefined) onCall.knowsFleet(fleet);
    } catch (error) {
      if (this.stopped) return;
      this.lastFailed = this.lastSentAt === sentAt;
      onCall.answered(asked);
      this.deps.failed(error);
    } finally {
      this.beating -= 1;
      if (this.isHurried && this.beating === 0) this.hurry();
      else this.schedule();
    }
  }

  /** The deployment's answer for each lease at that time. */
  private apply(answers: readonly Answer[], sentAt: number): void {
    for (const answer of answers) {
      const { attempts } = this.deps;
      if (answer.answer === "ok" || answer.answer === "canceled") attempts.renew(answer, sentAt);
      if (answer.answer === "canceled") attempts.cancel(answer);
      if (answer.answer === "leaseLost") attempts.lose(answer);
    }
  }
}
