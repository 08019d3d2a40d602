/**
 * Applies a completion's answer to the attempts and outcomes in hand, and hands outcomes over that no completion could
 * record. It makes none of the numbered calls: these belong to the loop.
 */
import type { FinishedAnswer, Lease } from "../shared/index.js";
import { describe, type Attempts } from "./attempts.js";
import type { Outbox, Sending } from "./outbox.js";
import type { CompleteOptions, RefusedResult, Transport } from "./transport.js";
import type { WorkerEvent } from "./events.js";

export interface RecordingDeps {
  attempts: Attempts;
  outbox: Outbox;
  transport: Pick<Transport, "completeLater">;
  emit: (event: WorkerEvent) => void;
  /** Handing over has failed; it is tried again with the next completion. */
  failed: (error: unknown) => void;
}

export class Recording {
  constructor(private readonly deps: RecordingDeps) {}

  /** The options of a completion besides a claim. */
  optionsOf({ reports, deferCallbacks }: Sending): Omit<CompleteOptions, "claim"> {
    const held: Lease[] = this.deps.attempts
      .held()
      .map(({ job: { id, attempt } }) => ({ id, attempt }))
      .filter(
        ({ id, attempt }) => !reports.some((one) => one.id === id && one.attempt === attempt),
      );
    return {
      ...(deferCallbacks ? { deferCallbacks: true } : {}),
      ...(held.length > 0 ? { held } : {}),
    };
  }

  /** In parallel to the numbered calls: it changes nothing by itself, and a repeat does no harm. */
  async handOver(sending: Sending): Promise<void> {
    if (!sending.handOver) return;
    try {
      await this.deps.transport.completeLater(sending.reports[0]!);
      this.deps.outbox.handedOver(sending);
    } catch (error) {
      this.deps.failed(error);
    }
  }

  /** Each outcome by its own answer. One that the reply does not name stays, and goes with the next call. */
  settle(answers: readonly FinishedAnswer[], refused: readonly RefusedResult[] = []): void {
    const { attempts, outbox, emit } = this.deps;
    for (const { error, ...lease } of refused) {
      const attempt = attempts.find(lease);
      if (attempt !== undefined) emit({ kind: "resultRefused", error, ...describe(attempt) });
    }
    for (const { id, attempt: number, answer } of answers) {
      const report = outbox.settle(id, number);
      const attempt = attempts.find({ id, attempt: number });
      if (report === undefined || attempt === undefined) continue;
      const about = describe(attempt);
      if (answer === "ok" || answer === "recorded") {
        emit({ kind: "recorded", answer, ...about });
      } else {
        emit({ kind: "leaseLost", reason: answer, ...about });
        emit({ kind: "resultDropped", outcome: report.outcome.kind, ...about });
      }
      attempts.drop(attempt);
    }
  }
}
