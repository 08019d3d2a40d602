import { afterEach, expect, test, vi } from "vitest";
import { systemClock } from "./clock.js";

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

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

test("a timer of weeks rings when they are over, and not at once; until then it can be canceled", async () => {
  vi.useFakeTimers();
  const rung: string[] = [];
  const days = (count: number) => count * 24 * 3_600_000;
  systemClock.after(days(60), () => void rung.push("rung"));
  const cancel = systemClock.after(days(60), () => void rung.push("canceled"));
  await vi.advanceTimersByTimeAsync(days(60) - 1);
  cancel();
  expect(rung).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(rung).toEqual(["rung"]);
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
