/** Every planted bug. */
import type { Mutant } from "./mutant.js";
import { CORE } from "./core.js";

export const MUTANTS: readonly Mutant[] = [...CORE];
