/**
 * When a worker with room asks for work. It is woken by the subscription; what it finds decides how soon it looks
 * again. Pure but for the clock's chance.
 *
 * Several workers are woken by one job and one gets it: a random wait spreads them, and whoever comes away empty
 * waits twice as long each time while the deployment still says that there is work.
 */
import type { Clock } from "./clock.js";
import { EMPTY_WAIT_MAX_MS, EMPTY_WAIT_MIN_MS, WAKE_SPREAD_MS } from "./limits.js";

export class Idle {
  /** `undefined` while the subscription says nothing: then the worker looks now and then by itself. */
  private hasWork: boolean | undefined = undefined;
  private wait = 0;
  private everLooked = false;
  private lookAt: number;

  constructor(private readonly clock: Clock) {
    // The first claim does not wait for the subscription: it makes the worker known, or finds that it is not welcome.
    this.lookAt = clock.now() + this.spread();
  }

  /** The subscription has spoken. */
  told(hasWork: boolean): void {
    if (hasWork && this.hasWork !== true) {
      this.wait = 0;
      this.lookAt = this.clock.now() + this.spread();
    }
    this.hasWork = hasWork;
  }

  /** The subscription has failed. */
  untold(): void {
    this.hasWork = undefined;
  }

  /** A claim was answered. */
  claimed(got: number, asked: number): void {
    this.everLooked = true;
    if (got > 0) this.wait = got < asked ? EMPTY_WAIT_MIN_MS : 0;
    else this.wait = Math.min(EMPTY_WAIT_MAX_MS, Math.max(EMPTY_WAIT_MIN_MS, this.wait * 2));
    this.lookAt = this.clock.now() + this.wait;
  }

  /** When to claim, or null: when the subscription speaks. */
  claimAt(): number | null {
    if (!this.everLooked) return this.lookAt;
    if (this.hasWork === false) return null;
    // Without a subscription there is nothing to say when work comes, and polling must stay cheap.
    if (this.hasWork === undefined && this.wait > 0) {
      return this.lookAt - this.wait + EMPTY_WAIT_MAX_MS;
    }
    return this.lookAt;
  }

  private spread(): number {
    return this.clock.random() * WAKE_SPREAD_MS;
  }
}
