/** Tables of the scenarios of several queues: the figures of a question to many seeds, each with its interval. */
import { markdownTable } from "markdown-table";
import type { Line } from "../lines.js";
import { labelOf, short } from "./said.js";

/** By where the figures of a line have it. */
const COUNTS: [name: string, path: string][] = [
  ["calls/job", "calls"],
  ["with the callers' own", "allCalls"],
  ["behind", "callsBehind"],
  ["documents written", "documentsWritten"],
  ["KB written", "bytesWritten"],
  ["KB read", "bytesRead"],
  ["conflicts/100: callers", "callerConflicts"],
  ["others", "otherConflicts"],
  ["errors", "callerErrors"],
  ["lost", "lost"],
  ["$/million", "dollarsAMillion"],
];

const OWN: typeof COUNTS = [
  ["the app's own calls", "own.calls"],
  ["tries lost/100", "own.lost"],
  ["errors/100", "own.errors"],
  ["call p50 ms", "own.ms.p50"],
  ["p95", "own.ms.p95"],
];

const TIMES: [name: string, path: string][] = [
  ["start p50 ms", "startMs.p50"],
  ["p95", "startMs.p95"],
  ["max", "startMs.max"],
  ["done p50 ms", "doneMs.p50"],
  ["p95", "doneMs.p95"],
  ["jobs", "jobs"],
];

const OF_ALL: typeof TIMES = [
  ...TIMES,
  ["jobs/s", "perSecond"],
  ["jobs at once", "atOnce"],
  ["scheduler's places", "used.scheduled.mean"],
];

export function queueTablesOf(lines: readonly Line[]): string {
  const ofAll = (columns: typeof TIMES) =>
    table(
      columns,
      lines.map((line) => ({ line, label: labelOf(line), at: [] })),
    );
  const sorts = lines.flatMap((line) =>
    Object.keys(line.figures.sorts ?? {}).map((sort) => ({
      ...{ line, label: `${labelOf(line)}, ${sort}`, at: ["sorts", sort] },
    })),
  );
  const parts = [
    ofAll(COUNTS),
    ofAll(OF_ALL),
    ...(lines.some(({ figures }) => figures.own !== undefined) ? [ofAll(OWN)] : []),
    ...(sorts.length === 0 ? [] : [table(TIMES, sorts)]),
  ];
  return parts.join("\n\n");
}

function table(
  columns: typeof TIMES,
  rows: readonly { line: Line; label: string; at: string[] }[],
): string {
  return markdownTable([
    ["", ...columns.map(([name]) => name)],
    ...rows.map(({ line, label, at }) => [
      label,
      ...columns.map(([, path]) => cellOf(line, [...at, ...path.split(".")])),
    ]),
  ]);
}

/** `0.13 [0.12–0.15]`. */
function cellOf({ figures, intervals = {} }: Line, path: readonly string[]): string {
  const isBytes = path[0]!.startsWith("bytes");
  const value = path.reduce((at: any, name) => at?.[name], figures) as number | undefined;
  if (value === undefined) return "—";
  const interval = intervals[path.join(".")]?.map((one) => written(one, isBytes));
  const said = written(value, isBytes);
  return interval === undefined || interval[0] === interval[1]
    ? said
    : `${said} [${interval.join("–")}]`;
}

function written(value: number, isBytes: boolean): string {
  if (isBytes) return short(value / 1_000);
  return Number.isInteger(value) ? String(value) : short(value);
}
