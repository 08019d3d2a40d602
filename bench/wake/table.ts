/** What was played, as lines of a markdown table. */
import type { Played } from "./play.js";
import type { Way } from "./scenarios.js";

export function lineOf(way: Way, played: Played): Record<string, string> {
  const { callers, jobs, callerMs, startMs, calls, conflicts, behind } = played;
  const { wakes, lanes, handlers, turns } = calls;
  return {
    way: way.slice(0, way.indexOf(":")),
    "conflicts/100": per(100 * (conflicts.callers + conflicts.wakes + conflicts.turns), callers),
    "with callers, wakes, lanes": `${conflicts.callers}, ${conflicts.wakes}, ${conflicts.turns}`,
    "gave up": String(played.gaveUp),
    refused: String(played.refused),
    "caller p50/p99 ms": percentiles(callerMs),
    "start p50/p99 ms": percentiles(startMs),
    "calls/job": per(wakes + lanes + handlers + turns, jobs),
    "wakes/job": per(wakes, jobs),
    "lane starts/job": per(lanes, jobs),
    "conflicts behind/100": per(100 * behind, jobs),
  };
}

export function markdown(lines: Record<string, string>[]): string {
  const names = Object.keys(lines[0] ?? {});
  const row = (cells: string[]) => `| ${cells.join(" | ")} |`;
  return [
    row(names),
    row(names.map(() => "---")),
    ...lines.map((line) => row(Object.values(line))),
  ].join("\n");
}

function per(count: number, of: number): string {
  const ratio = count / of;
  return ratio.toFixed(ratio < 10 ? 2 : 0);
}

function percentiles(values: number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
  return `${at(0.5)} / ${at(0.99)}`;
}
