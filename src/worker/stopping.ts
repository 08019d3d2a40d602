/**
 * The end of a worker: its phases, and the time that each may take.
 *
 *     working ──stop──► stopping ──nothing in hand──► over
 *                          └──grace is over: jobs are given back──► last calls ──► over
 *
 * It knows nothing of jobs and calls.
 */
import type { Clock } from "./clock.js";
import { FLUSH_MS } from "./limits.js";

export interface StoppingDeps {
  clock: Clock;
  /** Whether anything is in hand. */
  isBusy: () => boolean;
  /** The grace is over: running jobs are given back. */
  graceOver: () => void;
  /** Half the time of the last calls is over: outcomes go without the reports that are before them. */
  reportsOver: () => void;
  /** The time of the last calls is over too. */
  over: () => void;
}

export class Stopping {
  phase: "working" | "stopping" | "over" = "working";
  /** While stopping, until the grace is over. */
  private graceEndsAt: number | undefined;
  private cancelGrace = () => {};

  constructor(private readonly deps: StoppingDeps) {}

  /** May be called again, to hurry. False where it changes nothing: the stop in progress is as soon over. */
  begin(graceMs: number): boolean {
    const endsAt = this.deps.clock.now() + graceMs;
    const isSooner = this.phase === "stopping" && endsAt < (this.graceEndsAt ?? -Infinity);
    if (this.phase !== "working" && !isSooner) return false;
    this.phase = "stopping";
    this.graceEndsAt = endsAt;
    this.awaitGrace();
    return true;
  }

  /** Jobs came with the answer to a claim that was on its way when the stop began. */
  jobsCame(): void {
    if (this.graceEndsAt !== undefined) this.awaitGrace();
  }

  end(): void {
    this.phase = "over";
    this.cancelGrace();
  }

  isOver(): boolean {
    if (this.phase === "over") return true;
    return this.phase === "stopping" && !this.deps.isBusy();
  }

  /** Grace is for handlers and outcomes. With none in hand, only a call in flight is waited for, and that briefly. */
  private awaitGrace(): void {
    const { clock, isBusy } = this.deps;
    const left = Math.max(0, this.graceEndsAt! - clock.now());
    this.cancelGrace();
    this.cancelGrace = clock.after(isBusy() ? left : Math.min(left, FLUSH_MS), this.endGrace);
  }

  private readonly endGrace = (): void => {
    this.graceEndsAt = undefined;
    this.deps.graceOver();
    // An outcome waits for its attempt's reports, and is worth more than these.
    this.cancelGrace = this.deps.clock.after(FLUSH_MS / 2, () => {
      this.deps.reportsOver();
      this.cancelGrace = this.deps.clock.after(FLUSH_MS / 2, () => {
        this.phase = "over";
        this.deps.over();
      });
    });
  };
}
