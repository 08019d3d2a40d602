/** The lines that were kept, and their replacements. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DEFAULT_COSTS } from "../../local/virtual/costs.js";
import { root } from "../../tests/support/paths.js";
import type { Line } from "../lines.js";
import { SCENARIOS } from "../scenarios/all.js";
import { SENSITIVITY } from "../scenarios/sensitivity.js";

export const BENCH = path.join(root, "bench");
const FILE = path.join(BENCH, "results.jsonl");

/** In the order of the scenarios. A line of a scenario, or of a constant of the cost model, that is gone is left out. */
export function readLines(): Line[] {
  if (!existsSync(FILE)) return [];
  return inOrder(
    readFileSync(FILE, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Line),
  );
}

/** At once, so that a run that is stopped loses nothing. */
export function keep(lines: readonly Line[]): void {
  const isNew = new Set(lines.map(runOf));
  const kept = readLines().filter((line) => !isNew.has(runOf(line)));
  const text = inOrder([...kept, ...lines]).map((line) => `${JSON.stringify(line)}\n`);
  writeFileSync(FILE, text.join(""));
}

/** The identity of a run. */
export function runOf({
  scenario,
  case: name,
  of,
  varied,
}: Pick<Line, "scenario" | "case" | "of" | "varied">): string {
  return JSON.stringify([scenario, name, of, varied]);
}

function inOrder(lines: readonly Line[]): Line[] {
  const places = new Map<string, number>();
  for (const { title, cases } of [...SCENARIOS, SENSITIVITY]) {
    for (const one of cases) {
      for (const of of one.of) places.set(JSON.stringify([title, one.name, of]), places.size);
    }
  }
  const placeOf = ({ scenario, case: name, of }: Line) =>
    places.get(JSON.stringify([scenario, name, of]));
  return lines
    .filter((line) => placeOf(line) !== undefined)
    .filter(({ varied }) => varied === undefined || varied.constant in DEFAULT_COSTS)
    .toSorted((a, b) => placeOf(a)! - placeOf(b)!);
}
