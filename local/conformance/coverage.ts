/**
 * The platform's known behaviour, point by point, and where each point is held: by cases, by a test that needs the local
 * backend's inside, or not at all, because the local backend leaves it out.
 *
 * Points are numbered as the cases are: 1 transactions, 2 retention, 3 limits, 4 scheduler, 5 components, 6 sync and HTTP, 7
 * calls of functions, 8 runtime, 9 ids, values and order, 13 rules that were found later.
 */
import { functions } from "./coverage/functions.js";
import { transactions } from "./coverage/transactions.js";

export interface Point {
  point: string;
  /** Ids of cases; `1.2.take-*` stands for all that begin so. */
  cases?: string[];
  /** Tests that reach inside. */
  tests?: string[];
  /** The point that `local/README.md` leaves out, by its name there. */
  leftOut?: string;
}

export const COVERAGE: readonly Point[] = [...transactions, ...functions];
