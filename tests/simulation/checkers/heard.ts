/** In which plans nothing keeps a worker and the deployment from hearing of each other. */
import { ENDS } from "../faults/conflicts.js";
import type { Plan } from "../plan.js";

/** What may keep a worker's calls from being answered in time, or at all. */
const UNANSWERED = ["network", "restarts", "worker pause", "starved", "conflicts", "liars"];
/** With these a worker itself may fail its duty. A worker with a wrong clock has another, which only goes forward. */
const DEADLY = ["worker crash", "worker stop"];

/** Whether whoever calls is answered. */
export function isHeard({ parts }: Pick<Plan, "parts">): boolean {
  return !parts.some((part) => UNANSWERED.includes(part));
}

/** Whether every beat of a worker is answered, whatever becomes of what it reports; and none is killed. */
export function mayBeat({ parts, events }: Pick<Plan, "parts" | "events">): boolean {
  const refused = events.find(({ do: what }) => what === "conflicts.begin");
  if (refused !== undefined && refused["of"] !== ENDS) return false;
  return isUndisturbed({ parts: parts.filter((part) => part !== "conflicts") });
}

/** Nothing keeps a worker from being told what it is to be told. */
export function isUndisturbed({ parts }: Pick<Plan, "parts">): boolean {
  return isHeard({ parts }) && !parts.some((part) => DEADLY.includes(part));
}
