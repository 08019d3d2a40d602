/**
 * Many short jobs, one after another, with room to spare. Question: how much does a job of 20 ms cost, and how soon
 * does it begin, where hundreds come per second? The hard case for an alternative that keeps the state of each job in
 * shared rows.
 */
import { PUSH_AND_INLINE } from "../alternatives.js";
import type { Case, Scenario } from "../cases.js";

const stream = (perSecond: number, seconds: number): Case => ({
  ...{ name: `${perSecond}/s`, of: PUSH_AND_INLINE, class: "s256" },
  ...{ parallelism: 64, tries: [16, 32], work: { kind: "act", ms: 20 } },
  ...{ load: { perSecond, seconds }, size: perSecond },
});
/** The callers' own work takes so long, in milliseconds. */
const slow = (ms: number): Case => ({
  ...stream(100, 10),
  ...{ name: `100/s, callers of ${ms} ms`, reads: ms / 5, of: ["conveyor", "workpool", "plain"] },
});

export const shortJobs: Scenario = {
  title: "A stream of short jobs",
  question:
    "How much do jobs of 20 ms cost where hundreds come per second, and how soon do they begin?",
  cases: [stream(100, 20), stream(400, 10), slow(60), slow(300)],
  smoke: [stream(100, 1)],
  grows: "jobs a second",
};
