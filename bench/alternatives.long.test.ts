/** The pull side of the benchmarks: all alternatives do the same work. */
import { expect, test } from "vitest";
import { counts } from "../local/counts.js";
import { PULL } from "./alternatives.js";
import { play } from "./play.js";

const JOBS = 30;
const NUMBERS = Array.from({ length: JOBS }, (_, n) => n);
const sorted = (times: Map<number, number>) => [...times.keys()].sort((a, b) => a - b);

test.each(counts(["farm", "following"] as const, [...PULL, "following"] as const))(
  "%s: three workers do each of 30 jobs once, and each end is recorded",
  async (alternative) => {
    const fleet = { workers: 3, concurrency: 1 };
    const { jobs, watched, lost, told, workers } = await play(alternative, {
      ...{ name: "", of: [alternative], class: "s16", fleet },
      ...{ load: { atOnce: JOBS }, work: { kind: "act", ms: 20 } },
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
    expect(workers.byName.size).toBe(fleet.workers);
  },
);
