/** A sleep that ends at a time or at a call, whichever comes first. A call while awake is not lost. */
import type { Clock } from "./clock.js";

export class Waker {
  private called = false;
  private resume = () => {};

  constructor(private readonly clock: Clock) {}

  wake(): void {
    this.called = true;
    this.resume();
  }

  /** Sleeps until the earliest of these times, or until woken; a time that is null never comes. */
  async sleepUntil(...times: (number | null)[]): Promise<void> {
    if (!this.called) {
      const at = Math.min(...times.map((time) => time ?? Infinity));
      let cancel = () => {};
      await new Promise<void>((resolve) => {
        this.resume = resolve;
        if (at < Infinity) cancel = this.clock.after(Math.max(0, at - this.clock.now()), resolve);
      });
      cancel();
    }
    this.called = false;
    this.resume = () => {};
  }
}
