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
 */
import type { Mutant } from "./mutant.js";
import { ENDS } from "./ends.js";
import { HOLDING } from "./holding.js";
import { LANES } from "./lanes.js";
import { LATER } from "./later.js";
import { OUTSIDE } from "./outside.js";
import { TAKING } from "./taking.js";

export const MUTANTS: readonly Mutant[] = [
  ...TAKING,
  ...HOLDING,
  ...LANES,
  ...ENDS,
  ...LATER,
  ...OUTSIDE,
];
