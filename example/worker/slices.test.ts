import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { runInSlices } from "./slices.js";

function* count(to: number, each?: (n: number) => void): Generator<void, string> {
  for (let n = 1; n <= to; n++) {
    each?.(n);
    yield;
  }
  return "done";
}

const never = new AbortController().signal;

describe("work in slices", () => {
  test("lets the process do other things between slices, so heartbeats go out while a tile is drawn", async () => {
    let turns = 0;
    let running = true;
    const others = (async () => {
      while (running) {
        turns++;
        await setImmediate();
      }
    })();
    // A slice of no length: every step is a slice, on a machine of any speed.
    const { result } = await runInSlices(count(50), { signal: never, sliceMs: 0 });
    running = false;
    await others;
    expect(result).toBe("done");
    expect(turns).toBeGreaterThanOrEqual(50);
  });

  test("reports the steps done after each slice, never fewer than before", async () => {
    const seen: number[] = [];
    await runInSlices(count(5), { signal: never, sliceMs: 0, onSlice: (n) => seen.push(n) });
    expect(seen).toEqual([1, 2, 3, 4, 5]);
  });

  test("stops with the signal's reason after the slice in which it was aborted", async () => {
    const lost = new AbortController();
    let steps = 0;
    const work = runInSlices(
      count(100, (n) => {
        steps = n;
        if (n === 3) lost.abort(new Error("lease lost"));
      }),
      { signal: lost.signal, sliceMs: 0 },
    );
    await expect(work).rejects.toThrow("lease lost");
    expect(steps).toBe(3);
  });

  test("starts nothing under a signal that is already aborted", async () => {
    let steps = 0;
    const work = runInSlices(
      count(5, () => steps++),
      { signal: AbortSignal.abort(), sliceMs: 0 },
    );
    await expect(work).rejects.toThrow();
    expect(steps).toBe(0);
  });
});
