/**
 * Every planted bug.
 *
 * Some of which `docs/hazards.md` speaks have no place here:
 *
 * - Jobs that finish are counted and purged in the order of their commits alone: no time of a finish decides, which might lie
 *   before its `seq`. The roll-up that counts a job twice stands for it.
 * - The dispatcher's bound read from the clock: all functions of a world have one clock. What rings too early stands for it.
 * - Callbacks run by the janitor, and a claim before the callbacks of the same call: they break no promise as long as each
 *   callback is caught by itself, and what it changed is read anew by whoever claims next.
 * - An enqueue of a batch that takes slots: whoever enqueues takes none.
 * - A wake that takes all that its lane may have, and sees to no other: that lane looks for more as its jobs end, so that all
 *   are begun, only later.
 * - A lane whose function was canceled and goes on, and what is born canceled and counts as scheduled: each stands behind the
 *   other, and behind both stands that a timer which is overdue is scheduled anew. Without one of them nothing is lost.
 * - The outcome that a lane hands over and that is dropped: the lane sends it again until it is recorded. Only one that is lost
 *   in the meantime has its attempt made again, which is what such a lane may do.
 */
import type { Mutant } from "./mutant.js";
import { ENDS } from "./ends.js";
import { HOLDING } from "./holding.js";
import { LANES } from "./lanes.js";
import { LATER } from "./later.js";
import { OUTSIDE } from "./outside.js";
import { PROCESSES } from "./processes.js";
import { TAKING } from "./taking.js";

export const MUTANTS: readonly Mutant[] = [
  ...TAKING,
  ...HOLDING,
  ...LANES,
  ...PROCESSES,
  ...ENDS,
  ...LATER,
  ...OUTSIDE,
];
