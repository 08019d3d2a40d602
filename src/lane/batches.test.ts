/** Inline handlers of batches in one process, on a manual clock: jobs of all its lanes come together. */
import { describe, expect, test } from "vitest";
import type { Answer, CheckedBatching, ClaimedJob, LaneJob } from "../shared/index.js";
import { FakeClock } from "../worker/fakes.test.js";
import type { BatchJob } from "../worker/types.js";
import { HandledBatches, Handling, type Ended } from "./index.js";

const laneJob = (id: string, fields: Partial<ClaimedJob> = {}): LaneJob => ({
  job: {
    ...{ id, queue: "texts", payload: { text: id }, attempt: 1, failures: 0, resets: 0 },
    ...{ leaseMs: 20_000, enqueuedAt: 0, timeoutMs: 60_000, ...fields },
  },
});

function stage(batching: CheckedBatching = { size: 3, waitMs: 500 }) {
  const clock = new FakeClock();
  const stands = new Map<string, Answer["answer"]>();
  const handling = new Handling(
    {
      report: async () => await Promise.resolve([]),
      standing: async (leases) =>
        await Promise.resolve(
          leases.map((lease) => ({ ...lease, answer: stands.get(lease.id) ?? "ok" })),
        ),
    },
    clock,
  );
  const begun: {
    jobs: BatchJob[];
    ids: string[];
    at: number;
    resolve: (value?: unknown) => void;
  }[] = [];
  const batches = new HandledBatches(
    handling,
    {
      batching: () => batching,
      run: (_, jobs) =>
        new Promise((resolve) => {
          begun.push({ jobs, ids: jobs.map(({ id }) => id), at: clock.now(), resolve });
        }),
    },
    clock,
  );
  const ended = new Map<string, Ended>();
  const run = (id: string, fields?: Partial<ClaimedJob>): void =>
    void batches.run(laneJob(id, fields)).then((one) => ended.set(id, one));
  const timers = () => (clock as unknown as { timers: unknown[] }).timers.length;
  return { clock, stands, begun, ended, run, timers };
}

describe("jobs of several lanes in one process", () => {
  // Shows C7.
  test("are one batch as soon as `size` are there, and each lane gets its own jobs' ends", async () => {
    const { clock, begun, ended, run, timers } = stage();
    run("a");
    await clock.advance(100);
    run("b");
    run("c");
    await clock.advance(0);
    expect(begun).toMatchObject([{ ids: ["a", "b", "c"], at: 100 }]);
    begun[0]!.jobs[1]!.fail("bad text");
    begun[0]!.resolve([1, 2, 3]);
    await clock.advance(0);
    expect([...ended]).toMatchObject([
      ["a", { outcome: { kind: "succeeded", result: 1 } }],
      ["b", { outcome: { kind: "failed", error: "bad text" } }],
      ["c", { outcome: { kind: "succeeded", result: 3 } }],
    ]);
    expect(timers()).toBe(0);
  });

  // Shows D22.
  test("begin when the first has waited `waitMs`, and several batches run beside each other", async () => {
    const { clock, begun, run } = stage();
    run("a");
    await clock.advance(499);
    expect(begun).toHaveLength(0);
    await clock.advance(1);
    for (const id of ["b", "c", "d", "e"]) run(id);
    await clock.advance(500);
    expect(begun.map(({ ids }) => ids)).toEqual([["a"], ["b", "c", "d"], ["e"]]);
  });

  test("come by group where the batch is made so", async () => {
    const { clock, begun, run } = stage({ size: 2, waitMs: 500, by: "group" });
    run("a", { group: "x" });
    run("b", { group: "y" });
    run("c", { group: "x" });
    await clock.advance(600);
    expect(begun.map(({ ids }) => ids)).toEqual([["a", "c"], ["b"]]);
  });
});

describe("one job of a batch inside Convex", () => {
  async function three() {
    const started = stage();
    for (const id of ["a", "b", "c"]) started.run(id, id === "c" ? { timeoutMs: 2_000 } : {});
    await started.clock.advance(0);
    return { ...started, batch: started.begun[0]! };
  }

  test("that is canceled has its own signal, and ends as canceled; the others succeed", async () => {
    const { clock, stands, ended, batch } = await three();
    // A handler that takes its signal is told within a second.
    const { signal } = batch.jobs[0]!;
    stands.set("a", "canceled");
    await clock.advance(1_000);
    expect(signal.reason).toMatchObject({ reason: "canceled" });
    expect(batch.jobs[1]!.signal.aborted).toBe(false);
    batch.resolve();
    await clock.advance(0);
    expect(ended.get("a")).toEqual({ outcome: { kind: "canceled" } });
    expect(ended.get("b")).toEqual({ outcome: { kind: "succeeded", result: null } });
  });

  test("that is another's by now is done with at once, and its result is nobody's", async () => {
    const { clock, stands, ended, batch } = await three();
    stands.set("b", "leaseLost");
    await clock.advance(5_100);
    expect(ended.get("b")).toEqual({ outcome: { kind: "released" } });
    expect(ended.has("a")).toBe(false);
    batch.resolve([1, 2, 3]);
    await clock.advance(0);
    expect(ended.get("b")).toEqual({ outcome: { kind: "released" } });
    expect(ended.get("a")).toEqual({ outcome: { kind: "succeeded", result: 1 } });
  });

  test("whose time is over has failed when its handler has not stopped for five seconds; the others go on", async () => {
    const { clock, ended, batch } = await three();
    await clock.advance(7_100);
    expect(ended.get("c")).toMatchObject({ outcome: { kind: "failed", timedOut: true } });
    batch.resolve([1, 2, 3]);
    await clock.advance(0);
    expect(ended.get("a")).toEqual({ outcome: { kind: "succeeded", result: 1 } });
  });

  test("that was answered ends before its batch does, and its time is over no more", async () => {
    const { clock, ended, batch } = await three();
    batch.jobs[2]!.succeed("early");
    await clock.advance(300);
    expect(ended.get("c")).toEqual({ outcome: { kind: "succeeded", result: "early" } });
    await clock.advance(10_000);
    expect(ended.size).toBe(1);
    batch.resolve();
    await clock.advance(0);
    expect(ended.size).toBe(3);
  });

  test("waits for others for half of its time at most", async () => {
    const { clock, begun, run } = stage({ size: 3, waitMs: 30_000 });
    run("a", { timeoutMs: 1_000 });
    await clock.advance(499);
    expect(begun).toHaveLength(0);
    await clock.advance(1);
    expect(begun).toHaveLength(1);
  });
});
