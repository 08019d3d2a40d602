/**
 * Deletes the rows of scheduled functions that ended long ago. On the way, when another one ends, and not by a timer: a
 * backend with nothing to do does nothing.
 */
import type { Namespace, Transaction } from "../engine/types.js";
import type { Timer } from "../environment.js";
import {
  RETENTION_BATCH,
  RETENTION_PAUSE_MS,
  RETENTION_SWEEP_MS,
  SCHEDULED_RETENTION_MS,
} from "./limits.js";
import { ACTION_WRITE, transact, TransactionLostError } from "./retrying.js";
import {
  COMPLETED_INDEX,
  deleteScheduled,
  SCHEDULED_TABLE,
  type ScheduledRow,
} from "./scheduledTable.js";
import type { Services } from "./scope.js";

/** The writer's name in conflict messages, as on the platform. */
const SOURCE = "scheduled_job_gc";

export class Retention {
  /** By namespace: when the last sweep began. */
  readonly #swept = new Map<Namespace, number>();
  #sweeping: Promise<void> = Promise.resolve();
  #stop!: () => void;
  readonly #stopped = new Promise<"stopped">((resolve) => (this.#stop = () => resolve("stopped")));

  constructor(private readonly services: Services) {}

  /** In the background: no function waits for it. */
  sweep(namespace: Namespace): void {
    const now = this.services.env.now();
    if (now - (this.#swept.get(namespace) ?? -Infinity) < RETENTION_SWEEP_MS) return;
    this.#swept.set(namespace, now);
    this.#sweeping = this.#sweeping.then(() => this.#sweepBefore(namespace, now));
  }

  /** Resolves when no transaction of it is under way. */
  async stop(): Promise<void> {
    this.#stop();
    await this.#sweeping;
  }

  async #sweepBefore(namespace: Namespace, now: number): Promise<void> {
    const before = now - SCHEDULED_RETENTION_MS;
    try {
      for (;;) {
        const deleted = await transact(this.services, SOURCE, ACTION_WRITE, async (tx) => ({
          commit: true,
          value: await deleteBefore(tx, namespace, before),
        }));
        if (deleted.value < RETENTION_BATCH || (await this.#pause()) === "stopped") return;
      }
    } catch (error) {
      // The next sweep finds the rest.
      if (!(error instanceof TransactionLostError)) {
        console.error("Old rows of scheduled functions were not deleted:", error);
      }
    }
  }

  async #pause(): Promise<"stopped" | "rested"> {
    let timer: Timer | null = null;
    const rested = new Promise<"rested">((resolve) => {
      timer = this.services.env.timer(RETENTION_PAUSE_MS, () => resolve("rested"));
    });
    const end = await Promise.race([rested, this.#stopped]);
    (timer as Timer | null)?.cancel();
    return end;
  }
}

async function deleteBefore(tx: Transaction, namespace: string, before: number): Promise<number> {
  const rows = tx.stream(namespace, {
    table: SCHEDULED_TABLE,
    index: COMPLETED_INDEX,
    range: [
      { type: "Gt", fieldPath: "completedTime", value: null },
      { type: "Lt", fieldPath: "completedTime", value: before },
    ],
    order: "asc",
    system: true,
  });
  let deleted = 0;
  for await (const row of rows) {
    await deleteScheduled(tx, namespace, row as ScheduledRow);
    if (++deleted === RETENTION_BATCH) break;
  }
  return deleted;
}
