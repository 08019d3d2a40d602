/** The worst cases as a page: the reads and writes of each registered function in the full world, rounded up. */
import { PLATFORM_LIMITS } from "../../local/limits.js";
import { boundedBy } from "./boundedBy.js";
import type { Used } from "./largeWorld.js";

const MIB = 2 ** 20;

/** In the order of the page's columns. */
export const COLUMNS: [keyof Used, string, (used: number) => string][] = [
  ["databaseQueries", "ranges", count],
  ["documentsRead", "documents", count],
  ["bytesRead", "MiB", (bytes) => (bytes / MIB).toFixed(2)],
  ["documentsWritten", "written", count],
  ["bytesWritten", "MiB written", (bytes) => (bytes / MIB).toFixed(2)],
];

function count(used: number): string {
  return used.toLocaleString("en");
}

/** A tenth more than was measured: a claim begins with a random queue. */
const HEADROOM = 1.1;

/** With headroom, and rounded up to two digits, bytes to a tenth of a MiB: a change by the seed does not change the page. */
export function rounded(of: keyof Used, measured: number): number {
  const used = measured < 10 ? measured : measured * HEADROOM;
  if (of.startsWith("bytes")) return (Math.ceil((used / MIB) * 10) / 10) * MIB;
  const step = Math.max(1, 10 ** (Math.floor(Math.log10(Math.max(used, 1))) - 1));
  return Math.ceil(used / step) * step;
}

export function pageOf(
  worst: ReadonlyMap<string, Used>,
  within: Readonly<Record<string, readonly string[]>>,
): string {
  const rows = [...worst]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, used]) => {
      const cells = COLUMNS.map(([of, , show]) => show(rounded(of, used[of])));
      return `| \`${name}\` | ${cells.join(" | ")} | ${boundedBy(name)} |`;
    });
  const looks = Object.entries(within).map(
    ([name, callers]) => `| \`${name}\` | ${callers.map((one) => `\`${one}\``).join(", ")} |`,
  );
  const { databaseQueries, documentsRead, bytesRead } = PLATFORM_LIMITS;
  return [
    "# Bounds",
    "",
    "The largest reads and writes of each registered function of the component. Measured, not estimated: `tests/bounds/fullWorld.ts` plants a component at all of its documented limits at once (1,000 queues, 64 of them push queues with as many places as a queue may have; job rows of 13 KB in each of a queue's places and thousands in one; the lanes, processes and places of class D2048; 3,000 sessions with rows of the greatest size; a job with all attempts, log entries and output that are kept; 1,500 events, minutes, hours and days), and `tests/bounds/calls.ts` makes each function's largest call there. A snapshot query counts by itself, as the platform counts it; the table has the largest of each call, with a tenth on top and rounded up. Index entries of rows that are gone count as nothing.",
    "",
    `Without that tenth, all is under half of what one transaction may read on the platform: ${count(databaseQueries)} ranges, ${count(documentsRead)} documents, ${bytesRead / MIB} MiB. The other half is for the app's mutation, which an enqueue is part of. The reads of the app's own handlers, \`onComplete\` and \`related\` queries come on top.`,
    "",
    "This page is written by `BOUNDS_WRITE=1 npx vitest run tests/bounds/bounds.long.test.ts`, and that test fails where a function reads more than the table says.",
    "",
    `| function | ${COLUMNS.map(([, name]) => name).join(" | ")} | bound by |`,
    `| --- |${" ---: |".repeat(COLUMNS.length)} --- |`,
    ...rows,
    "",
    "Run within other calls, and measured with them:",
    "",
    "| function | within |",
    "| --- | --- |",
    ...looks,
    "",
  ].join("\n");
}
