/**
 * Every planted bug.
 *
 * Some hazards of `tests/requirements/hazards.md` have no bug here:
 *
 * - Finished jobs are counted and purged in the order of their commits alone: no time of a finish decides, which might lie before
 *   its `seq`. The roll-up that counts a job twice stands for it.
 * - The dispatcher's bound read from the clock: all functions of a world have one clock. An alarm that rings too early stands for
 *   it.
 * - Callbacks run by the janitor, and a claim before the callbacks of the same call: they break no promise as long as each
 *   callback is caught by itself, and the next claim reads its changes anew.
 * - An enqueue of a batch that takes slots: an enqueue takes none.
 * - A wake that fills its own lane, and starts no other: that lane scans for more as its jobs end, so that all begin, only later.
 * - A lane with a canceled function that goes on, and a function that is scheduled by a canceled one and counts as scheduled:
 *   each is covered by the other, and both by the repair that schedules an overdue timer anew. Without one of them nothing is
 *   lost.
 * - The outcome that a lane hands over and that is dropped: the lane sends it again until it is recorded. Only a lane that is
 *   lost in the meantime has its attempt repeated, as such a lane may.
 */
import type { Mutant } from "./mutant.js";
import { BOUND } from "./bound.js";
import { ENDS } from "./ends.js";
import { HOLDING } from "./holding.js";
import { LANES, LANES_SEEN } from "./lanes.js";
import { LATER } from "./later.js";
import { FLEETS_SEEN, ON_CALL } from "./onCall.js";
import { OUTSIDE } from "./outside.js";
import { PROCESSES } from "./processes.js";
import { ROWS_OF_APP } from "./rows.js";
import { TAKING } from "./taking.js";

export const MUTANTS: readonly Mutant[] = [
  ...TAKING,
  ...HOLDING,
  ...LANES,
  ...PROCESSES,
  ...ENDS,
  ...LATER,
  ...OUTSIDE,
  ...ROWS_OF_APP,
  ...BOUND,
  ...ON_CALL,
  ...LANES_SEEN,
  ...FLEETS_SEEN,
];
