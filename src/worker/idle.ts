/**
 * When a worker with room asks for work. It is woken by the subscription; what it finds decides how soon it looks
 * again. Pure but for the clock's chance.
 *
 * Many workers are woken by one job and one gets it. Each waits for a random part of a spread of its own, and does not come
 * when another has been quicker. Who comes in vain doubles its spread, and who gets something halves it, as Ethernet's
 * stations do (Metcalfe and Boggs, 1976): so a worker alone comes at once, and of a thousand a few. But nobody waits longer
 * than its patience while the deployment goes on saying that there is work: then there is more than those who are quicker
 * can take. Whoever comes away empty after that waits twice as long each time.
 */
import type { Clock } from "./clock.js";
import {
  EMPTY_WAIT_MAX_MS,
  EMPTY_WAIT_MIN_MS,
  WAKE_GAP_MS,
  WAKE_PATIENCE_MS,
  WAKE_SPREAD_MIN_MS,
  WAKE_SPREAD_MS,
} from "./limits.js";

export class Idle {
  /** `undefined` while the subscription says nothing: then the worker looks now and then by itself. */
  private hasWork: boolean | undefined = undefined;
  private wait = 0;
  private spread = WAKE_SPREAD_MS;
  /** The most that the spread may be. */
  private most = WAKE_SPREAD_MS;
  /** Whether the next claim is the answer to a wake. */
  private isWoken = false;
  private everLooked = false;
  private lookAt: number;

  constructor(private readonly clock: Clock) {
    // The first claim does not wait for the subscription: it makes the worker known, or finds that it is not welcome.
    this.lookAt = clock.now() + clock.random() * WAKE_SPREAD_MS;
  }

  /** The subscription has spoken. */
  told(hasWork: boolean): void {
    if (hasWork && this.hasWork !== true) {
      const { clock, spread } = this;
      this.wait = 0;
      this.isWoken = true;
      const patience = WAKE_PATIENCE_MS * (1 + clock.random());
      this.lookAt = clock.now() + Math.min(clock.random() * spread, patience);
    }
    this.hasWork = hasWork;
  }

  /** The subscription has failed. */
  untold(): void {
    this.hasWork = undefined;
  }

  /** Whether a claim of now is the first since a wake: then it may have what is another's by its shard. */
  get answersWake(): boolean {
    return this.isWoken;
  }

  /** A claim was answered. `fleet`: how many serve the queues, if the deployment has counted them. */
  claimed(got: number, asked: number, fleet?: number): void {
    this.everLooked = true;
    if (this.isWoken) {
      this.spread = got > 0 ? this.spread / 2 : this.spread * 2;
      this.isWoken = false;
    }
    if (fleet !== undefined) {
      const most = fleet * WAKE_GAP_MS;
      if (most > this.most) this.spread = most;
      this.most = most;
    }
    this.spread = Math.max(WAKE_SPREAD_MIN_MS, Math.min(this.most, this.spread));
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
}
