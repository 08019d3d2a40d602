/** The counters as a person reads them, in a terminal. */
import type { FunctionStats, StatsSnapshot } from "./types.js";

const FUNCTION_HEAD = [
  "function",
  "billed",
  "cached",
  "errors",
  "retries",
  "conflicts",
  "docs read",
  "read",
  "docs written",
  "written",
  "tombstones",
  "mean ms",
];

export function printedStats(stats: StatsSnapshot): string {
  const { since, until, total, functions, conflicts, waits, housekeeping } = stats;
  const parts = [
    `In ${((until - since) / 1000).toFixed(1)} s, ${total.billed} function calls that the platform would bill:`,
    table([
      FUNCTION_HEAD,
      ...Object.entries(functions).map(([name, counted]) => functionRow(name, counted)),
      functionRow("total", total),
    ]),
  ];
  if (conflicts.length > 0) {
    parts.push(
      table([
        ["lost", "to", "in table", "times", "last document"],
        ...conflicts.map(({ loser, winner, table: name, count, lastId }) => [
          loser,
          winner,
          name,
          String(count),
          lastId,
        ]),
      ]),
    );
  }
  const waited = Object.entries(waits).filter(([, { count }]) => count > 0);
  if (waited.length > 0) {
    parts.push(
      table([
        ["waited for", "times", "mean ms", "longest ms"],
        ...waited.map(([kind, { count, totalMs, maxMs }]) => [
          kind,
          String(count),
          (totalMs / count).toFixed(1),
          maxMs.toFixed(1),
        ]),
      ]),
    );
  }
  const kept = Object.entries(housekeeping);
  if (kept.length > 0) {
    parts.push(
      table([
        ["housekeeping", "transactions", "retries", "rows read", "rows written", "written"],
        ...kept.map(([source, { transactions, retries, systemIo }]) => [
          source,
          String(transactions),
          String(retries),
          String(systemIo.documentsRead),
          String(systemIo.documentsWritten),
          bytes(systemIo.bytesWritten),
        ]),
      ]),
    );
  }
  return parts.join("\n\n");
}

function functionRow(name: string, counted: FunctionStats): string[] {
  const { io } = counted;
  return [
    name,
    String(counted.billed),
    String(counted.cached),
    String(counted.errors),
    String(counted.retries),
    String(counted.conflicts),
    String(io.documentsRead),
    bytes(io.bytesRead),
    String(io.documentsWritten),
    bytes(io.bytesWritten),
    String(counted.tombstones),
    counted.calls === 0 ? "-" : (counted.durationMs / counted.calls).toFixed(1),
  ];
}

/** Columns as wide as their widest cell: numbers to the right, and the first column to the left. */
function table(rows: readonly string[][]): string {
  const columns = rows[0]?.length ?? 0;
  const cells = (column: number) => rows.map((row) => row[column] ?? "");
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...cells(column).map(({ length }) => length)),
  );
  const isNumeric = widths.map((_, column) =>
    cells(column)
      .slice(1)
      .every((cell) => /^(-|[\d.]+( [KMG]iB| B)?)$/.test(cell)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          isNumeric[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
        )
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  const power = Math.min(3, Math.floor(Math.log2(count) / 10));
  return `${(count / 1024 ** power).toFixed(1)} ${["", "KiB", "MiB", "GiB"][power]}`;
}
