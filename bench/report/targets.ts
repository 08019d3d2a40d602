/** Conveyor's targets, and whether it meets them: each with its figures. */
import type { AlternativeName } from "../alternatives.js";
import type { Figures } from "../figures/count.js";
import type { Case } from "../cases.js";
import type { Line } from "../lines.js";
import { backlogs } from "../scenarios/backlogs.js";
import { bursts } from "../scenarios/bursts.js";
import { fleets } from "../scenarios/fleets.js";
import { idleHour } from "../scenarios/idleHour.js";
import { isolated } from "../scenarios/isolated.js";
import { waitingJobs } from "../scenarios/waitingJobs.js";
import { fleetTargetsOf } from "./fleetTable.js";
import { queueTargetsOf } from "./queueTargets.js";
import { judgedLines, verdict, type Target } from "./verdict.js";

/** Queues with much to do. */
const BUSY = ["Bursts", "A stream of short jobs", "Jobs that do nothing"];

interface Pair {
  where: string;
  ours: Figures;
  theirs: Figures;
}

export function targetsOf(lines: readonly Line[]): Target[] {
  const plain = lines.filter(({ varied }) => varied === undefined);
  const find = (scenario: string, name: string, of: AlternativeName): Figures | undefined =>
    plain.find((line) => line.scenario === scenario && line.case === name && line.of === of)
      ?.figures;
  /** Cases of these scenarios that both have played. */
  const pairs = (scenarios: readonly string[], ours: AlternativeName, theirs: AlternativeName) =>
    plain
      .filter((line) => scenarios.includes(line.scenario) && line.of === ours)
      .flatMap(({ scenario, case: name, figures }): Pair[] => {
        const other = find(scenario, name, theirs);
        if (other === undefined) return [];
        return [{ where: `${scenario}, ${name}`, ours: figures, theirs: other }];
      });
  /** At most so many times the other's, in each case. */
  const atMost = (promise: string, list: Pair[], of: (f: Figures) => number, most: number) =>
    judged(
      promise,
      list,
      ({ ours, theirs }) => of(ours) / of(theirs),
      (ratio) => ratio <= most,
    );
  const conveyors = plain.filter(({ of }) => of === "conveyor" || of === "inline");
  const single = pairs([isolated.title], "conveyor", "workpool");
  const busy = pairs(BUSY, "conveyor", "workpool");
  const storm = bursts.cases.filter(({ load }) => "atOnce" in load).map(({ name }) => name);
  const isStorm = (line: Line) => line.scenario === bursts.title && storm.includes(line.case);
  return [
    atMost("An isolated job: at most a quarter of workpool's calls", single, (f) => f.calls, 0.25),
    atMost(
      "An isolated job: at most a quarter of workpool's calls, without later upkeep",
      single,
      (f) => f.calls - f.callsBehind,
      0.25,
    ),
    atMost("An isolated job begins no later than workpool's", single, (f) => f.startMs.p50, 1),
    atMost("Busy, by reference: at most 0.8 times workpool's calls", busy, (f) => f.calls, 0.8),
    atMost(
      "Busy, inline: at most 0.35 times workpool's calls",
      pairs(BUSY, "inline", "workpool"),
      (f) => f.calls,
      0.35,
    ),
    atMost(
      "Busy: at most 0.6 times workpool's document writes",
      busy,
      (f) => f.documentsWritten,
      0.6,
    ),
    atMost("Busy: no more bytes written a job than workpool", busy, (f) => f.bytesWritten, 1),
    judged(
      "Busy: no more bytes written a job than workpool, without the row that is kept of a job that has ended",
      busy,
      ({ ours, theirs }) => (ours.bytesWritten - ours.keptBytesWritten) / theirs.bytesWritten,
      (ratio) => ratio <= 1,
    ),
    judgedLines(
      "No error reaches a caller",
      conveyors,
      ({ callerErrors, lost }) => callerErrors + lost,
      (errors) => errors === 0,
    ),
    judgedLines(
      "No error reaches a caller that reaches none of plain scheduling's: the class refuses these before any code runs",
      conveyors.filter(({ scenario, case: name }) => find(scenario, name, "plain") !== undefined),
      ({ callerErrors, lost }, { scenario, case: name }) =>
        callerErrors + lost - find(scenario, name, "plain")!.callerErrors,
      (more) => more <= 0,
    ),
    judgedLines(
      "At most 1 conflict in 100 jobs, but in the storm of callers from idle",
      conveyors.filter((line) => !isStorm(line)),
      ({ callerConflicts, otherConflicts }) => callerConflicts + otherConflicts,
      (conflicts) => conflicts <= 1,
    ),
    judged(
      "In the storm of callers no more conflicts than workpool",
      pairs([bursts.title], "conveyor", "workpool").filter(({ where }) =>
        storm.some((name) => where.endsWith(`, ${name}`)),
      ),
      ({ ours, theirs }) => conflictsOf(ours) - conflictsOf(theirs),
      (more) => more <= 0,
    ),
    judged(
      "Jobs of 1 s on S16: at least 5 times as many at once as plain scheduling",
      pairs([waitingJobs.title], "conveyor", "plain").filter(({ where }) => where.endsWith("S16")),
      ({ ours, theirs }) => ours.atOnce / theirs.atOnce,
      (ratio) => ratio >= 5,
    ),
    judged(
      "Jobs of 1 s on S16: at least as many at once as workpool",
      pairs([waitingJobs.title], "conveyor", "workpool").filter(({ where }) =>
        where.endsWith("S16"),
      ),
      ({ ours, theirs }) => ours.perSecond / theirs.perSecond,
      (ratio) => ratio >= 1,
    ),
    ...(["conveyor", "pulled"] as const).map((of) => backlogTarget(plain, of)),
    judgedLines(
      "Nothing is called while idle",
      plain.filter(({ scenario, of }) => scenario === idleHour.title && of === "conveyor"),
      ({ calls }) => calls,
      (calls) => calls === 0,
    ),
    judgedLines(
      "Up to 1,000 workers: no error",
      plain.filter(({ scenario, of }) => scenario === fleets.title && of === "pulled"),
      ({ callerErrors, workerErrors, lost }) => callerErrors + workerErrors + lost,
      (errors) => errors === 0,
    ),
    risingTarget(plain),
    judged(
      "64 workers: at least 3 times the llama farm's throughput",
      pairs([fleets.title], "pulled", "farm").filter(({ where }) => / 64 workers, S/.test(where)),
      ({ ours, theirs }) => ours.perSecond / theirs.perSecond,
      (ratio) => ratio >= 3,
    ),
    ...fleetTargetsOf(plain),
    ...queueTargetsOf(plain),
  ];
}

const conflictsOf = ({ callerConflicts, otherConflicts }: Figures): number =>
  callerConflicts + otherConflicts;

function judged(
  promise: string,
  list: readonly Pair[],
  of: (pair: Pair) => number,
  holds: (value: number) => boolean,
): Target {
  const values = list.map((pair) => ({ where: pair.where, value: of(pair) }));
  return verdict(promise, values, holds);
}

/**
 * Calls, documents and bytes at the largest backlog, against the smallest: without later upkeep, since a roll-up every
 * ten seconds falls into so short a time or does not, and counts ended jobs, however many still wait.
 */
function backlogTarget(lines: readonly Line[], of: AlternativeName): Target {
  const side = of === "pulled" ? "pull" : "push";
  const promise = `A backlog of a million: a job costs at most 1.1 times what it costs at 1,000, without later upkeep (${side})`;
  const played = lines.filter((line) => line.scenario === backlogs.title && line.of === of);
  const sizeOf = (line: Line) => line.settings["backlog"] as number;
  const sorted = played.toSorted((a, b) => sizeOf(a) - sizeOf(b));
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (first === undefined || last === undefined || sizeOf(last) < 1_000_000) {
    return { promise, isMet: undefined, measured: "not played" };
  }
  const figures = [
    "calls",
    "documentsRead",
    "documentsWritten",
    "bytesRead",
    "bytesWritten",
  ] as const;
  const values = figures.map((figure) => ({
    where: figure,
    value: ownOf(last, figure) / ownOf(first, figure),
  }));
  return verdict(promise, values, (ratio) => ratio <= 1.1);
}

type Counted = "calls" | `${"documents" | "bytes"}${"Read" | "Written"}`;

function ownOf({ figures }: Line, figure: Counted): number {
  return figures[figure] - figures[`${figure}Behind`];
}

/** With each larger fleet of a class more, or as much as before within a tenth; of each fleet where it had most to do. */
function risingTarget(lines: readonly Line[]): Target {
  const promise = "A larger fleet does more, up to the class's limits";
  const most = new Map<string, Line>();
  for (const line of lines) {
    const { scenario, of, settings, figures } = line;
    const { load, fleet } = settings as unknown as Case;
    if (scenario !== fleets.title || of !== "pulled" || !("inOne" in load)) continue;
    const which = `${settings.class} ${fleet!.workers}`;
    if ((most.get(which)?.figures.jobs ?? 0) < figures.jobs) most.set(which, line);
  }
  const played = [...most.values()];
  const values = played.flatMap((line, n) => {
    const before = played[n - 1];
    if (before === undefined || before.settings.class !== line.settings.class) return [];
    const value = line.figures.perSecond / before.figures.perSecond;
    return [{ where: line.case, value }];
  });
  return verdict(promise, values, (ratio) => ratio >= 0.9);
}
