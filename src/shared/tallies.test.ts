import { expect, test } from "vitest";
import { Tallies } from "./tallies.js";

const HOUR = 60 * 60_000;
const AT = Date.UTC(2026, 0, 1, 23, 59, 30);

const total = (histogram: readonly number[]) => histogram.reduce((sum, count) => sum + count, 0);

function rows(tallies: Tallies) {
  return tallies.all().map((row) => ({ ...row, waits: total(row.waitMs), runs: total(row.runMs) }));
}

test("a job that ran over midnight is started in one day and ends in the next, and its waits are of its end", () => {
  const tallies = new Tallies();
  const times = { enqueuedAt: AT - HOUR, startedAt: AT, finishedAt: AT + HOUR };
  tallies.countEnd({ status: "failed", endedAt: AT + HOUR, ...times });
  for (const per of ["minute", "hour", "day"]) {
    const [first, second, ...others] = rows(tallies)
      .filter((row) => row.per === per)
      .sort((a, b) => a.at - b.at);
    expect(others).toEqual([]);
    expect(first).toMatchObject({ started: 1, failed: 0, waits: 0, runs: 0 });
    expect(second).toMatchObject({ started: 0, failed: 1, waits: 1, runs: 1 });
  }
});

test("a job that never started is counted as ended, and neither waited nor ran", () => {
  const tallies = new Tallies();
  tallies.countEnd({ status: "canceled", endedAt: AT, enqueuedAt: AT - 5, finishedAt: AT });
  const all = rows(tallies);
  expect(all.map(({ per }) => per).sort()).toEqual(["day", "ever", "hour", "minute"]);
  for (const row of all) {
    expect(row).toMatchObject({ canceled: 1, started: 0, waits: 0, runs: 0, enqueued: 0 });
  }
});

test("a new job is counted in its minute, hour and day, once each", () => {
  const tallies = new Tallies();
  for (const at of [AT, AT + 1, AT + 30_000]) tallies.countNew(at);
  const minutes = rows(tallies).filter(({ per }) => per === "minute");
  expect(minutes.map(({ enqueued }) => enqueued)).toEqual([2, 1]);
  const days = rows(tallies).filter(({ per }) => per === "day");
  expect(days.map(({ enqueued }) => enqueued)).toEqual([2, 1]);
});
