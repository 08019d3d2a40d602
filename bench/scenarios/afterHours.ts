/**
 * After hours of work. Question: does a queue become dearer or slower as it runs? Deleted and moved rows leave dead
 * index entries behind, which a scan from the start passes. One stream, five per second, compared with itself: its
 * second minute, and the last of an hour.
 */
import type { Case, Scenario } from "../cases.js";

const MINUTE = 60_000;

const steady = (minutes: number, perSecond: number): Case => ({
  ...{ name: `${minutes} minutes`, of: ["conveyor", "workpool", "plain"], class: "s16" },
  ...{ parallelism: 10, work: { kind: "act", ms: 50 } },
  load: { perSecond, seconds: minutes * 60 },
  windows: [
    { name: "the second minute", fromMs: MINUTE, toMs: 2 * MINUTE },
    { name: "the last minute", fromMs: (minutes - 1) * MINUTE, toMs: minutes * MINUTE },
  ],
});

export const afterHours: Scenario = {
  title: "After an hour of work",
  question: "Does a job cost more, or begin later, because many were done before it?",
  cases: [steady(60, 5)],
  smoke: [steady(3, 0.2)],
};
