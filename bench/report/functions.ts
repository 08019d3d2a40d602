/** The calls of each function of a run, and its conflicts with their winners: for questions about a figure's cause. */
import type { Line } from "../lines.js";

export function calledOf({ functions = {}, conflicts = [], of }: Line): string {
  const calls = Object.entries(functions).map(
    ([name, { billed, calls, durationMs, conflicts: lost, errors, io, tombstones }]) =>
      `  ${name}: ${billed} calls of ${Math.round(durationMs / Math.max(1, calls))} ms, ${lost} conflicts, ` +
      `${errors} errors, ${io.documentsRead} read (${io.bytesRead} bytes, ${tombstones} dead entries), ` +
      `${io.documentsWritten} documents, ${io.bytesWritten} bytes`,
  );
  const meetings = conflicts.map(
    ({ loser, winner, table, count }) => `  ${loser} lost to ${winner} in ${table}: ${count}`,
  );
  return [of, ...calls, ...meetings].join("\n");
}
