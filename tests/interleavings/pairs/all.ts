/** Every pair that is played in every order: the small ones of each kind with each test run. */
import type { Pair } from "../pair.js";
import { AGAIN } from "./again.js";
import { CANCELS } from "./cancels.js";
import { CLAIMS } from "./claims.js";
import { COUNTING } from "./counting.js";
import { DEADLINES } from "./deadlines.js";
import { DECLARED } from "./declared.js";
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

const KINDS: readonly (readonly Pair[])[] = [
  LEASES,
  CLAIMS,
  ENDS,
  AGAIN,
  REPORTS,
  KEYS,
  CANCELS,
  SCHEDULES,
  DEADLINES,
  OPERATED,
  DECLARED,
  UPKEEP,
  COUNTING,
  WAKES,
  LANES,
  LANE_LOSSES,
  LANE_APART,
  PROCESSES,
  PLACES,
  ROWS,
  ROW_LOOPS,
  DUTIES,
];

export const PAIRS = KINDS.flat();

/**
 * A hundred orders take a second: each test run plays these of each kind, the ones with the fewest orders, and
 * `interleavings.long.test.ts` the rest.
 */
const SMALL_OF_A_KIND = 2;
const SMALL_ORDERS = 300;
export const SMALL = KINDS.flatMap((pairs) =>
  [...pairs]
    .sort((a, b) => a.orders - b.orders)
    .slice(0, SMALL_OF_A_KIND)
    .filter(({ orders }) => orders <= SMALL_ORDERS),
);
export const LARGE = PAIRS.filter((pair) => !SMALL.includes(pair));
