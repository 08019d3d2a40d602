import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { wallEnvironment } from "./environment.js";

const DAY_MS = 86_400_000;

describe("a timer on the wall clock", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("may be longer than Node's, which would fire at once after 25 days", () => {
    const ran = vi.fn();
    wallEnvironment.timer(60 * DAY_MS, ran);
    vi.advanceTimersByTime(60 * DAY_MS - 1);
    expect(ran).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(ran).toHaveBeenCalledOnce();
  });

  test("can be canceled in its first piece and in a later one", () => {
    const ran = vi.fn();
    wallEnvironment.timer(10, ran).cancel();
    const long = wallEnvironment.timer(60 * DAY_MS, ran);
    vi.advanceTimersByTime(50 * DAY_MS);
    long.cancel();
    vi.advanceTimersByTime(50 * DAY_MS);
    expect(ran).not.toHaveBeenCalled();
  });
});

describe("the wall clock", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
  afterEach(() => void vi.useRealTimers());

  test("follows the system's when that is set, or when the machine has slept", () => {
    for (const days of [400, -400]) {
      vi.setSystemTime(Date.now() + days * DAY_MS);
      expect(Math.abs(wallEnvironment.now() - Date.now())).toBeLessThan(DAY_MS);
    }
  });

  test("tells fractions of a millisecond", () => {
    const seen = Array.from({ length: 50 }, () => wallEnvironment.now());
    expect(seen.some((now) => !Number.isInteger(now))).toBe(true);
  });
});
