/**
 * Outcomes that are not recorded yet. None leaves before the deployment has answered for it, even where a call that
 * carries it fails.
 *
 * A batch that is rejected is taken apart: each of its outcomes then goes alone, so that one which cannot be recorded
 * (a callback that conflicts with the whole world, a result that breaks something) holds up no other. One that is
 * rejected alone is tried again, ever more seldom, and from the third time on without its callback, which the
 * deployment then owes the app: an outcome stands even where the app's callback fails. One that is rejected even so is
 * handed over, for the deployment to record it by itself, and asked after until it is. It knows nothing of leases or
 * calls.
 */
import { LEASES_MAX } from "../shared/index.js";
import { backoff, type Clock } from "./clock.js";
import {
  COMPLETE_MAX_BYTES,
  REFUSALS_BEFORE_DEFERRING,
  REFUSALS_BEFORE_HANDING_OVER,
  REFUSED_MAX_MS,
  REFUSED_MIN_MS,
} from "./limits.js";
import { sizeOf } from "./outcome.js";
import type { Report } from "./transport.js";

interface Item {
  readonly report: Report;
  readonly bytes: number;
  /** It was in a batch that was rejected. */
  alone: boolean;
  /** How often it was rejected alone. */
  refusals: number;
  /** The deployment has it, and records it when it can. */
  handedOver: boolean;
  dueAt: number;
}

/** The contents of one call. */
export interface Sending {
  reports: Report[];
  alone: boolean;
  /** The callback runs later. */
  deferCallbacks: boolean;
  /** To be handed over before it is sent once more. */
  handOver: boolean;
}

export class Outbox {
  private items: Item[] = [];

  constructor(private readonly clock: Clock) {}

  get size(): number {
    return this.items.length;
  }

  put(report: Report): void {
    const bytes = sizeOf(report.outcome, report.continued ?? report.follows);
    const dueAt = this.clock.now();
    this.items.push({ report, bytes, alone: false, refusals: 0, handedOver: false, dueAt });
  }

  /**
   * The outcomes to send now: one that must go alone, or as many as fit in a call; empty if nothing is due. They stay
   * here until {@link settle}.
   */
  next(): Sending {
    const now = this.clock.now();
    const due = this.items.filter((item) => item.dueAt <= now);
    const single = due.find((item) => item.alone);
    if (single !== undefined) {
      const { report, refusals, handedOver } = single;
      return {
        ...{ reports: [report], alone: true },
        deferCallbacks: refusals >= REFUSALS_BEFORE_DEFERRING,
        handOver: refusals >= REFUSALS_BEFORE_HANDING_OVER && !handedOver,
      };
    }
    const batch: Report[] = [];
    let bytes = 0;
    for (const item of due) {
      if (batch.length === LEASES_MAX) break;
      // The first goes at any size, or a large result would never be sent.
      if (batch.length > 0 && bytes + item.bytes > COMPLETE_MAX_BYTES) break;
      batch.push(item.report);
      bytes += item.bytes;
    }
    return { reports: batch, alone: false, deferCallbacks: false, handOver: false };
  }

  /** When something is due next, or null. */
  nextDueAt(): number | null {
    return this.items.length === 0 ? null : Math.min(...this.items.map((item) => item.dueAt));
  }

  /** The deployment has answered for this attempt. Returns the report, unless it was settled before. */
  settle(id: string, attempt: number): Report | undefined {
    const item = this.items.find(({ report }) => report.id === id && report.attempt === attempt);
    if (item === undefined) return undefined;
    this.items = this.items.filter((other) => other !== item);
    return item.report;
  }

  /** The deployment has taken it over. It is asked after, as before: only its answer settles it. */
  handedOver({ reports }: Sending): void {
    for (const item of this.items) {
      if (reports.includes(item.report)) item.handedOver = true;
    }
  }

  /** The deployment has refused the call that carried these. */
  reject({ reports, alone: wasAlone }: Sending): void {
    for (const item of this.items) {
      if (!reports.includes(item.report)) continue;
      item.alone = true;
      if (!wasAlone) continue;
      const wait = backoff(this.clock, item.refusals, REFUSED_MIN_MS, REFUSED_MAX_MS);
      item.dueAt = this.clock.now() + wait;
      item.refusals += 1;
    }
  }
}
