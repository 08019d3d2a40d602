/** All cases, in the order of their sections. */
import type { Case } from "../case.js";
import { readSets } from "./readSets.js";
import { transactions } from "./transactions.js";

export const CASES: readonly Case[] = [...transactions, ...readSets];
