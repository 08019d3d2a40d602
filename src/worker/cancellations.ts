/**
 * Follows which jobs of this session are canceled, so that their handlers stop at once and not with the next beat. It
 * begins with the first job that is held for a while, since short jobs end by themselves, and goes on until the worker
 * ends: while nothing is canceled it makes no calls.
 */
import type { Lease } from "../shared/index.js";
import type { Attempts } from "./attempts.js";
import type { Clock } from "./clock.js";
import { CANCEL_WATCH_AFTER_MS } from "./limits.js";
import type { Transport } from "./transport.js";

export class Cancellations {
  private latest: readonly Lease[] = [];
  private cancelTimer: (() => void) | undefined;
  private unwatch: (() => void) | undefined;
  private live = false;
  private stopped = false;

  constructor(
    private readonly deps: {
      clock: Clock;
      transport: Pick<Transport, "watchCancellations">;
      attempts: Attempts;
      failed: (error: unknown) => void;
    },
  ) {}

  /** Whether a cancellation would be heard of without a beat. */
  get isLive(): boolean {
    return this.live;
  }

  /** Leases have come or gone. Word of one may have come before the job itself. */
  changed(): void {
    for (const lease of this.latest) this.deps.attempts.cancel(lease);
    if (this.unwatch !== undefined || this.cancelTimer !== undefined || this.stopped) return;
    const since = Math.min(...this.deps.attempts.running().map(({ startedAt }) => startedAt));
    if (since === Infinity) return;
    const waitMs = since + CANCEL_WATCH_AFTER_MS - this.deps.clock.now();
    if (waitMs <= 0) return this.watch();
    this.cancelTimer = this.deps.clock.after(waitMs, () => {
      this.cancelTimer = undefined;
      this.changed();
    });
  }

  stop(): void {
    this.stopped = true;
    this.live = false;
    this.cancelTimer?.();
    this.unwatch?.();
  }

  private watch(): void {
    this.unwatch = this.deps.transport.watchCancellations(
      (leases) => {
        this.live = true;
        this.latest = leases;
        for (const lease of leases) this.deps.attempts.cancel(lease);
      },
      (error) => {
        this.live = false;
        if (!this.stopped) this.deps.failed(error);
      },
    );
  }
}
