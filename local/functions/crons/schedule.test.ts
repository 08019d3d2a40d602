import { expect, test } from "vitest";
import { nextRun, type CronSchedule, type NextRunOptions } from "./schedule.js";

/** As ISO time; without a delay unless it is given. */
function next(
  schedule: CronSchedule,
  given: Partial<Record<"previous" | "now", string>> &
    Partial<Pick<NextRunOptions, "splayMs" | "random">>,
): string {
  const { previous, now = "2026-01-01T00:00:00Z", splayMs = 0, random = () => 0 } = given;
  const at = previous === undefined ? null : Date.parse(previous);
  return new Date(
    nextRun(schedule, { previous: at, now: Date.parse(now), splayMs, random }),
  ).toISOString();
}

test("an interval runs at once, and then counts from the run before, however late it is", () => {
  const interval: CronSchedule = { type: "interval", seconds: 90 };
  const now = "2026-01-01T10:00:00.250Z";
  expect(next(interval, { now })).toBe(now);
  expect(next(interval, { now, previous: "2026-01-01T08:00:00.000Z" })).toBe(
    "2026-01-01T08:01:30.000Z",
  );
});

test.each<[CronSchedule, string, string]>([
  [{ type: "hourly", minuteUTC: 30 }, "2026-01-01T10:30:00.000Z", "2026-01-01T11:30:00.000Z"],
  [{ type: "hourly", minuteUTC: 30 }, "2026-01-01T10:29:59.999Z", "2026-01-01T10:30:00.000Z"],
  [
    { type: "daily", hourUTC: 0, minuteUTC: 0 },
    "2026-12-31T23:59:59.000Z",
    "2027-01-01T00:00:00.000Z",
  ],
  [
    { type: "weekly", dayOfWeek: "sunday", hourUTC: 3, minuteUTC: 0 },
    "2026-01-01T00:00:00.000Z",
    "2026-01-04T03:00:00.000Z",
  ],
  [
    { type: "weekly", dayOfWeek: "saturday", hourUTC: 3, minuteUTC: 0 },
    "2026-01-03T03:00:00.000Z",
    "2026-01-10T03:00:00.000Z",
  ],
  [
    { type: "monthly", day: 31, hourUTC: 12, minuteUTC: 0 },
    "2026-01-31T12:00:00.000Z",
    "2026-03-31T12:00:00.000Z",
  ],
  [
    { type: "monthly", day: 29, hourUTC: 12, minuteUTC: 0 },
    "2028-02-01T00:00:00.000Z",
    "2028-02-29T12:00:00.000Z",
  ],
  [
    { type: "cron", cron: "*/15 9-10 * * mon-fri" },
    "2026-01-02T10:45:00.000Z",
    "2026-01-05T09:00:00.000Z",
  ],
  [{ type: "cron", cron: "0 0 13 * 5" }, "2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"],
  [{ type: "cron", cron: "0 2 * 3 7" }, "2026-01-01T00:00:00.000Z", "2026-03-01T02:00:00.000Z"],
])("%o after %s runs at %s, in UTC", (schedule, now, expected) => {
  expect(next(schedule, { now })).toBe(expected);
});

test("a schedule that names its minute starts within that minute, and keeps its second", () => {
  const daily: CronSchedule = { type: "daily", hourUTC: 9, minuteUTC: 30 };
  const splayed = { splayMs: 60_000, random: () => 0.62 };
  expect(next(daily, { now: "2026-01-01T00:00:00Z", ...splayed })).toBe("2026-01-01T09:30:37.000Z");
  const previous = "2026-01-01T09:30:37.000Z";
  expect(
    next(daily, { now: "2026-01-01T09:30:38Z", previous, splayMs: 60_000, random: () => 0.1 }),
  ).toBe("2026-01-02T09:30:37.000Z");
});

test("one that leaves the minute out is spread over the hour, and keeps its place in it", () => {
  const hourly: CronSchedule = { type: "hourly" };
  const splayed = { splayMs: 60_000, random: () => 0.5 };
  expect(next(hourly, { now: "2026-01-01T00:10:00Z", ...splayed })).toBe(
    "2026-01-01T00:30:00.000Z",
  );
  const previous = "2026-01-01T00:30:00.000Z";
  expect(
    next(hourly, { now: "2026-01-01T00:30:01Z", previous, splayMs: 60_000, random: () => 0.9 }),
  ).toBe("2026-01-01T01:30:00.000Z");
});

test("a run so slow that it ends in the next delay still does not skip that occurrence", () => {
  const minutely: CronSchedule = { type: "cron", cron: "* * * * *" };
  // It ran at :00:40 and ended at :01:10; the occurrence of :01:00 is delayed to :01:40, which is still to come.
  expect(
    next(minutely, {
      previous: "2026-01-01T00:00:40Z",
      now: "2026-01-01T00:01:10Z",
      splayMs: 60_000,
    }),
  ).toBe("2026-01-01T00:01:40.000Z");
});

test("a run that takes longer than the interval leaves out the times that have passed", () => {
  const hourly: CronSchedule = { type: "hourly", minuteUTC: 0 };
  expect(next(hourly, { previous: "2026-01-01T00:00:00Z", now: "2026-01-01T03:20:00Z" })).toBe(
    "2026-01-01T04:00:00.000Z",
  );
});
