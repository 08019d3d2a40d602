/** Prints a run: how much each worker drew, in how many attempts, and how long tiles waited and ran. */
import type { Summary } from "../../convex/summary.js";
import { say } from "../steps.js";
import type { Run, TileRun } from "./run.js";

const HEADINGS = [
  "worker",
  "tiles",
  "2nd attempt",
  "arithmetic",
  "wait p50",
  "max",
  "run p50",
  "max",
];

export function printRun({ picture, tiles }: Run, killed: string): void {
  const workers = [...new Set(tiles.map(({ worker }) => worker))].sort();
  const rows = workers.map((worker) => {
    const own = tiles.filter((tile) => tile.worker === worker);
    return rowOf(worker === killed ? `${worker} (killed)` : worker, own);
  });
  const attempts = tiles.reduce((sum, { attempt }) => sum + attempt, 0);
  say(`\n${picture.title}: ${tiles.length} jobs, ${attempts} attempts\n`);
  for (const line of layOut([HEADINGS, ...rows, rowOf("all", tiles)])) say(`  ${line}`);
  say("");
}

/** "mostly #0c4a5e (41 %), by 2 workers". */
export function summaryInWords({ colours, workers }: Summary): string {
  const [{ colour, share } = { colour: "nothing", share: 0 }] = colours;
  return `mostly ${colour} (${Math.round(100 * share)} %), by ${workers} workers`;
}

function rowOf(name: string, tiles: readonly TileRun[]): string[] {
  const computeMs = tiles.reduce((sum, { tile }) => sum + (tile.computeMs ?? 0), 0);
  const waits = tiles.map(({ waitMs }) => waitMs);
  const runs = tiles.map(({ runMs }) => runMs);
  return [
    name,
    String(tiles.length),
    String(tiles.filter(({ attempt }) => attempt > 1).length),
    inSeconds(computeMs),
    ...[middle(waits), Math.max(...waits), middle(runs), Math.max(...runs)].map(inSeconds),
  ];
}

function middle(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

function inSeconds(ms: number): string {
  return Number.isFinite(ms) ? `${(ms / 1000).toFixed(2)} s` : "–";
}

/** The first column flush left, all further ones flush right. */
function layOut(rows: readonly (readonly string[])[]): string[] {
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    row
      .map((text, column) =>
        column === 0 ? text.padEnd(widths[column]!) : text.padStart(widths[column]!),
      )
      .join("  "),
  );
}
