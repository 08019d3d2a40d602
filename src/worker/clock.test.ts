import { afterEach, expect, test, vi } from "vitest";
import { systemClock } from "./clock.js";

afterEach(() => void vi.restoreAllMocks());

test.each([
  [0, 0],
  [0.00005, 1],
  [249.2, 250],
  [250, 250],
])("a timer of %d ms never rings early: it is set to %d", (ms, delay) => {
  const set = vi.spyOn(globalThis, "setTimeout").mockReturnValue(0 as never);
  systemClock.after(ms, () => undefined);
  expect(set).toHaveBeenCalledWith(expect.any(Function), delay);
});

test("a clock on the wall that is put forward or back moves no lease", () => {
  const wall = vi.spyOn(Date, "now");
  const before = systemClock.now();
  for (const ms of [10 * 60_000, -24 * 3_600_000]) {
    wall.mockReturnValue(performance.timeOrigin + ms);
    expect(systemClock.now() - before).toBeGreaterThanOrEqual(0);
    expect(systemClock.now() - before).toBeLessThan(60_000);
  }
});
