/**
 * When the workers of a fleet come for waiting jobs: the first at once, the second one gap later, and all others within
 * the patience, ever closer together. As many come in each stretch as have come before: so of a fleet in which one of
 * two is away (busy, or gone without a word) about one comes at a time, and of one in which hardly any is there, that
 * one comes in time.
 */
import { PATIENCE_MS } from "./limits.js";

/** After how long a worker comes that has so many before it. */
export function turnAt(before: number, size: number, gapMs: number): number {
  if (before < 1) return 0;
  if (size <= 2) return gapMs;
  return gapMs + ((PATIENCE_MS - gapMs) * Math.log2(before)) / Math.log2(size - 1);
}
