/** Every pair that is played in every order: with each test run, but for the large ones. */
import type { Pair } from "../pair.js";
import { AGAIN } from "./again.js";
import { CANCELS } from "./cancels.js";
import { CLAIMS } from "./claims.js";
import { ENDS } from "./ends.js";
import { KEYS } from "./keys.js";
import { LEASES } from "./leases.js";
import { OPERATED } from "./operated.js";
import { REPORTS } from "./reports.js";
import { SCHEDULES } from "./schedules.js";
import { UPKEEP } from "./upkeep.js";

export const PAIRS: readonly Pair[] = [
  ...LEASES,
  ...CLAIMS,
  ...ENDS,
  ...AGAIN,
  ...REPORTS,
  ...KEYS,
  ...CANCELS,
  ...SCHEDULES,
  ...OPERATED,
  ...UPKEEP,
];

/** Of so many orders are those that take seconds: with each test run only their mutants, and all of them in `tests/deep`. */
const LARGE_ORDERS = 500;
export const LARGE = PAIRS.filter(({ orders }) => orders >= LARGE_ORDERS);
