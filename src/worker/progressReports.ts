/**
 * Progress: the latest value of each job, sent for all jobs in one call, at most so often. What is lost on the way is
 * not repeated: the next value is better.
 */
import { convexToJson, getConvexSize, type Value } from "convex/values";
import { conveyorError, PROGRESS_MAX_BYTES, type ProgressUpdate } from "../shared/index.js";
import type { Attempt, Attempts } from "./attempts.js";
import type { Clock } from "./clock.js";
import { PROGRESS_INTERVAL_MS } from "./limits.js";
import type { Transport } from "./transport.js";

export class ProgressReports {
  private readonly latest = new Map<Attempt, Value>();
  private cancelTimer: (() => void) | undefined;
  private lastSentAt = -Infinity;
  private sending = false;
  private stopped = false;

  constructor(
    private readonly deps: {
      clock: Clock;
      transport: Transport;
      attempts: Attempts;
      failed: (error: unknown) => void;
    },
  ) {}

  /** Takes a value from a handler. Nothing is sent for a job that is lost or has ended. */
  report(attempt: Attempt, value: unknown): void {
    if (attempt.state !== "running" || this.stopped) return;
    const checked = (value === undefined ? null : value) as Value;
    convexToJson(checked);
    const bytes = getConvexSize(checked);
    if (bytes > PROGRESS_MAX_BYTES) {
      throw conveyorError(
        "payloadTooLarge",
        `A progress value has at most ${PROGRESS_MAX_BYTES} bytes; got ${bytes}. Report a few numbers, and keep the rest for the result.`,
        { got: bytes, max: PROGRESS_MAX_BYTES },
      );
    }
    this.latest.set(attempt, checked);
    this.schedule();
  }

  stop(): void {
    this.stopped = true;
    this.cancelTimer?.();
  }

  private schedule(): void {
    if (this.cancelTimer !== undefined || this.sending || this.stopped) return;
    const { clock } = this.deps;
    const wait = Math.max(0, this.lastSentAt + PROGRESS_INTERVAL_MS - clock.now());
    this.cancelTimer = clock.after(wait, () => void this.send());
  }

  private async send(): Promise<void> {
    const { clock, transport, attempts } = this.deps;
    this.cancelTimer = undefined;
    const updates = this.takeUpdates();
    if (updates.length === 0) return;
    this.sending = true;
    this.lastSentAt = clock.now();
    try {
      for (const answer of await transport.report({ updates })) {
        if (answer.answer === "leaseLost" || answer.answer === "canceled") {
          attempts.lose(answer, answer.answer);
        }
      }
    } catch (error) {
      if (!this.stopped) this.deps.failed(error);
    } finally {
      this.sending = false;
      if (this.latest.size > 0) this.schedule();
    }
  }

  /** Jobs that ended meanwhile have nothing to report any more. */
  private takeUpdates(): ProgressUpdate[] {
    const updates = [...this.latest]
      .filter(([attempt]) => attempt.state === "running")
      .map(([{ job }, value]) => ({ id: job.id, attempt: job.attempt, value }));
    this.latest.clear();
    return updates;
  }
}
