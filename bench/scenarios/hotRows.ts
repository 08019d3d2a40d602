/**
 * A contended row: each job's handler, or its callback, patches a counter, and the app's own mutation does so as often.
 * Question: does a job begin and end as soon as with the alternatives, while the app's mutation loses no more tries?
 */
import type { Case, Scenario } from "../cases.js";
import { small, streaming } from "../streams.js";

interface Load {
  counts: "handler" | "callback";
  class: "s16" | "s256";
  queues: number;
  /** Jobs per second, into any of the queues; and as many of the app's own calls. */
  perSecond: number;
  seconds?: number;
}

function hot({ counts, class: of, queues, perSecond, seconds = 10 }: Load): Case {
  const calls = { perSecond, seconds };
  const kind = counts === "handler" ? "book" : "act";
  const many = queues === 1 ? "1 queue" : `${queues} queues`;
  return streaming({
    ...{ name: `in the ${counts}, ${perSecond}/s each, ${many}, ${of.toUpperCase()}` },
    ...{ class: of, parallelism: 10, seeds: 8, counts, bumps: calls },
    streams: [{ queues, into: "any", kind, calls, ms: 0 }],
  });
}

const KINDS = ["handler", "callback"] as const;

export const hotRows: Scenario = {
  title: "A row that the app writes too",
  question:
    "Each job patches a counter, in its handler or in its callback, and the app's own mutation does as often. Does a job begin and end as soon, and does the app's mutation lose no more tries?",
  cases: [
    hot({ counts: "handler", class: "s16", queues: 1, perSecond: 20 }),
    hot({ counts: "handler", class: "s256", queues: 3, perSecond: 40 }),
    hot({ counts: "callback", class: "s16", queues: 3, perSecond: 10 }),
    hot({ counts: "callback", class: "s256", queues: 1, perSecond: 20 }),
  ],
  smoke: KINDS.map((counts) =>
    small(hot({ counts, class: "s16", queues: 2, perSecond: 10, seconds: 1 })),
  ),
};
