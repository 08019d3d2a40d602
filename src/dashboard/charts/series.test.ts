/** The times of charts. */
import { expect, test, vi } from "vitest";
import { tickOf, titleOf } from "./series.js";

test.each(["UTC", "America/Los_Angeles", "Asia/Tokyo"])(
  "a day of the statistics has the date of UTC, by which it is counted, in %s",
  (zone) => {
    vi.stubEnv("TZ", zone);
    const day = Date.UTC(2026, 10, 21);
    for (const text of [tickOf(day, "day"), titleOf(day, "day")]) expect(text).toContain("21");
    vi.unstubAllEnvs();
  },
);
