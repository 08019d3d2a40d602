/**
 * Urgent jobs under overload: one job in twenty goes first, and half as much again comes as can be done. Question: how
 * long does an urgent job wait, and at which price for the rest? workpool and plain scheduling know no priorities:
 * there every job waits its turn.
 */
import { PUSH } from "../alternatives.js";
import type { Case, Scenario } from "../cases.js";

const isUrgent = (n: number): boolean => n % 20 === 0;

const overload = (seconds: number): Case => ({
  ...{ name: "150 % of capacity", of: PUSH, class: "s256", parallelism: 10 },
  ...{ load: { perSecond: 75, seconds }, work: { kind: "act", ms: 200, isUrgent } },
  sort: (n) => (isUrgent(n) ? "urgent" : "others"),
});

export const priorities: Scenario = {
  title: "Priorities under overload",
  question: "How long does an urgent job wait where more comes than can be done?",
  cases: [overload(20)],
  smoke: [overload(1)],
};
