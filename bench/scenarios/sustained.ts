/**
 * Load that lasts. Question: how long do jobs wait at half of the concurrency limit, and near all of it? Twenty at once
 * of 400 ms each are fifty a second: half of that, and 95 in 100.
 */
import { PUSH } from "../alternatives.js";
import type { Case, Scenario } from "../cases.js";

const PARALLELISM = 20;
const WORK_MS = 400;
const CAPACITY = PARALLELISM / (WORK_MS / 1_000);

const loadOf = (hundredths: number, of: "s16" | "s256", seconds: number): Case => ({
  ...{ name: `${hundredths} % of capacity, ${of.toUpperCase()}`, of: PUSH, class: of },
  ...{ parallelism: PARALLELISM, work: { kind: "act", ms: WORK_MS } },
  load: { perSecond: (CAPACITY * hundredths) / 100, seconds },
});

export const sustained: Scenario = {
  title: "Sustained load",
  question: "How long do jobs wait at half of the concurrency limit, and near all of it?",
  cases: [
    loadOf(50, "s16", 60),
    loadOf(95, "s16", 60),
    loadOf(50, "s256", 60),
    loadOf(95, "s256", 60),
  ],
  smoke: [loadOf(50, "s16", 2)],
};
