/** The time of a job of a batch, and the end of a handler that goes on when none of its jobs is wanted. */
import { describe, expect, test } from "vitest";
import { startManual, threeRunning } from "./batchFakes.test.js";

describe("the time of a job of a batch", () => {
  test("is its own: one that is over fails alone, one that was answered before succeeds", async () => {
    const { clock, deployment, begun } = startManual({ leaseMs: 60_000 });
    const ids = [2_000, 2_000, 60_000].map((timeoutMs) =>
      deployment.enqueue(null, "tiles", { timeoutMs }),
    );
    await clock.advance(200);
    begun[0]!.jobs[0]!.succeed("in time");
    await clock.advance(8_000);
    expect(begun[0]!.jobs.map(({ signal }) => signal.aborted)).toEqual([false, true, false]);
    expect(deployment.outcomeOf(ids[1]!)).toMatchObject({ kind: "failed", timedOut: true });
    begun[0]!.resolve();
    await clock.advance(100);
    expect(deployment.outcomeOf(ids[0]!)).toEqual({ kind: "succeeded", result: "in time" });
    expect(deployment.outcomeOf(ids[2]!)).toEqual({ kind: "succeeded", result: null });
  });

  test("runs while it waits for others: its batch begins with half of it left, however long it may wait", async () => {
    const { clock, deployment, begun } = startManual({
      leaseMs: 60_000,
      batch: { waitMs: 30_000 },
    });
    const id = deployment.enqueue(null, "tiles", { timeoutMs: 2_000 });
    await clock.advance(1_100);
    expect(begun).toMatchObject([{ ids: [id], at: expect.closeTo(1_000, -2) as number }]);
    begun[0]!.resolve();
    await clock.advance(100);
    expect(deployment.outcomeOf(id)).toMatchObject({ kind: "succeeded" });
  });

  test("that is over while it waits for a slot is no failure: it goes back without having begun", async () => {
    const { clock, deployment, begun, ids } = await twoWaiting();
    await clock.advance(2_500);
    expect(begun).toHaveLength(1);
    expect(ids.map((id) => deployment.outcomeOf(id))).toEqual([undefined, { kind: "released" }]);
  });

  test("that is over, or a lease that is lost, before a handler begins: it never does", async () => {
    // A job is begun a second after its claim where its last handler goes on.
    const { clock, deployment, batch, ids, begun, enqueue } = await threeRunning({
      concurrency: 2,
      leaseMs: 3_000,
    });
    deployment.held.delete(ids[0]!);
    await clock.advance(1_500);
    expect(batch.jobs[0]!.signal.aborted).toBe(true);
    deployment.pending.push({
      ...{ id: ids[0]!, queue: "tiles", payload: null, leaseMs: 60_000, timeoutMs: 300 },
      ...{ attempt: 1, failures: 0, resets: 1, enqueuedAt: 0 },
    });
    enqueue(2);
    await clock.advance(700);
    batch.resolve();
    await clock.advance(1_000);
    expect(begun.slice(1).map((one) => one.ids)).toEqual([["job4", "job5"]]);
    expect(deployment.outcomeOf(ids[0]!)).toEqual({ kind: "released" });
  });

  test("a handler that ignores the signals of all its jobs loses its slot", async () => {
    const { clock, deployment, ids, batch, begun, enqueue } = await threeRunning();
    await clock.advance(600);
    for (const id of ids) deployment.cancel(id);
    await clock.advance(50);
    expect(batch.signal.reason).toMatchObject({ reason: "canceled" });
    enqueue(3);
    await clock.advance(6_000);
    expect(begun).toHaveLength(2);
  });

  test("a handler that has answered all its jobs gets the signal, and loses its slot if it goes on", async () => {
    const { clock, loop, batch, begun, enqueue, kinds, ids, end } = await threeRunning();
    batch.jobs[0]!.succeed(1);
    batch.jobs[1]!.fail("no");
    expect(batch.signal.aborted).toBe(false);
    batch.jobs[2]!.snooze(5_000);
    expect(batch.signal.reason).toMatchObject({ reason: "answered" });
    expect(batch.jobs.map(({ signal }) => signal.aborted)).toEqual([false, false, false]);
    enqueue(3);
    await clock.advance(4_900);
    expect(begun).toHaveLength(1);
    expect(kinds("handlerAbandoned")).toHaveLength(0);
    await clock.advance(200);
    expect(begun).toHaveLength(2);
    expect(kinds("handlerAbandoned")).toMatchObject(ids.map((id) => ({ id })));
    begun[1]!.resolve();
    await clock.advance(100);
    expect(loop.statusNow().slots.used).toBe(0);
    loop.stop(60_000);
    await clock.advance(100);
    expect(end.value).toEqual({});
    batch.resolve();
    await clock.advance(10_000);
    expect(kinds("resultDropped")).toHaveLength(0);
  });

  test("a handler that ends soon after its last answer is not given up", async () => {
    const { clock, batch, kinds } = await threeRunning();
    for (const job of batch.jobs) job.succeed(null);
    await clock.advance(1_000);
    batch.resolve();
    await clock.advance(10_000);
    expect(kinds("handlerAbandoned")).toHaveLength(0);
  });

  test("a job that its batch has answered early is begun again beside the batch, and the batch's end leaves it be", async () => {
    const { clock, deployment, batch, begun, ids } = await threeRunning({ concurrency: 2 });
    deployment.goesBack = true;
    batch.jobs[0]!.fail("again");
    await clock.advance(1_000);
    expect(begun.map((one) => one.ids)).toEqual([ids, [ids[0]]]);
    const again = begun[1]!;
    batch.resolve();
    await clock.advance(1_000);
    again.jobs[0]!.succeed("now");
    again.resolve();
    await clock.advance(60_000);
    expect(begun).toHaveLength(2);
    expect(deployment.recorded.get(ids[0]!)).toEqual({
      ...{ attempt: 2, times: 2, outcome: { kind: "succeeded", result: "now" } },
    });
  });
});

/** A batch of one job that goes on, and a second one, whose time is short, that waits for the slot. */
async function twoWaiting() {
  const started = startManual({
    leaseMs: 60_000,
    batch: { by: "group", waitMs: 100 },
  });
  const ids = [
    ...started.enqueue(1, { group: "a" }),
    ...started.enqueue(1, { group: "b", timeoutMs: 2_000 }),
  ];
  await started.clock.advance(500);
  return { ...started, ids };
}
