/** The parts of a side that a load is played on. */
import type { AppBundle } from "../local/virtual/appBundle.js";
import type { World } from "../local/virtual/world.js";
import type { AlternativeName } from "./alternatives.js";
import type { Case } from "./cases.js";
import type { Watched } from "./watch/jobs.js";

export interface Side {
  bundle(constants: Constants, name: AlternativeName, one: Case): Promise<AppBundle>;
  /** `process.env` of its functions. */
  variables(one: Case, parallelism: number | undefined): Record<string, string>;
  /** The app's function that brings one job in, and the one that brings many. */
  entries(module: string, one: Case): { one: string; all: string };
  /** Starts the workers outside of Convex. */
  start?(world: World, name: AlternativeName, one: Case): Promise<Workers>;
}

/** Programs outside of Convex. */
export interface Workers {
  /** The errors that they got instead of an answer: `claim: …`. */
  errors: string[];
  /** How many jobs each began. */
  byName: Map<string, number>;
  /** Each job that one began, and when. */
  begins: { name: string; at: number }[];
  /** The first so many end at once, in the middle of their work. */
  kill(count: number): void;
  /** From now on, their output counts. */
  watch(watched: Watched): void;
}

/** Constants of `src/shared/pushLimits.ts` by name, where they are not to be the product's. */
export type Constants = Readonly<Record<string, number>>;
