/**
 * Large payloads. Question: how often is a payload read and written on its way through the queue? Ten jobs per second,
 * each with so much to carry.
 */
import type { Case, Scenario } from "../cases.js";

const KIB = 1_024;

const carrying = (kib: number, jobs: number): Case => ({
  ...{ name: `${kib} KiB`, of: ["conveyor", "workpool", "plain"], class: "s16", parallelism: 20 },
  load: { everyMs: 100, jobs },
  work: { kind: "act", ms: 50, payloadBytes: kib * KIB },
  size: kib,
});

export const payloads: Scenario = {
  title: "Large payloads",
  question: "How much does a job with a large payload cost?",
  cases: [1, 10, 100, 500].map((kib) => carrying(kib, 100)),
  smoke: [carrying(100, 5)],
  grows: "KiB of payload",
};
