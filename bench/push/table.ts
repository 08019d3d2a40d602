/** What was counted, as lines of a markdown table. */
import type { Counted } from "./count.js";

export function lineOf(one: Counted): Record<string, string> {
  return {
    "jobs/s": short(one.perSecond),
    "start p50/p95/p99 ms": one.startMs.join(" / "),
    "caller p50/p99 ms": `${one.callerMs[0]} / ${one.callerMs[2]}`,
    "calls/job": `${short(one.calls)} + ${short(one.callsBehind)}`,
    "documents/job": `${short(one.documents)} + ${short(one.documentsBehind)}`,
    "KB/job": short(one.bytes / 1_000),
    "scheduler's documents, KB": `${short(one.systemDocuments)}, ${short(one.systemBytes / 1_000)}`,
    "conflicts/100: callers, others": `${short(one.conflicts)}, ${short(one.conflictsBehind)}`,
    errors: String(one.errors),
    "at once": String(one.atOnce),
  };
}

function short(figure: number): string {
  return figure.toFixed(figure < 10 ? 2 : 0);
}
