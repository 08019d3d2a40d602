/** When something falls due, as exactly as that is known. Pure. */
import type { Retry } from "../../src/shared/index.js";

/** A span of time in which something falls due: jitter and late alarms leave it open when exactly. */
export interface Span {
  from: number;
  to: number;
}

export function span(at: number): Span {
  return { from: at, to: at };
}

/** When a failed attempt is retried: at once at the earliest, by full jitter, or after the delay that its worker asked for. */
export function backoff(
  { initialBackoffMs, base, maxBackoffMs }: Retry,
  failures: number,
  asked: number | undefined,
  { from, to }: Span,
): Span {
  if (asked !== undefined) return { from: from + asked, to: to + asked };
  const ms = Math.min(initialBackoffMs * base ** (failures - 1), maxBackoffMs);
  return { from, to: to + ms };
}
