import { describe, expect, test } from "vitest";
import {
  AVERAGE_MS_DEFAULT,
  judgeHealth,
  rateOf,
  SLOW_MIN_MS,
  STUCK_MS,
  type QueueFlow,
  type Sample,
  type Setting,
} from "./health.js";

const NOW = 1_000_000_000;
const ok = (ms?: number): Sample => ({ succeeded: true, ...(ms === undefined ? {} : { ms }) });
const bad = (ms?: number): Sample => ({ ...ok(ms), succeeded: false });

const pushed: Setting = {
  isPaused: false,
  isDraining: false,
  maxParallelism: 10,
  fallbackAfterMs: 0,
};
const pulled: Setting = { ...pushed, maxParallelism: null };
const still: QueueFlow = { running: 0, idleWorkers: 0, hasWorkers: false };
const waits = (ms: number, more: Partial<QueueFlow> = {}): QueueFlow => ({
  ...{ ...still, claimableAt: NOW - ms },
  ...more,
});

function judge(flow: QueueFlow, setting: Setting = pushed, samples: Sample[] = []) {
  return judgeHealth(samples, flow, setting, NOW);
}

describe("the last jobs", () => {
  // Shows DE-10.
  test("with none, all is as the default says: 5,000 ms, and every one succeeded", () => {
    expect(rateOf([])).toEqual({
      ...{ of: 0, successRate: 1, ran: 0 },
      averageMs: AVERAGE_MS_DEFAULT,
    });
    expect(AVERAGE_MS_DEFAULT).toBe(5_000);
  });

  test("the average is of the jobs that ran, the rate of all", () => {
    expect(rateOf([ok(100), bad(300), bad()])).toEqual({
      of: 3,
      successRate: 1 / 3,
      ran: 2,
      averageMs: 200,
    });
    expect(rateOf([bad()])).toMatchObject({ of: 1, successRate: 0, ran: 0 });
  });

  test.each([
    ["of three jobs a rate says nothing", [bad(), bad(), bad()], "green"],
    ["one in four may fail", [ok(), ok(), ok(), bad()], "green"],
    ["two in five may not", [ok(), bad(), ok(), bad(), ok()], "yellow"],
    ["when none succeeded, the queue moves all the same", [bad(), bad(), bad(), bad()], "yellow"],
  ] as const)("%s", (_, samples, light) => {
    expect(judge({ ...still, running: 1 }, pushed, [...samples]).light).toBe(light);
  });

  test("the reason says how many failed", () => {
    const { reason } = judge(still, pushed, [ok(), bad(), ok(), bad(), ok()]);
    expect(reason).toBe("2 of the last 5 jobs did not succeed.");
  });
});

describe("a queue stands still", () => {
  test("after a minute in which nothing was claimed, though more may run; not a moment before", () => {
    expect(judge(waits(STUCK_MS)).light).toBe("red");
    expect(judge(waits(STUCK_MS)).reason).toBe(
      "No job is claimed, although 10 more may run. A job has waited for 1 minute.",
    );
    expect(judge(waits(STUCK_MS - 1)).light).not.toBe("red");
  });

  test("not while other jobs are claimed, however long one waits", () => {
    const claimedAt = NOW - STUCK_MS + 1;
    expect(judge(waits(10 * STUCK_MS, { claimedAt, running: 3 })).light).not.toBe("red");
    expect(judge(waits(10 * STUCK_MS, { claimedAt: claimedAt - 1, running: 3 })).light).toBe("red");
  });

  test("not where all that may run does", () => {
    expect(judge(waits(10 * STUCK_MS, { running: 10 })).light).toBe("yellow");
    expect(judge(waits(10 * STUCK_MS, { running: 9 })).light).toBe("red");
  });

  test("not while jobs are left to workers outside", () => {
    const setting = { ...pushed, fallbackAfterMs: 120_000 };
    const busy = { hasWorkers: true };
    expect(judge(waits(STUCK_MS + 119_999, busy), setting).light).not.toBe("red");
    expect(judge(waits(STUCK_MS + 120_000, busy), setting).light).toBe("red");
    expect(judge(waits(STUCK_MS), setting).light, "none is there").toBe("red");
    // Such a worker is there and takes nothing.
    const idle = { idleWorkers: 1, hasWorkers: true };
    expect(judge(waits(STUCK_MS, idle), setting).light).toBe("red");
  });

  test("without a handler, where a worker is idle, or none serves the queue; not where all are at work", () => {
    const by = (more: Partial<QueueFlow>) => judge(waits(STUCK_MS, more), pulled);
    expect(by({ idleWorkers: 2, hasWorkers: true })).toMatchObject({
      light: "red",
      reason: expect.stringContaining("2 of the queue's workers are idle"),
    });
    expect(by({})).toMatchObject({
      light: "red",
      reason: expect.stringContaining("No worker serves the queue."),
    });
    expect(by({ hasWorkers: true }).light).toBe("yellow");
    expect(by({ running: 1 }).light).toBe("yellow");
  });

  test("not without a pending job, and not while it is paused", () => {
    expect(judge({ ...still, claimedAt: 0 }).light).toBe("green");
    expect(judge(waits(10 * STUCK_MS), { ...pushed, isPaused: true })).toMatchObject({
      light: "yellow",
      reason: "The queue is paused. A job has waited for 10 minutes.",
    });
    expect(judge(still, { ...pushed, isPaused: true })).toMatchObject({
      light: "green",
      reason: "The queue is paused.",
    });
  });

  test("maxParallelism 0 is a pause, unless workers outside serve the queue", () => {
    const none = { ...pushed, maxParallelism: 0 };
    expect(judge(waits(10 * STUCK_MS), none).light).toBe("yellow");
    expect(judge(waits(10 * STUCK_MS), none).reason).toContain("maxParallelism is 0");
    const idle = { idleWorkers: 1, hasWorkers: true };
    expect(judge(waits(10 * STUCK_MS, idle), none).light).toBe("red");
  });
});

describe("a job waits", () => {
  test("longer than usual when it is twice the 95th percentile of waits, and never for less than half a minute", () => {
    const busy = (usualWaitMs: number) => ({ running: 10, usualWaitMs });
    expect(judge(waits(SLOW_MIN_MS, busy(0))).light).toBe("yellow");
    expect(judge(waits(SLOW_MIN_MS - 1, busy(0))).light).toBe("green");
    expect(judge(waits(199_999, busy(100_000))).light).toBe("green");
    expect(judge(waits(200_000, busy(100_000))).light).toBe("yellow");
    expect(judge(waits(200_000, busy(100_000))).reason).toContain("busy. A job has waited for 3 m");
  });

  test("a drain is told in words", () => {
    const { light, reason } = judge({ ...still, running: 1 }, { ...pushed, isDraining: true });
    expect(light).toBe("green");
    expect(reason).toContain("It is draining");
  });
});

describe("the next lights without an event", () => {
  test("are the health at their instants, and not before", () => {
    for (const flow of [
      waits(0),
      waits(5_000, { running: 10 }),
      waits(31_000, { running: 3, claimedAt: NOW - 2_000 }),
    ]) {
      const { worsens, light } = judge(flow);
      expect(worsens.length).toBeGreaterThan(0);
      const at = (then: number) => judgeHealth([], flow, pushed, then).light;
      let before = light;
      for (const turn of worsens) {
        expect(at(turn.at)).toBe(turn.light);
        expect(at(turn.at - 1)).toBe(before);
        before = turn.light;
      }
      expect(at(NOW + 1e9)).toBe(before);
    }
  });

  test("of a job that waits with room for it are yellow and then red, without room yellow", () => {
    const turns = (flow: QueueFlow) => judge(flow).worsens.map(({ light }) => light);
    expect(turns(waits(0))).toEqual(["yellow", "red"]);
    expect(turns(waits(0, { running: 10 }))).toEqual(["yellow"]);
  });

  test("are none where no job waits, the queue is paused, or the light is red", () => {
    expect(judge(still).worsens).toEqual([]);
    expect(judge(waits(0), { ...pushed, isPaused: true }).worsens).toEqual([]);
    expect(judge(waits(STUCK_MS)).worsens).toEqual([]);
  });
});
