/** Ends a worker by itself: after so many attempts, so long a time, or so long without a job. It makes no calls. */
import type { Clock } from "./clock.js";
import type { StopAfter } from "./options.js";

export class Lifetime {
  private begun = 0;
  private idle = false;
  private cancelEnd = () => {};
  private cancelIdle = () => {};

  constructor(private readonly deps: { clock: Clock; limits: StopAfter; stop: () => void }) {}

  start(): void {
    const { clock, limits, stop } = this.deps;
    if (limits.ms !== undefined) this.cancelEnd = clock.after(limits.ms, stop);
    this.changed(false);
  }

  /** How many attempts it may still begin. */
  get left(): number {
    return Math.max(0, (this.deps.limits.jobs ?? Infinity) - this.begun);
  }

  began(attempts: number): void {
    this.begun += attempts;
  }

  /** Work has come or gone. */
  changed(isBusy: boolean): void {
    const { clock, limits, stop } = this.deps;
    if (!isBusy && this.left === 0) return stop();
    if (limits.idleMs === undefined || this.idle === !isBusy) return;
    this.idle = !isBusy;
    this.cancelIdle();
    if (this.idle) this.cancelIdle = clock.after(limits.idleMs, stop);
  }

  end(): void {
    this.cancelEnd();
    this.cancelIdle();
  }
}
