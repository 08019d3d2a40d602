/** The figures of real processes: ratios, since the rest is the machine's. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { markdownTable } from "markdown-table";
import { ALTERNATIVES } from "../alternatives.js";
import type { WallLine } from "../processes/play.js";
import { BENCH } from "./results.js";
import { short } from "./said.js";

const FILE = path.join(BENCH, "processes.jsonl");

export function keepWall(lines: readonly WallLine[]): void {
  writeFileSync(FILE, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

export function readWall(): WallLine[] {
  if (!existsSync(FILE)) return [];
  const lines = readFileSync(FILE, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as WallLine);
}

export function wallOf(lines: readonly WallLine[]): string {
  const farm = lines.find(({ of }) => of === "farm");
  if (farm === undefined) return "";
  const rows = lines.map(({ of, perSecond, wakeMs, errors }) => [
    ALTERNATIVES[of].label,
    short(perSecond / farm.perSecond),
    short(wakeMs.p50 / farm.wakeMs.p50),
    short(wakeMs.p95 / farm.wakeMs.p95),
    String(errors),
  ]);
  const names = ["", "jobs/s", "wake p50", "wake p95", "errors of workers"];
  return [
    "## Real processes",
    `${farm.workers} worker processes, ${farm.jobs} jobs in one mutation, and then one job after another for a fleet that waits; over HTTP and the sync protocol, on the wall clock. Ratios to the llama farm of the same run: backend, workers and caller share the machine.`,
    markdownTable([names, ...rows]),
  ].join("\n\n");
}
