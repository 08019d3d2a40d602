/** A worker that ends by itself, on a manual clock. */
import { describe, expect, test } from "vitest";
import { manual, startLoop } from "./fakes.test.js";

describe("a worker for so many jobs", () => {
  test("begins no more than these, and ends when the last outcome is recorded", async () => {
    const { clock, deployment, callsOf, end } = startLoop(async () => null, {
      concurrency: 2,
      stopAfter: { jobs: 3 },
    });
    for (let job = 0; job < 10; job += 1) deployment.enqueue();
    await clock.advance(1_000);
    expect(deployment.recorded.size).toBe(3);
    expect(deployment.held.size).toBe(0);
    expect(end.value).toEqual({});
    const asked = [...callsOf("claim"), ...callsOf("complete")].map(({ max = 0 }) => max);
    expect(asked.reduce((sum, max) => sum + max, 0)).toBe(3);
  });
});

describe("a worker for a time", () => {
  test("ends after it, with its grace for the jobs in hand", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, end, kinds } = startLoop(handler, {
      stopAfter: { ms: 10_000 },
      graceMs: 2_000,
      leaseMs: 60_000,
    });
    const id = deployment.enqueue();
    await clock.advance(9_990);
    expect(kinds("stopping")).toEqual([]);
    await clock.advance(1_000);
    expect(kinds("stopping")).toEqual([{ kind: "stopping", graceMs: 2_000 }]);
    expect(begun[0]!.signal.aborted).toBe(false);
    await clock.advance(1_100);
    expect(begun[0]!.signal.aborted).toBe(true);
    expect(deployment.outcomeOf(id)).toEqual({ kind: "released" });
    expect(end.value).toEqual({});
  });
});

describe("a worker that is stopped, and then comes to the end of its time", () => {
  test("keeps the grace of its stop", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, loop, kinds } = startLoop(handler, {
      ...{ stopAfter: { ms: 10_000 }, leaseMs: 120_000 },
    });
    deployment.enqueue();
    await clock.advance(9_000);
    loop.stop(60_000);
    await clock.advance(50_000);
    expect(kinds("stopping")).toEqual([{ kind: "stopping", graceMs: 60_000 }]);
    expect(begun[0]!.signal.aborted).toBe(false);
  });
});

describe("a worker that may be idle for a time", () => {
  test("ends after so long in a row without a job, and not while one runs", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, end } = startLoop(handler, {
      stopAfter: { idleMs: 5_000 },
      leaseMs: 60_000,
    });
    await clock.advance(4_000);
    deployment.enqueue();
    await clock.advance(60_000);
    expect(end.value).toBeUndefined();
    begun[0]!.resolve();
    await clock.advance(4_000);
    expect(end.value).toBeUndefined();
    await clock.advance(1_100);
    expect(end.value).toEqual({});
  });

  test("ends although its deployment never answers", async () => {
    const { clock, deployment, end } = startLoop(async () => null, {
      stopAfter: { idleMs: 5_000 },
    });
    deployment.fault = () => "before";
    await clock.advance(20_000);
    expect(end.value).toEqual({});
  });
});
