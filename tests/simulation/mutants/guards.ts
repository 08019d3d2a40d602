/** Guards that the interleavings remove too: the replaced texts are written only there. */
import type { Replacement } from "../deployment.js";
import { PAIRS } from "../../interleavings/pairs/all.js";

/** How the pair that is so called is played without that guard. */
export function guard(of: string, without: string): Replacement[] {
  const pair = PAIRS.find((one) => one.of === of);
  const mutant = pair?.mutants.find((one) => one.without === without);
  if (mutant?.replace === undefined)
    throw new Error(`No pair "${of}" is played without ${without}.`);
  return mutant.replace.map((one) => ({ ...one, file: `component/${one.file}` }));
}
