/** Nothing. Question: how much does an idle hour cost, without workers, and with workers that wait? */
import type { Case, Scenario } from "../cases.js";

const HOUR_MS = 3_600_000;

const pushed = (idleMs: number): Case => ({
  ...{ name: "an hour", of: ["conveyor", "workpool", "plain"], class: "s16", parallelism: 10 },
  ...{ load: { idleMs }, work: { kind: "act", ms: 0 } },
});
const pulled = (idleMs: number, workers: number): Case => ({
  ...{ name: `an hour, ${workers} workers`, of: ["pulled", "farm", "ring"], class: "s16" },
  ...{ load: { idleMs }, work: { kind: "act", ms: 0 }, fleet: { workers, concurrency: 1 } },
});

export const idleHour: Scenario = {
  title: "An idle hour",
  question: "How much does an hour without work cost?",
  cases: [pushed(HOUR_MS), pulled(HOUR_MS, 16)],
  smoke: [pushed(60_000), pulled(60_000, 2)],
};
