/** The played loads, as lines of a markdown table. */
import { latencies } from "../figures/latencies.js";
import { short } from "../report/said.js";
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
    "caller p50/p99 ms": middleAndLast(callerMs),
    "start p50/p99 ms": middleAndLast(startMs),
    "calls/job": per(wakes + lanes + handlers + turns, jobs),
    "wakes/job": per(wakes, jobs),
    "lane starts/job": per(lanes, jobs),
    "conflicts behind/100": per(100 * behind, jobs),
  };
}

function per(count: number, of: number): string {
  return short(count / of);
}

function middleAndLast(values: number[]): string {
  const { p50, p99 } = latencies(values);
  return `${p50} / ${p99}`;
}
