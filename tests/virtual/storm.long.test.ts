/** Callers that all come at once, with no lane awake: each schedules a wake, and all but a few are superfluous. */
import { expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import type { Case } from "../../bench/cases.js";
import { count } from "../../bench/figures/count.js";
import { play } from "../../bench/play.js";

const CALLERS = 300;

// Shows WP-02, WP-13, H18, N7.
// Rules out D4.
// In CI `pushCost.long.test.ts` has many callers at once.
test.skipIf(counts(true, false)).each([1, 2])(
  "late wakes of a storm cancel the wakes behind them: %i jobs for each caller",
  async (jobs) => {
    const one: Case = {
      ...{ name: "", of: ["conveyor"], class: "s16", parallelism: 50, queues: 1 },
      ...{ load: { streams: [{ calls: { atOnce: CALLERS }, jobs, ms: 100 }] } },
      work: { kind: "act", ms: 100 },
    };
    const played = await play("conveyor", one);
    const counted = count("conveyor", one, played);
    expect(counted.callerErrors).toBe(0);
    expect(counted.callerConflicts).toBeLessThanOrEqual(1);
    expect(counted.calls - counted.callsBehind).toBeLessThan(1.5);
    expect(counted.atOnce).toBeLessThanOrEqual(50);
    const { billed } = played.busy.functions["conveyor/push/wake:wake"]!;
    expect(billed).toBeLessThan(CALLERS / 4);
  },
);
