/** Figures as tables: counts first, which hang on no cost model, then times. */
import { markdownTable } from "markdown-table";
import type { Figures } from "../figures/count.js";
import type { Latencies } from "../figures/latencies.js";
import type { Taken } from "../figures/occupied.js";
import type { Line } from "../lines.js";
import { groupBy } from "./group.js";
import { queueTablesOf } from "./queueTables.js";
import { labelOf, short } from "./said.js";

type Column = [name: string, cell: (figures: Figures) => string];

const COUNTS: Column[] = [
  ["calls/job", ({ calls, callsBehind }) => withBehind(calls, callsBehind)],
  [
    "documents written",
    ({ documentsWritten, documentsWrittenBehind }) =>
      withBehind(documentsWritten, documentsWrittenBehind),
  ],
  [
    "KB written, without payload",
    ({ bytesWritten, bareBytesWritten }) => `${kb(bytesWritten)}, ${kb(bareBytesWritten)}`,
  ],
  ["documents read", ({ documentsRead }) => short(documentsRead)],
  ["KB read", ({ bytesRead }) => kb(bytesRead)],
  [
    "scheduler's documents, KB",
    ({ systemDocumentsWritten, systemBytesWritten }) =>
      `${short(systemDocumentsWritten)}, ${kb(systemBytesWritten)}`,
  ],
  [
    "conflicts/100: callers, other functions",
    ({ callerConflicts, otherConflicts }) => `${short(callerConflicts)}, ${short(otherConflicts)}`,
  ],
  ["retries/100", ({ retries }) => short(retries)],
  [
    "errors: callers, workers",
    ({ callerErrors, workerErrors }) => `${callerErrors}, ${workerErrors}`,
  ],
  ["lost", ({ lost }) => String(lost)],
  ["$/million", ({ dollarsAMillion }) => dollarsAMillion.toFixed(2)],
];

const TIMES: Column[] = [
  ["jobs/s", ({ perSecond }) => short(perSecond)],
  ["start p50/p95/p99 ms", ({ startMs }) => times(startMs)],
  ["done p50/p95/p99 ms", ({ doneMs }) => times(doneMs)],
  ["caller p50/p95/p99 ms", ({ callerMs }) => times(callerMs)],
  ["jobs at once", ({ atOnce }) => String(atOnce)],
  ["scheduler's places: mean, most", ({ used }) => taken(used.scheduled)],
  ["mutations' permits: mean, most", ({ used }) => taken(used.mutations)],
];

/** One after the other, a heading each. */
export function tablesOf(lines: readonly Line[]): string {
  const cases = groupBy(lines, ({ scenario, case: name }) => `${scenario}: ${name}`);
  return [...cases].map(([title, of]) => `#### ${title}\n\n${tableOf(of)}\n`).join("\n");
}

/** The table of one case. */
export function tableOf(lines: readonly Line[]): string {
  if (lines.every(({ settings }) => settings["queues"] !== undefined)) return queueTablesOf(lines);
  return [table(lines, COUNTS), table(lines, TIMES), sortsOf(lines), cancelsOf(lines)]
    .filter((part) => part !== "")
    .join("\n\n");
}

function table(lines: readonly Line[], columns: Column[]): string {
  return markdownTable([
    ["", ...columns.map(([name]) => name)],
    ...lines.map((line) => [labelOf(line), ...columns.map(([, cell]) => cell(line.figures))]),
  ]);
}

function sortsOf(lines: readonly Line[]): string {
  const rows = lines.flatMap((line) =>
    Object.entries(line.figures.sorts ?? {}).map(([sort, { jobs, startMs, doneMs }]) => [
      `${labelOf(line)}, ${sort}`,
      String(jobs),
      times(startMs),
      times(doneMs),
    ]),
  );
  if (rows.length === 0) return "";
  return markdownTable([["", "jobs", "start p50/p95/p99 ms", "done p50/p95/p99 ms"], ...rows]);
}

function cancelsOf(lines: readonly Line[]): string {
  const rows = lines.flatMap((line) => {
    const { canceled } = line.figures;
    if (canceled === undefined) return [];
    const { jobs, recordedMs, beganAfter } = canceled;
    return [[labelOf(line), String(jobs), times(recordedMs), String(beganAfter)]];
  });
  if (rows.length === 0) return "";
  const names = ["", "canceled", "recorded after p50/p95/p99 ms", "began after the answer"];
  return markdownTable([names, ...rows]);
}

function withBehind(all: number, behind: number): string {
  return behind === 0 ? short(all) : `${short(all)} (${short(behind)} behind)`;
}

const kb = (bytes: number): string => short(bytes / 1_000);
/** Nothing takes no time: none of these jobs came during the measurement. */
const times = ({ p50, p95, p99 }: Latencies): string =>
  p99 === 0 ? "—" : `${p50} / ${p95} / ${p99}`;
const taken = ({ mean, most, of }: Taken): string => `${short(mean)}, ${most} of ${of}`;
