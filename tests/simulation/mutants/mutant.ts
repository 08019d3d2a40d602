/** A bug that is planted in what is bundled, never in the product's files: the simulator must find it. */
import type { Replacement } from "../deployment.js";

export interface Mutant {
  /** What is wrong then, in words. */
  name: string;
  replace: readonly Replacement[];
  /** The checkers that may find it: "simulation" is what `liveness.ts` demands. */
  finds: readonly string[];
  /** Within so many seeds, from 1 on. */
  within: number;
}
