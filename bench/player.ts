/** Plays one task, in a process of its own, and gives the lines that came of it. */
import type { CostConstants } from "../local/virtual/costs.js";
import { DEFAULT_COSTS } from "../local/virtual/costs.js";
import type { Case } from "./cases.js";
import { count, type Figures } from "./figures/count.js";
import type { Line, Settings, Task } from "./lines.js";
import { play, type Played } from "./play.js";
import { SENSITIVITY } from "./scenarios/sensitivity.js";
import { SCENARIOS } from "./scenarios/all.js";
import { versions } from "./versions.js";

/** Where a case does not ask for several. */
const SEED = 1;

export interface PlayedTask {
  lines: Line[];
  /** On the wall clock. */
  seconds: number;
}

export default async function playTask(task: Task): Promise<PlayedTask> {
  const startedAt = performance.now();
  const lines = await linesOf(task);
  return { lines, seconds: (performance.now() - startedAt) / 1_000 };
}

async function linesOf(task: Task): Promise<Line[]> {
  const one = caseOf(task);
  const { of, varied, constants, withFunctions, seed = SEED } = task;
  const named = { scenario: task.scenario, case: task.case };
  const costs = costsOf(varied);
  let best: { played: Played; figures: Figures; parallelism: number | undefined } | undefined;
  const tries = of === "workpool" ? (one.tries ?? []) : [];
  for (const parallelism of [one.parallelism, ...tries]) {
    const played = await play(of, one, {
      ...{ seed, ...(costs === undefined ? {} : { costs }) },
      ...(parallelism === undefined ? {} : { parallelism }),
      ...(constants === undefined ? {} : { constants }),
    });
    const figures = count(of, one, played);
    if (best === undefined || isBetter(figures, best.figures, one)) {
      best = { played, figures, parallelism };
    }
  }
  const { played, figures, parallelism } = best!;
  const { functions, conflicts } = played.stats;
  const settings = settingsOf(one, seed, parallelism, tries);
  const lineOf = (counted: Figures, window?: string): Line => ({
    ...{ ...named, of },
    ...(window === undefined ? {} : { window }),
    ...(varied === undefined ? {} : { varied }),
    ...(constants === undefined ? {} : { constants }),
    ...{ settings, figures: counted },
    ...(withFunctions === true ? { functions, conflicts } : {}),
  });
  if (one.windows === undefined) return [lineOf(figures)];
  return played.windows.map(({ window, ...stretch }) =>
    lineOf(count(of, one, played, stretch), window.name),
  );
}

function caseOf({ scenario, case: name, isSmoke }: Task): Case {
  const { cases, smoke } = [...SCENARIOS, SENSITIVITY].find(({ title }) => title === scenario)!;
  return (isSmoke ? smoke : cases).find((one) => one.name === name)!;
}

function costsOf(varied: Task["varied"]): Partial<CostConstants> | undefined {
  if (varied === undefined) return undefined;
  const { constant, by } = varied;
  return { [constant]: DEFAULT_COSTS[constant as keyof CostConstants] * by };
}

/** Where all is there from the start, by how soon all is done; in a stream, by how soon a job is begun. */
function isBetter(one: Figures, other: Figures, { load }: Case): boolean {
  if ("inOne" in load || "atOnce" in load) return one.perSecond > other.perSecond;
  return one.startMs.p50 < other.startMs.p50;
}

function settingsOf(
  one: Case,
  seed: number,
  parallelism: number | undefined,
  tries: readonly number[],
): Settings {
  const {
    name: _name,
    of: _of,
    tries: _tries,
    sort: _sort,
    seeds: _seeds,
    class: of,
    ...rest
  } = one;
  return {
    ...{ class: of, seed, versions: versions() },
    ...said(rest),
    ...(parallelism === undefined ? {} : { parallelism }),
    ...(tries.length === 0 ? {} : { tried: [one.parallelism!, ...tries] }),
  } as Settings;
}

/** Functions as they are written. */
function said(value: object): object {
  return JSON.parse(
    JSON.stringify(value, (_key, part: unknown) =>
      typeof part === "function" ? String(part) : part,
    ),
  ) as object;
}
