/** Callers who all come at once, where no lane is awake: each schedules a wake, and all but a few are superfluous. */
import { expect, test } from "vitest";
import { count } from "../../bench/push/count.js";
import { play } from "../../bench/push/play.js";

test("superfluous wakes of a storm are called off: a job costs less than one call more than its handler's", async () => {
  const scenario = { name: "", class: "s16", parallelism: 50, kind: "act", workMs: 100 } as const;
  const load = { atOnce: 200 };
  const counted = count("conveyor", await play("conveyor", { ...scenario, load }));
  expect(counted.errors).toBe(0);
  expect(counted.conflicts).toBeLessThanOrEqual(1);
  expect(counted.calls).toBeLessThan(1.8);
  expect(counted.atOnce).toBeLessThanOrEqual(50);
});
