/** Plans in which nothing separates a worker from the deployment. */
import { ENDS } from "../faults/conflicts.js";
import type { Plan } from "../plan.js";

/** Parts that may delay or lose the answers to a worker's calls. */
const UNANSWERED = ["network", "restarts", "worker pause", "starved", "conflicts", "liars"];
/** With these a worker itself may fail its duty. A worker with a wrong clock has another, which only goes forward. */
const DEADLY = ["worker crash", "worker stop", "fleet on call"];

/** Whether calls are answered. */
export function isHeard({ parts }: Pick<Plan, "parts">): boolean {
  return !parts.some((part) => UNANSWERED.includes(part));
}

/** Whether every heartbeat of a worker is answered, with any outcome of its reports; and none is killed. */
export function mayBeat({ parts, events }: Pick<Plan, "parts" | "events">): boolean {
  const refused = events.find(({ do: what }) => what === "conflicts.begin");
  if (refused !== undefined && refused["of"] !== ENDS) return false;
  return isUndisturbed({ parts: parts.filter((part) => part !== "conflicts") });
}

/** Nothing keeps a notification from a worker. */
export function isUndisturbed({ parts }: Pick<Plan, "parts">): boolean {
  return isHeard({ parts }) && !parts.some((part) => DEADLY.includes(part));
}
