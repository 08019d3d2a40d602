/** Guards that the interleavings remove too: the changes are written only there. */
import type { Change } from "../../planted/change.js";
import { PAIRS } from "../../interleavings/pairs/all.js";

/** How the pair that is so called is played without that guard. */
export function guard(of: string, without: string): readonly Change[] {
  const pair = PAIRS.find((one) => one.of === of);
  const mutant = pair?.mutants.find((one) => one.without === without);
  if (mutant?.changes === undefined)
    throw new Error(`No pair "${of}" is played without ${without}.`);
  return mutant.changes;
}
