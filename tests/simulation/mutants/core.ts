/** Bugs in how a job is taken, held and ended. */
import type { Mutant } from "./mutant.js";

export const CORE: readonly Mutant[] = [];
