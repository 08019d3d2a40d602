/** For faults: scheduled functions of the component, changed as in the dashboard, or by the scheduler. */
import {
  cancelScheduled,
  markDueAgain,
  readScheduled,
  SCHEDULED_TABLE,
  type ScheduledRow,
} from "../../../local/functions/scheduledTable.js";
import { COMPONENT } from "../deployment.js";
import type { Row } from "../part.js";
import type { Simulation } from "../simulation.js";
import { running } from "../moments.js";

export { SCHEDULED_TABLE };

/** Functions that have neither ended nor been canceled. */
export function openOnes(simulation: Simulation): (Row & ScheduledRow)[] {
  const all = simulation.tables.all(SCHEDULED_TABLE) as unknown as (Row & ScheduledRow)[];
  return all.filter(({ state: { kind } }) => kind === "pending" || kind === "inProgress");
}

/** A cancel as in the dashboard. Returns whether it was in time. */
export async function cancelOne(simulation: Simulation, id: string): Promise<boolean> {
  const backend = running(simulation);
  if (backend === null) return false;
  try {
    const tx = backend.database.begin();
    await cancelScheduled(tx, { namespace: COMPONENT, id }, simulation.world.now());
    await backend.database.commit(tx, "a cancel in the dashboard");
    return true;
  } catch {
    return false;
  }
}

/** It is due when `dueAt` says, if it has not begun yet. Whether that was so. */
export async function move(
  simulation: Simulation,
  id: string,
  dueAt: (row: ScheduledRow) => number,
): Promise<boolean> {
  const backend = running(simulation);
  if (backend === null) return false;
  try {
    const tx = backend.database.begin();
    const row = await readScheduled(tx, { namespace: COMPONENT, id });
    if (row?.state.kind !== "pending") return false;
    await markDueAgain(tx, { namespace: COMPONENT, id }, dueAt(row), row.systemErrors);
    await backend.database.commit(tx, "the scheduler is late");
    return true;
  } catch {
    return false;
  }
}
