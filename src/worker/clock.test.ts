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
