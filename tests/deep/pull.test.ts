/** The pull side of the benchmarks: whatever they compare does the same work. */
import { expect, test } from "vitest";
import { ALTERNATIVES, play, type Alternative } from "../../bench/pull/play.js";

const JOBS = 30;
const NUMBERS = Array.from({ length: JOBS }, (_, n) => n);
const sorted = (times: Map<number, number>) => [...times.keys()].sort((a, b) => a - b);

test.each(Object.keys(ALTERNATIVES) as Alternative[])(
  "%s: three workers do each of 30 jobs once, and each end is recorded",
  async (alternative) => {
    const fleet = { class: "s16", workers: 3, concurrency: 1 } as const;
    const load = { atOnce: JOBS };
    const { jobs, watched, lost, told, byWorker } = await play(alternative, {
      ...{ ...fleet, load },
      workMs: 20,
    });
    expect([jobs, lost, told.errors]).toEqual([JOBS, 0, []]);
    expect(watched.again).toBe(0);
    for (const what of ["enqueued", "began", "ended", "recorded"] as const)
      expect(sorted(watched[what])).toEqual(NUMBERS);
    for (const n of NUMBERS) {
      const [came, began, ended, kept] = (["enqueued", "began", "ended", "recorded"] as const).map(
        (what) => watched[what].get(n)!,
      );
      expect(came!).toBeLessThan(began!);
      expect(ended! - began!).toBeGreaterThanOrEqual(20);
      expect(kept!).toBeGreaterThan(ended!);
    }
    expect(byWorker.size).toBe(fleet.workers);
  },
);
