/** How sure a checker is of times. */
import type { Plan } from "../plan.js";

/** Up to this spread of times nothing takes ten times as long as usual. */
const EVEN = 0.5;
const UNEVEN_FACTOR = 3;

/** Whether no message takes as long as a lease. */
export const isEven = ({ jitter }: Pick<Plan, "jitter">): boolean => jitter <= EVEN;

/** A bound, where times differ most: there one message in 500 takes thirty times as long as most. */
export function sureMs(plan: Plan, ms: number): number {
  return plan.jitter > EVEN ? UNEVEN_FACTOR * ms : ms;
}
