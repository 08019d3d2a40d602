/** Where an alternative does better than Conveyor: found in the figures, so that none is passed over. */
import { ALTERNATIVES, isConveyor } from "../alternatives.js";
import type { Figures } from "../figures/count.js";
import type { Line } from "../lines.js";
import { groupBy } from "./group.js";
import { short } from "./said.js";

interface Measure {
  name: string;
  of: (figures: Figures) => number;
  /** Whether more is better. */
  more?: boolean;
  /** Less of a difference than this says nothing. */
  least: number;
}

const MEASURES: Measure[] = [
  { name: "calls per job", of: ({ calls }) => calls, least: 0.05 },
  { name: "documents written", of: (f) => f.documentsWritten, least: 0.05 },
  { name: "KB written", of: (f) => f.bytesWritten / 1_000, least: 0.05 },
  { name: "KB read", of: (f) => f.bytesRead / 1_000, least: 0.05 },
  { name: "conflicts/100", of: (f) => f.callerConflicts + f.otherConflicts, least: 0.5 },
  { name: "errors", of: (f) => f.callerErrors + f.workerErrors + f.lost, least: 1 },
  { name: "$/million", of: (f) => f.dollarsAMillion, least: 0.1 },
  { name: "jobs/s", of: (f) => f.perSecond, more: true, least: 0.5 },
  { name: "start p50 ms", of: (f) => f.startMs.p50, least: 2 },
  { name: "start p95 ms", of: (f) => f.startMs.p95, least: 5 },
  { name: "done p50 ms", of: (f) => f.doneMs.p50, least: 2 },
];

export interface Win {
  scenario: string;
  case: string;
  /** `calls per job: workpool 2.1, Conveyor 2.4`. */
  said: string[];
}

/** By more than a twentieth. */
const MARGIN = 1.05;

export function winsOf(lines: readonly Line[]): Win[] {
  const played = lines.filter(({ varied, window }) => varied === undefined && window === undefined);
  const cases = groupBy(played, ({ scenario, case: name }) => JSON.stringify([scenario, name]));
  return [...cases.values()].flatMap((of): Win[] => {
    const ours = of.filter((line) => isConveyor(line.of));
    const others = of.filter((line) => !isConveyor(line.of));
    if (ours.length === 0) return [];
    const said = MEASURES.flatMap((measure) => sayOf(measure, ours, others));
    const { scenario, case: name } = of[0]!;
    return said.length === 0 ? [] : [{ scenario, case: name, said }];
  });
}

/** Against the best of Conveyor's own ways. */
function sayOf(
  { name, of, more = false, least }: Measure,
  ours: readonly Line[],
  others: readonly Line[],
): string[] {
  const values = ours.map((line) => of(line.figures));
  const best = more ? Math.max(...values) : Math.min(...values);
  const better = others.filter((line) => {
    const value = of(line.figures);
    // None of these jobs came during the measurement.
    if (name.endsWith(" ms") && value === 0) return false;
    const [ahead, behind] = more ? [value, best] : [best, value];
    return ahead > behind * MARGIN && ahead - behind >= least;
  });
  if (better.length === 0) return [];
  const told = better.map((line) => `${ALTERNATIVES[line.of].label} ${short(of(line.figures))}`);
  return [`${name}: ${told.join(", ")}, Conveyor ${short(best)}`];
}
