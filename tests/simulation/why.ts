/** Says of a job that has not ended why it still waits, from all that is stored. */
import type { Row } from "./observed.js";
import type { Simulation } from "./simulation.js";

export function why(simulation: Simulation, job: Row): string {
  const { tables, now, world } = simulation;
  const { queue, status, order, attempt, session, paused } = job;
  const said = [
    `job ${simulation.nameOf(job._id)} is still ${status as string} after attempt ${attempt as number}`,
  ];
  if (paused === true) said.push("it is paused");
  if (status === "scheduled") said.push(`it is due ${ago(world.now() - (order as number))}`);
  const config = tables.all("queues").find(({ name }) => name === queue);
  if (config?.["pausedAt"] !== undefined) said.push("its queue is paused");
  if (config?.["overrides"]?.maxParallelism === 0) said.push("its queue may run nothing");
  if (session !== undefined && status === "running") {
    const row = tables.get("sessions", session as string);
    said.push(
      row === undefined
        ? "its session is gone"
        : `its session ${row["name"] as string} is ${row["state"] as string}, looked after ${ago(world.now() - (row["expiresAt"] as number))}`,
    );
  }
  for (const gate of tables.all("gates").filter((one) => one["queue"] === queue)) {
    said.push(`the gate is ${gate["state"] as string}`);
  }
  for (const door of tables.all("doors").filter((one) => one["queue"] === queue)) {
    said.push(`the door is ${door["open"] === true ? "open" : "shut"}`);
  }
  for (const lane of tables.all("lanes").filter((one) => one["queue"] === queue)) {
    const state = tables.get("sessions", lane["session"] as string)?.["state"] as string;
    said.push(`a lane is ${state} with a cap of ${lane["cap"] as number}`);
  }
  for (const timer of tables.all("timers")) {
    if (timer["queue"] !== undefined && timer["queue"] !== queue) continue;
    const scheduled = tables.get("_scheduled_functions", timer["scheduledId"] as string);
    const state = (scheduled?.["state"] as { kind: string } | undefined)?.kind ?? "gone";
    const due = ago(world.now() - (timer["dueAt"] as number));
    said.push(`the timer ${timer["kind"] as string} is due ${due}, its function ${state}`);
  }
  return `${said.join("; ")} (at ${now()})`;
}

function ago(ms: number): string {
  return ms >= 0 ? `${ms.toFixed()} ms ago` : `in ${(-ms).toFixed()} ms`;
}
