/**
 * A trickle: about one job per second, at random times. Question: how much does it cost to be woken again and again,
 * and does a job that comes shortly after another begin later? No alternative is ever busy, and none is idle for long.
 */
import { PUSH } from "../alternatives.js";
import type { Case, Scenario } from "../cases.js";

const trickleOf = (perSecond: number, seconds: number): Case => ({
  ...{ name: `${perSecond}/s`, of: PUSH, class: "s16", parallelism: 10 },
  ...{ load: { perSecond, seconds }, work: { kind: "act", ms: 20 } },
  size: perSecond,
});

export const trickle: Scenario = {
  title: "A trickle",
  question: "How much do jobs cost at a rate of about one per second?",
  cases: [trickleOf(0.2, 300), trickleOf(1, 120), trickleOf(5, 60)],
  smoke: [trickleOf(1, 5)],
  grows: "jobs a second",
};
