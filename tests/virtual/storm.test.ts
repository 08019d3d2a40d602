/** Callers that all come at once, where no lane is awake: each schedules a wake, and all but a few are superfluous. */
import { expect, test } from "vitest";
import type { Case } from "../../bench/cases.js";
import { count } from "../../bench/figures/count.js";
import { play } from "../../bench/play.js";

test("superfluous wakes of a storm are called off: a job costs less than one call more than its handler's", async () => {
  const one: Case = {
    ...{ name: "", of: ["conveyor"], class: "s16", parallelism: 50 },
    ...{ load: { atOnce: 200 }, work: { kind: "act", ms: 100 } },
  };
  const counted = count("conveyor", one, await play("conveyor", one));
  expect(counted.callerErrors).toBe(0);
  expect(counted.callerConflicts).toBeLessThanOrEqual(1);
  expect(counted.calls - counted.callsBehind).toBeLessThan(1.8);
  expect(counted.atOnce).toBeLessThanOrEqual(50);
});
