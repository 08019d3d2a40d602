/** What was counted, as lines of a markdown table. */
import { short } from "../markdown.js";
import type { Counted } from "./count.js";

export function lineOf(one: Counted): Record<string, string> {
  return {
    "jobs/s": short(one.perSecond),
    "start p50/p95/p99 ms": one.startMs.join(" / "),
    "recorded p50/p95 ms": one.recordMs.slice(0, 2).join(" / "),
    "caller p50/p99 ms": `${one.callerMs[0]} / ${one.callerMs[2]}`,
    "calls/job": `${short(one.calls)} + ${short(one.callsBehind)}`,
    "documents/job": `${short(one.documents)} + ${short(one.documentsBehind)}`,
    "KB/job, without payload": `${short(one.bytes / 1_000)}, ${short(one.bareBytes / 1_000)}`,
    "scheduler's documents, KB": `${short(one.systemDocuments)}, ${short(one.systemBytes / 1_000)}`,
    "conflicts/100: callers, others": `${short(one.conflicts)}, ${short(one.conflictsBehind)}`,
    errors: String(one.errors),
    "at once": String(one.atOnce),
  };
}

/** To whom callers lost, and over which table: a line each. */
export function whyOf({ callersLost }: Counted): string {
  return callersLost
    .map(({ loser, winner, table, count }) => `  ${loser} lost to ${winner} in ${table}: ${count}`)
    .join("\n");
}
