/** Conveyor's targets where there are several queues. */
import type { Figures } from "../figures/count.js";
import type { Latencies } from "../figures/latencies.js";
import type { Line } from "../lines.js";
import { manyQueues, sixNowAndThen, thousandQueues } from "../scenarios/manyQueues.js";
import type { Stream } from "../streams.js";
import { judgedLines, verdict, type Target } from "./verdict.js";

interface Row {
  where: string;
  startMs: Latencies;
  /** The same jobs by workpool. */
  theirs: Latencies | undefined;
}

export function queueTargetsOf(lines: readonly Line[]): Target[] {
  const several = lines.filter(({ settings }) => settings["queues"] !== undefined);
  const ours = several.filter(({ of }) => of === "conveyor");
  const theirsOf = ({ scenario, case: name }: Line): Figures | undefined =>
    several.find(
      (line) => line.scenario === scenario && line.case === name && line.of === "workpool",
    )?.figures;
  const rows = ours.flatMap((line) => rowsOf(line, theirsOf(line)));
  const calm = ours.filter(({ settings }) => settings["isCrowded"] !== true);
  const compared = ours.filter((line) => {
    const theirs = theirsOf(line);
    return theirs !== undefined && theirs.startMs.p95 <= 2 * line.figures.startMs.p95;
  });
  const between = ours.filter(
    ({ scenario, settings }) => scenario === manyQueues.title && Number(settings["queues"]) >= 5,
  );
  return [
    verdict(
      "Several queues: 95 of 100 jobs begin within 500 ms where the class has places for all, ms",
      calm.flatMap((line) => rowsOf(line, undefined)).map(p95Of),
      (ms) => ms <= 500,
    ),
    verdict(
      "Several queues: 95 of 100 jobs begin no later than workpool's",
      rows.flatMap(({ where, startMs, theirs }) =>
        theirs === undefined ? [] : [{ where, value: startMs.p95 / theirs.p95 }],
      ),
      (ratio) => ratio <= 1,
    ),
    judgedLines(
      "Several queues: no more calls per job than workpool, where its jobs begin within twice the time",
      compared,
      ({ calls }, line) => calls / theirsOf(line)!.calls,
      (ratio) => ratio <= 1,
    ),
    judgedLines(
      "5 to 30 queues: at most 6 calls per job with the load's own three: the enqueue, the action, a mutation in it",
      between,
      allCallsOf,
      (calls) => calls <= 6,
    ),
    judgedLines(
      "Six queues every ten minutes: at most 5 calls per job without the enqueue",
      ours.filter(({ scenario }) => scenario === sixNowAndThen.title),
      ({ calls }) => calls,
      (calls) => calls <= 5,
    ),
    judgedLines(
      "A thousand queues of two jobs: at least 60 jobs per second",
      ours.filter(({ scenario }) => scenario === thousandQueues.title),
      ({ perSecond }) => perSecond,
      (rate) => rate >= 60,
    ),
  ];
}

const allCallsOf = ({ allCalls }: Figures): number => allCalls!;
const p95Of = ({ where, startMs }: Row) => ({ where, value: startMs.p95 });

/** A row for each sort of jobs, but for sorts that wait for one another anyway. */
function rowsOf(line: Line, theirs: Figures | undefined): Row[] {
  const { figures, scenario, case: name, settings } = line;
  const where = `${scenario}, ${name}`;
  const { sorts } = figures;
  if (sorts === undefined) return [{ where, startMs: figures.startMs, theirs: theirs?.startMs }];
  const { streams } = settings.load as { streams: Stream[] };
  const inLine = new Set(streams.filter(({ areInLine }) => areInLine).map(({ sort }) => sort));
  return Object.entries(sorts)
    .filter(([sort]) => !inLine.has(sort))
    .map(([sort, { startMs }]) => ({
      ...{ where: `${where}, ${sort}`, startMs },
      theirs: theirs?.sorts?.[sort]?.startMs,
    }));
}
