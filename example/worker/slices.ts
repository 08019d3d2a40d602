/** Runs long arithmetic without holding up the process: between slices heartbeats go out and answers come in. */
import { setImmediate } from "node:timers/promises";

/**
 * Long enough that pausing costs nothing that can be measured, short enough that a beat is never late: a third of the
 * shortest sensible lease is more than a second.
 */
const SLICE_MS = 12;

export interface SliceOptions {
  readonly signal: AbortSignal;
  /** Called after each slice with the steps done so far. */
  readonly onSlice?: (steps: number) => void;
  readonly sliceMs?: number;
}

/**
 * Runs a generator to its end and returns its result and the milliseconds spent in it. Throws the signal's reason as
 * soon as a slice ends after an abort: work for a lease that is gone is wasted.
 */
export async function runInSlices<T>(
  work: Generator<void, T>,
  { signal, onSlice, sliceMs = SLICE_MS }: SliceOptions,
): Promise<{ result: T; computeMs: number }> {
  let computeMs = 0;
  let steps = 0;
  for (;;) {
    signal.throwIfAborted();
    const begun = performance.now();
    let now: number;
    do {
      const next = work.next();
      now = performance.now();
      if (next.done === true) return { result: next.value, computeMs: computeMs + now - begun };
      steps++;
    } while (now - begun < sliceMs);
    computeMs += now - begun;
    onSlice?.(steps);
    await setImmediate();
  }
}
