/**
 * Deletes the rows of scheduled functions that ended long ago. On the way, when another one ends, and not by a timer: a
 * backend with nothing to do does nothing.
 */
import type { Transaction } from "../engine/types.js";
import { RETENTION_BATCH, RETENTION_SWEEP_MS, SCHEDULED_RETENTION_MS } from "./limits.js";
import { SCHEDULER_WRITE, transact } from "./retrying.js";
import { COMPLETED_INDEX, SCHEDULED_TABLE } from "./scheduledTable.js";
import type { Services } from "./scope.js";

/** By runner and namespace: when the last sweep was. */
const sweeps = new WeakMap<Services, Map<string, number>>();

export async function sweepCompleted(services: Services, namespace: string): Promise<void> {
  const { env } = services;
  const last = sweeps.get(services) ?? new Map<string, number>();
  sweeps.set(services, last);
  const now = env.now();
  if (now - (last.get(namespace) ?? -Infinity) < RETENTION_SWEEP_MS) return;
  last.set(namespace, now);
  for (let more = true; more;) {
    const swept = await transact(
      services,
      "scheduled_job_retention",
      SCHEDULER_WRITE,
      async (tx) => {
        const deleted = await deleteBefore(tx, namespace, now - SCHEDULED_RETENTION_MS);
        return { commit: true, value: deleted };
      },
    );
    more = swept.value === RETENTION_BATCH;
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
  for await (const { _id } of rows) {
    await tx.delete(namespace, _id, SCHEDULED_TABLE, { system: true });
    if (++deleted === RETENTION_BATCH) break;
  }
  return deleted;
}
