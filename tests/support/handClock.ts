/** Time that passes when a test says so, beside real processes: no limit is reached because a machine is slow. */
import type { Clock } from "../../src/worker/clock.js";

export class HandClock implements Clock {
  private time = 0;
  private timers: { at: number; run: () => void }[] = [];

  now = () => this.time;
  date = () => this.time;
  /** Jitter leaves three quarters of a wait. */
  random = () => 0.5;
  after = (ms: number, run: () => void) => {
    const timer = { at: this.time + ms, run };
    this.timers.push(timer);
    return () => void (this.timers = this.timers.filter((other) => other !== timer));
  };

  /** Fires all timers on the way, in order. */
  pass(ms: number): void {
    const end = this.time + ms;
    for (;;) {
      const [next] = this.timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.timers = this.timers.filter((other) => other !== next);
      this.time = next.at;
      next.run();
    }
    this.time = end;
  }

  /** As when a machine wakes up: each timer that was due fires once, at the end. */
  sleep(ms: number): void {
    this.time += ms;
    const due = this.timers.filter(({ at }) => at <= this.time);
    this.timers = this.timers.filter(({ at }) => at > this.time);
    for (const { run } of due) run();
  }
}
