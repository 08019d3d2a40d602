/** The message of a failed seed: the violations, the line that replays it, and the path of its trace. */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { root } from "../support/paths.js";
import type { Cut } from "./cuts.js";
import { drawPlan } from "./draws.js";
import type { Outcome, Players } from "./players.js";
import type { SeedReport } from "./seeds.js";
import { shrink } from "./shrink.js";

const TRACES = ".simulation";
/** Shrinking ends then with the smallest plan found so far. */
const SHRINK_MS = 90_000;

export function isFailure(outcome: Outcome): boolean {
  return "error" in outcome || outcome.report.violations.length > 0;
}

/** The settings of a run besides its seed. */
export interface Played {
  cuts?: readonly Cut[];
  mutant?: string | null;
  handlers?: string | null;
}

export function replayLine(seed: number, { cuts = [], mutant, handlers }: Played = {}): string {
  const cut = cuts.length === 0 ? "" : ` --cut="${cuts.join(",")}"`;
  const of = (name: string, value: string | null | undefined) =>
    value === null || value === undefined ? "" : ` --${name}="${value}"`;
  return `npm run simulate -- --seed=${seed}${cut}${of("mutant", mutant)}${of("handlers", handlers)}`;
}

/** In a few lines: the first promise that is broken. */
export function sayFailure(outcome: Outcome): string {
  if ("error" in outcome) return `seed ${outcome.seed}: the simulator failed: ${outcome.error}`;
  const { seed, parts, queues, violations } = outcome.report;
  const { checker, at, how } = violations[0]!;
  return `seed ${seed}, at ${(at / 1_000).toFixed(3)} s: ${checker}: ${how}\n  queues ${queues.join(", ")}; with ${parts.join(", ")}`;
}

/** Plays it again, line by line, and writes that down. The path of the file. */
export async function writeTrace(
  { seed, lines, violations, parts, queues }: SeedReport,
  played: Played,
): Promise<string> {
  const folder = path.join(root, TRACES);
  await mkdir(folder, { recursive: true });
  const file = path.join(
    folder,
    `seed-${seed}${(played.cuts ?? []).length === 0 ? "" : "-cut"}.txt`,
  );
  const head = [
    replayLine(seed, played),
    `queues: ${queues.join(", ")}`,
    `parts: ${parts.join(", ")}`,
    ...violations.map(({ checker, at, how }) => `BROKEN at ${at.toFixed(2)}: ${checker}: ${how}`),
    "",
    "milliseconds  actor     event",
  ];
  await writeFile(file, [...head, ...lines, ""].join("\n"));
  return path.relative(root, file);
}

/** The smallest plan that still breaks the same promise, as far as it was found in time. */
export async function shrinkFailure(
  players: Players,
  { seed, violations }: SeedReport,
): Promise<Cut[]> {
  const broken = violations[0]!.checker;
  const over = Date.now() + SHRINK_MS;
  const fails = async (cuts: readonly Cut[]): Promise<boolean> => {
    const outcome = await players.one(seed, { cuts });
    return "report" in outcome && outcome.report.violations[0]?.checker === broken;
  };
  return await shrink(drawPlan(seed), fails, () => Date.now() > over);
}
