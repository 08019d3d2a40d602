/**
 * Short jobs among long ones: nine of ten take 10 ms, and one takes a minute. Question: do short jobs wait behind long
 * ones while there is room, and at which cost are long ones kept?
 */
import { PUSH } from "../alternatives.js";
import type { Case, Scenario } from "../cases.js";

const isLong = (n: number): boolean => n % 10 === 0;

const mix = (of: "s16" | "s256", seconds: number): Case => ({
  ...{ name: of.toUpperCase(), of: PUSH, class: of, parallelism: 50 },
  load: { perSecond: 4, seconds },
  work: { kind: "act", ms: (n) => (isLong(n) ? 60_000 : 10) },
  sort: (n) => (isLong(n) ? "60 s" : "10 ms"),
});

export const mixed: Scenario = {
  title: "Jobs of 10 ms among jobs of a minute",
  question: "Do short jobs wait behind long ones?",
  cases: [mix("s16", 60), mix("s256", 60)],
  smoke: [mix("s16", 3)],
};
