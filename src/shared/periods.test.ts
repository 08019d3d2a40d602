import { expect, test } from "vitest";
import { msOfCommit } from "./commitTime.js";
import { lastPeriods, periodOf, PERIOD_MS } from "./periods.js";

const NOON = Date.UTC(2026, 1, 28, 12, 30, 15);

test.each([
  ["minute", Date.UTC(2026, 1, 28, 12, 30)],
  ["hour", Date.UTC(2026, 1, 28, 12)],
  ["day", Date.UTC(2026, 1, 28)],
] as const)("a %s begins on its first millisecond, and ends before the next", (per, begins) => {
  expect(periodOf(NOON, per)).toBe(begins);
  expect(periodOf(begins, per)).toBe(begins);
  expect(periodOf(begins + PERIOD_MS[per] - 1, per)).toBe(begins);
  expect(periodOf(begins - 1, per)).toBe(begins - PERIOD_MS[per]);
});

test("the last periods are without gaps, over the end of a month, and end with that of the instant", () => {
  const days = lastPeriods(Date.UTC(2026, 2, 2, 5), "day", 4);
  expect(days.map((at) => new Date(at).toISOString().slice(0, 10))).toEqual([
    ...["2026-02-27", "2026-02-28", "2026-03-01", "2026-03-02"],
  ]);
  expect(lastPeriods(NOON, "hour", 1)).toEqual([periodOf(NOON, "hour")]);
});

test("a commit lies in the minute that its nanoseconds say, exactly", () => {
  const minute = Date.UTC(2026, 0, 1, 12, 30);
  const seq = BigInt(minute) * 1_000_000n;
  const of = (commit: bigint) => periodOf(msOfCommit(commit), "minute");
  expect([of(seq - 1n), of(seq), of(seq + 59_999_999_999n)]).toEqual([
    ...[minute - 60_000, minute, minute],
  ]);
});
