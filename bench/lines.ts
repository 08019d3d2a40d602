/** The stored lines of each run, one line of JSON each: the figures, and all that is needed to play it again. */
import type { AlternativeName } from "./alternatives.js";
import type { ConflictStats, FunctionStats } from "../local/stats/types.js";
import type { Figures } from "./figures/count.js";
import type { Constants } from "./sides.js";

/** Which run. */
export interface Task {
  scenario: string;
  /** Its name within the scenario. */
  case: string;
  of: AlternativeName;
  /** The small ones. */
  isSmoke: boolean;
  /** A constant of the cost model, and by how much it is multiplied. */
  varied?: { constant: string; by: number };
  /** Constants of Conveyor's lanes, where they are not to be the product's. */
  constants?: Constants;
  /** With which it is played; or with how many, each in a run of its own. */
  seed?: number;
  seeds?: number;
  /** Whether the line has every function. */
  withFunctions?: boolean;
}

export interface Line extends Omit<Task, "isSmoke" | "withFunctions" | "seed" | "seeds"> {
  /** Of a run that is compared with itself: which stretch of it. */
  window?: string;
  settings: Settings;
  figures: Figures;
  /** Of several seeds: between which values a mean is with 95 % confidence, by the figure's name. */
  intervals?: Record<string, [low: number, high: number]>;
  functions?: Record<string, FunctionStats>;
  conflicts?: ConflictStats[];
}

/** The case's own fields, in words where it has functions, and the result of the search for the best. */
export interface Settings {
  class: string;
  seed: number;
  /** How many were played. The figures are means over them. */
  seeds?: number;
  /** The commit of these sources, and the versions of the compared packages. */
  versions: Record<string, string>;
  load: unknown;
  work: unknown;
  parallelism?: number;
  /** Further settings that were tried. */
  tried?: number[];
  [other: string]: unknown;
}
