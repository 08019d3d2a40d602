/**
 * How far the times depend on the cost model. Question: is Conveyor ahead, or behind, for any real cost of a read, a
 * commit or a start? Three small loads are played again with each constant halved and doubled. Counts hardly change.
 */
import type { Case, Scenario } from "../cases.js";

const of = ["conveyor", "workpool"] as const;
const isolated: Case = {
  ...{ name: "isolated", of, class: "s16", parallelism: 10 },
  ...{ load: { everyMs: 60_000, jobs: 4 }, work: { kind: "act", ms: 20 } },
};
const burst: Case = {
  ...{ name: "300 in one mutation", of, class: "s16", parallelism: 50 },
  ...{ load: { inOne: 300 }, work: { kind: "act", ms: 100 } },
};
const stream: Case = {
  ...{ name: "100/s", of, class: "s256", parallelism: 64 },
  ...{ load: { perSecond: 100, seconds: 3 }, work: { kind: "act", ms: 20 } },
};

export const SENSITIVITY: Scenario = {
  title: "Sensitivity",
  question: "Does the cost model decide which alternative is ahead?",
  cases: [isolated, burst, stream],
  smoke: [{ ...burst, load: { inOne: 20 } }],
};
