/**
 * How many lines one call may log. The platform keeps 256: the last says that more were omitted (environment/udf/mod.rs).
 */
import type { LogLine } from "./types.js";

/** The line to keep: itself, the one that says that there is no more room, or none. */
export function withinLogLimit(line: LogLine, kept: number, limit: number): LogLine | null {
  if (kept < limit - 1) return line;
  if (kept >= limit) return null;
  return {
    ...line,
    level: "ERROR",
    text: `[ERROR] 'Log overflow (maximum ${limit}). Remaining log lines omitted.'`,
  };
}
