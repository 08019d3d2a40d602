/** All cases, in the order of their sections. */
import type { Case } from "../case.js";
import { commitTimestamps } from "./commitTimestamps.js";
import { components } from "./components.js";
import { nesting } from "./nesting.js";
import { readSets } from "./readSets.js";
import { scheduler } from "./scheduler.js";
import { transactions } from "./transactions.js";

export const CASES: readonly Case[] = [
  ...transactions,
  ...readSets,
  ...nesting,
  ...commitTimestamps,
  ...scheduler,
  ...components,
];
