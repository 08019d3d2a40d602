/** Every pair that is played in every order: with each test run, but for the large ones. */
import type { Pair } from "../pair.js";
import { AGAIN } from "./again.js";
import { CANCELS } from "./cancels.js";
import { CLAIMS } from "./claims.js";
import { COUNTING } from "./counting.js";
import { DEADLINES } from "./deadlines.js";
import { DUTIES } from "./duties.js";
import { ENDS } from "./ends.js";
import { KEYS } from "./keys.js";
import { LANE_LOSSES } from "./laneLosses.js";
import { LANE_APART } from "./laneApart.js";
import { LANES } from "./lanes.js";
import { LEASES } from "./leases.js";
import { OPERATED } from "./operated.js";
import { PLACES } from "./places.js";
import { PROCESSES } from "./processes.js";
import { REPORTS } from "./reports.js";
import { ROW_LOOPS } from "./rowLoops.js";
import { ROWS } from "./rows.js";
import { SCHEDULES } from "./schedules.js";
import { UPKEEP } from "./upkeep.js";
import { WAKES } from "./wakes.js";

export const PAIRS: readonly Pair[] = [
  ...LEASES,
  ...CLAIMS,
  ...ENDS,
  ...AGAIN,
  ...REPORTS,
  ...KEYS,
  ...CANCELS,
  ...SCHEDULES,
  ...DEADLINES,
  ...OPERATED,
  ...UPKEEP,
  ...COUNTING,
  ...WAKES,
  ...LANES,
  ...LANE_LOSSES,
  ...LANE_APART,
  ...PROCESSES,
  ...PLACES,
  ...ROWS,
  ...ROW_LOOPS,
  ...DUTIES,
];

/**
 * Pairs with so many orders take seconds: each test run plays only their mutants, and `interleavings.long.test.ts` all of them. Lanes take
 * longer, since they have to go on by themselves after each order.
 */
const LARGE_ORDERS = 100;
const LARGE_ORDERS_OF_LANES = 30;
export const LARGE = PAIRS.filter(
  (pair) =>
    pair.orders >=
    ([...LANES, ...LANE_LOSSES, ...LANE_APART, ...PROCESSES, ...PLACES].includes(pair)
      ? LARGE_ORDERS_OF_LANES
      : LARGE_ORDERS),
);
