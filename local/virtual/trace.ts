/**
 * A trace: one line for each event, in the order in which they happened, with its virtual time. Two runs with one seed
 * have the same lines, byte for byte; where two differ first is where something came in that no seed draws.
 */
import { createHash } from "node:crypto";

export interface Trace {
  readonly lines: readonly string[];
  add(what: string, detail: string): void;
  /** A short name for the whole of it. */
  digest(): string;
}

/** More than a run that is to be read has; a longer one should ask for less. */
const MAX_LINES = 5_000_000;

/** `now`: milliseconds; lines count from `startMs`. */
export function createTrace(now: () => number, startMs: number): Trace {
  const lines: string[] = [];
  return {
    lines,
    add(what, detail) {
      if (lines.length === MAX_LINES) {
        throw new Error(`A trace holds ${MAX_LINES} lines. Run for less time, or without one.`);
      }
      lines.push(`${(now() - startMs).toFixed(6)} ${what} ${detail}`);
    },
    digest: () => createHash("sha256").update(lines.join("\n")).digest("hex"),
  };
}

/** Where two traces part, with the lines before that: `null` when they are the same. */
export function firstDifference(a: readonly string[], b: readonly string[]): string | null {
  const length = Math.max(a.length, b.length);
  for (let at = 0; at < length; at++) {
    if (a[at] === b[at]) continue;
    const before = a.slice(Math.max(0, at - 3), at);
    return [...before, `- ${a[at] ?? "(ends)"}`, `+ ${b[at] ?? "(ends)"}`].join("\n");
  }
  return null;
}
