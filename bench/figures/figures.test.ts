/** The results of runs: percentiles, prices, and the texts about them. */
import { expect, test } from "vitest";
import type { Line } from "../lines.js";
import { queueTargetsOf } from "../report/queueTargets.js";
import { readLines, runOf } from "../report/results.js";
import { targetsOf } from "../report/targets.js";
import { winsOf } from "../report/wins.js";
import { tasksOf } from "../tasks.js";
import type { Figures } from "./count.js";
import { latencies } from "./latencies.js";
import { merged } from "./merge.js";
import { mostAtOnce } from "./occupied.js";
import { dollarsAMillion } from "./prices.js";

test("latencies are the values that so many in 100 do not exceed, and nothing is zero", () => {
  const hundred = Array.from({ length: 101 }, (_, n) => 100 - n);
  expect(latencies(hundred)).toEqual({ p50: 50, p95: 95, p99: 99, max: 100 });
  expect(latencies([])).toEqual({ p50: 0, p95: 0, p99: 0, max: 0 });
});

test("a second of an action costs the same as 64 MiB for a second, and a call has a call's price", () => {
  const nothing = { calls: 0, ioBytes: 0, actionMs: 0 };
  expect(dollarsAMillion("s256", { ...nothing, actionMs: 1_000 })).toBeCloseTo(5.21, 2);
  expect(dollarsAMillion("s256", { ...nothing, calls: 1 })).toBeCloseTo(2, 6);
  expect(dollarsAMillion("s16", { ...nothing, ioBytes: 1_000 })).toBeCloseTo(0.22, 6);
});

test("a dedicated class bills the CPU time of actions, and the compute of queries and mutations", () => {
  const given = { calls: 0, ioBytes: 0, actionMs: 1_000 };
  expect(() => dollarsAMillion("d1024", given)).toThrow(
    /bills actionCpuMs, which was not measured/,
  );
  const measured = { ...given, actionCpuMs: 0, transactionMs: 0 };
  expect(dollarsAMillion("d1024", { ...measured, actionCpuMs: 1_000 })).toBeCloseTo(2.78, 2);
  expect(dollarsAMillion("d1024", { ...measured, transactionMs: 1_000 })).toBeCloseTo(7.81, 2);
});

test("a job that ends as another begins does not run at the same time", () => {
  const began = new Map([
    [1, 0],
    [2, 10],
    [3, 5],
  ]);
  const ended = new Map([
    [1, 10],
    [2, 20],
    [3, 7],
  ]);
  expect(mostAtOnce({ began, ended })).toBe(2);
});

const figures = (some: Partial<Figures>): Figures => {
  const none = { p50: 0, p95: 0, p99: 0 };
  const numbers = { calls: 1, documentsWritten: 1, bytesWritten: 1_000, bytesRead: 1_000 };
  const errors = { callerConflicts: 0, otherConflicts: 0, callerErrors: 0, workerErrors: 0 };
  return {
    ...{ ...numbers, ...errors, lost: 0, dollarsAMillion: 1, perSecond: 1 },
    ...{ callsBehind: 0, startMs: none, doneMs: none, ...some },
  } as Figures;
};
const line = (of: Line["of"], some: Partial<Figures>): Line =>
  ({ scenario: "One isolated job", case: "x", of, settings: {}, figures: figures(some) }) as Line;

test("a figure with an alternative ahead is reported, and one by less than a twentieth is not", () => {
  const lines = [
    line("conveyor", { calls: 2, perSecond: 10 }),
    line("workpool", { calls: 1, perSecond: 10.4 }),
    line("plain", { calls: 3, perSecond: 5 }),
  ];
  expect(winsOf(lines)).toEqual([
    {
      ...{ scenario: "One isolated job", case: "x" },
      said: ["calls per job: workpool 1.00, Conveyor 2.00"],
    },
  ]);
  expect(winsOf([line("conveyor", { calls: 2 }), line("inline", { calls: 1 })])).toEqual([]);
});

test("a target is reached, missed with the cases that miss it, or not played", () => {
  const of = (lines: Line[]) =>
    targetsOf(lines).find(({ promise }) => promise.startsWith("An isolated job begins"))!;
  const start = (p50: number) => ({ startMs: { p50, p95: p50, p99: p50 } });
  const [soon, late] = [line("workpool", start(50)), line("workpool", start(40))];
  expect(of([]).isMet).toBeUndefined();
  expect(of([line("conveyor", start(50)), soon])).toMatchObject({ isMet: true, measured: "1.00" });
  expect(of([line("conveyor", start(50)), late])).toMatchObject({
    ...{ isMet: false, measured: "1.25 (One isolated job, x)" },
  });
});

test("figures of several seeds are means with their intervals, errors are summed, and one seed stays as it is", () => {
  const start = (p50: number) => ({ startMs: { p50, p95: p50, p99: p50 } });
  const one = line("conveyor", { calls: 1, callerErrors: 1, atOnce: 3, ...start(10) });
  const other = line("conveyor", { calls: 2, callerErrors: 2, atOnce: 5, ...start(10) });
  expect(merged([[one]])).toEqual([one]);
  const [both] = merged([[one], [other]]);
  expect(both!.figures).toMatchObject({ calls: 1.5, callerErrors: 3, atOnce: 5, ...start(10) });
  expect(both!.settings.seeds).toBe(2);
  // 1.5 - 12.71 * 0.5 is less than nothing.
  expect(both!.intervals!["calls"]).toEqual([0, expect.closeTo(7.855, 3)]);
  expect(both!.intervals!["startMs.p50"]).toEqual([10, 10]);
});

test("of several queues, jobs that wait in line by their queue's own bound are judged by nothing", () => {
  const start = (p95: number) => ({ p50: p95, p95, p99: p95 });
  const sorts = {
    short: { startMs: start(100), doneMs: start(300), jobs: 1 },
    long: { startMs: start(90_000), doneMs: start(90_000), jobs: 1 },
  };
  const streams = [
    { sort: "short", ms: 1 },
    { sort: "long", ms: 1, areInLine: true },
  ];
  const several = (of: Line["of"]): Line => ({
    ...line(of, { sorts }),
    settings: { queues: 2, load: { streams } } as unknown as Line["settings"],
  });
  const [soon, compared] = queueTargetsOf([several("conveyor"), several("workpool")]);
  expect(soon).toMatchObject({ isMet: true, measured: "100" });
  expect(compared).toMatchObject({ isMet: true, measured: "1.00" });
});

test("each line that was kept is of a run that is played: none of a case or a constant that is gone", () => {
  const runs = new Set(tasksOf({ isSmoke: false }).map(runOf));
  const lines = readLines().map(runOf);
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.filter((line) => !runs.has(line))).toEqual([]);
});
