import { limitsOf } from "../../../src/shared/index.js";
import type { Plan } from "../plan.js";
import type { Tables } from "../observed.js";

/** How many jobs the class runs at once in all push queues. */
export const placesOf = (plan: Plan): number => limitsOf(plan.class).any;

/** Places that processes have, used or not. */
export function placesGiven(tables: Tables): number {
  const processes = tables.all("processes").filter(({ state }) => state !== "free").length;
  return tables.all("grants").reduce((sum, { extra }) => sum + (extra as number), processes);
}
