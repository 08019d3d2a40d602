/** How each job of a batch ends: by its answer, with the batch, or by itself. */
import { describe, expect, test } from "vitest";
import { isConveyorError, NonRetryableError } from "../shared/index.js";
import { caught, startBatches, startManual, threeRunning } from "./batchFakes.test.js";

describe("the end of a batch", () => {
  // Shows D21.
  test("an array has each job's result in order, and one call records all", async () => {
    const { clock, deployment, ids, batch, callsOf } = await threeRunning();
    batch.resolve(["a", undefined, { c: 3n }]);
    await clock.advance(100);
    expect(ids.map((id) => deployment.outcomeOf(id))).toEqual([
      { kind: "succeeded", result: "a" },
      { kind: "succeeded", result: null },
      { kind: "succeeded", result: { c: 3n } },
    ]);
    expect(callsOf("complete").map((call) => call.ids)).toEqual([ids]);
  });

  test("an array of promises: one that rejects fails its job alone, and a result that is no value too", async () => {
    const { clock, deployment, ids, batch, kinds } = await threeRunning();
    batch.resolve([Promise.resolve(1), Promise.reject(new Error("two")), new Map()]);
    await clock.advance(100);
    expect(ids.map((id) => deployment.outcomeOf(id))).toMatchObject([
      { kind: "succeeded", result: 1 },
      { kind: "failed", error: "two" },
      { kind: "failed", error: expect.stringContaining("not a Convex value") as string },
    ]);
    expect(kinds("resultRefused")).toMatchObject([{ id: ids[2] }]);
  });

  test.each([
    ["fewer results than jobs", [1, 2], /3 jobs must return as many results.*got 2/],
    ["more results than jobs", [1, 2, 3, 4], /got 4/],
    ["an object", { results: [] }, /array of 3 results.*got object/],
    ["a string", "abc", /got string/],
  ])("%s are refused, and fail every job without an answer", async (_, value, words) => {
    const { clock, deployment, ids, batch } = await threeRunning();
    batch.jobs[1]!.succeed("mine");
    batch.resolve(value);
    await clock.advance(100);
    const outcomes = ids.map((id) => deployment.outcomeOf(id));
    expect(outcomes[1]).toEqual({ kind: "succeeded", result: "mine" });
    for (const outcome of [outcomes[0], outcomes[2]])
      expect(outcome).toMatchObject({
        kind: "failed",
        error: expect.stringMatching(words) as string,
      });
  });

  test("nothing is a success with nothing, and so is null", async () => {
    for (const value of [undefined, null]) {
      const { clock, deployment, ids, batch } = await threeRunning();
      batch.resolve(value);
      await clock.advance(100);
      for (const id of ids)
        expect(deployment.outcomeOf(id)).toEqual({ kind: "succeeded", result: null });
    }
  });

  // Shows D21.
  // Shows D17.
  test("one job that is answered as failed fails alone, as its own handler's error would", async () => {
    const { clock, deployment, ids, batch } = await threeRunning();
    batch.jobs[1]!.fail(new NonRetryableError("never"));
    batch.resolve();
    await clock.advance(100);
    expect(ids.map((id) => deployment.outcomeOf(id))).toMatchObject([
      { kind: "succeeded" },
      { kind: "failed", error: "never", retryable: false },
      { kind: "succeeded" },
    ]);
  });

  test("a throw fails all jobs without an answer; answers before it stand", async () => {
    const { clock, deployment, ids, batch, kinds } = await threeRunning();
    batch.jobs[0]!.succeed({ pages: 1 });
    batch.jobs[2]!.snooze(5_000);
    batch.reject(new Error("the service is down"));
    await clock.advance(100);
    expect(ids.map((id) => deployment.outcomeOf(id))).toMatchObject([
      { kind: "succeeded", result: { pages: 1 } },
      { kind: "failed", error: "the service is down" },
      { kind: "snoozed", runAfter: 5_000 },
    ]);
    expect(kinds("finished")).toHaveLength(3);
  });

  test("a throw at once, before any promise, fails all", async () => {
    const { clock, deployment } = startBatches(() => {
      throw new Error("at once");
    });
    const id = deployment.enqueue();
    await clock.advance(1_000);
    expect(deployment.outcomeOf(id)).toMatchObject({ kind: "failed", error: "at once" });
  });

  test("an error that cannot be read still fails its job", async () => {
    const { clock, deployment, ids, batch } = await threeRunning();
    const unreadable = new Proxy(new Error(), {
      get: () => {
        throw new Error("no");
      },
    });
    batch.jobs[0]!.fail(unreadable);
    batch.resolve();
    await clock.advance(100);
    expect(deployment.outcomeOf(ids[0]!)).toMatchObject({ kind: "failed" });
  });

  test("a job has one answer: the second throws, also in place of the array's", async () => {
    const { clock, deployment, ids, batch } = await threeRunning();
    const [first] = batch.jobs;
    first!.succeed("first");
    for (const again of [() => first!.succeed(2), () => first!.fail("x"), () => first!.snooze(1)]) {
      const thrown = caught(again);
      expect(isConveyorError(thrown, "invalidArgument")).toBe(true);
      expect(thrown).toMatchObject({ data: { job: ids[0] } });
    }
    batch.resolve(["other", "b", "c"]);
    await clock.advance(100);
    expect(deployment.outcomeOf(ids[0]!)).toEqual({ kind: "succeeded", result: "first" });
    expect(deployment.outcomeOf(ids[1]!)).toEqual({ kind: "succeeded", result: "b" });
    // After the end it is dropped.
    first!.fail("late");
    await clock.advance(1_000);
    expect(deployment.recorded.get(ids[0]!)!.times).toBe(1);
  });

  test("a snooze out of bounds throws where it is asked for, and answers nothing", async () => {
    const { clock, deployment, ids, batch } = await threeRunning();
    expect(
      isConveyorError(
        caught(() => batch.jobs[0]!.snooze(-1)),
        "invalidArgument",
      ),
    ).toBe(true);
    batch.jobs[0]!.succeed(1);
    batch.resolve();
    await clock.advance(100);
    expect(deployment.outcomeOf(ids[0]!)).toEqual({ kind: "succeeded", result: 1 });
  });

  test("the handler may take its list apart: answers and results go by the jobs that it was given", async () => {
    const { clock, deployment, ids, batch } = await threeRunning();
    batch.jobs.splice(0, 3);
    batch.resolve([1, 2, 3]);
    await clock.advance(100);
    expect(ids.map((id) => deployment.outcomeOf(id))).toMatchObject([
      { result: 1 },
      { result: 2 },
      { result: 3 },
    ]);
  });

  test("answers of a batch that goes on are recorded together within a quarter of a second, and free no slot", async () => {
    const { clock, deployment, ids, batch, begun, enqueue, callsOf } = await threeRunning();
    batch.jobs[0]!.succeed(1);
    await clock.advance(100);
    batch.jobs[2]!.fail("no");
    expect(callsOf("complete")).toHaveLength(0);
    await clock.advance(200);
    expect(callsOf("complete").map((call) => call.ids)).toEqual([[ids[0], ids[2]]]);
    batch.jobs[1]!.succeed(2);
    enqueue(3);
    await clock.advance(4_900);
    expect(deployment.outcomeOf(ids[1]!)).toEqual({ kind: "succeeded", result: 2 });
    expect(begun).toHaveLength(1);
    batch.resolve();
    await clock.advance(1_000);
    expect(begun).toHaveLength(2);
  });

  test("jobs that follow come with the job that has asked for them, if it succeeds", async () => {
    const { clock, deployment, ids, batch } = await threeRunning();
    batch.jobs[0]!.continueWith("tiles", { n: 9 });
    batch.jobs[1]!.continueWith("tiles", { n: 8 });
    batch.jobs[1]!.fail("no");
    batch.resolve();
    await clock.advance(100);
    expect([...deployment.continued]).toEqual([[ids[0], [{ queue: "tiles", payload: { n: 9 } }]]]);
  });

  test("progress, log and output are each job's own", async () => {
    const { clock, deployment, ids, batch } = await threeRunning();
    batch.jobs[0]!.progress({ percent: 50 });
    batch.jobs[1]!.log("one");
    batch.jobs[2]!.write("text.");
    await clock.advance(300);
    batch.resolve();
    await clock.advance(300);
    expect(deployment.progressed).toEqual([{ id: ids[0], value: { percent: 50 } }]);
    expect([...deployment.logs]).toMatchObject([[ids[1], [{ message: "one" }]]]);
    expect([...deployment.outputs]).toEqual([[ids[2], ["text."]]]);
  });
});

describe("a job of a batch", () => {
  test("that is canceled gets its own signal, and ends as canceled; the others succeed", async () => {
    const { clock, deployment, ids, batch } = await threeRunning();
    await clock.advance(600);
    deployment.cancel(ids[1]!);
    await clock.advance(50);
    expect(batch.jobs.map(({ signal }) => signal.aborted)).toEqual([false, true, false]);
    expect(batch.signal.aborted).toBe(false);
    batch.resolve();
    await clock.advance(100);
    expect(ids.map((id) => deployment.outcomeOf(id)?.kind)).toEqual([
      "succeeded",
      "canceled",
      "succeeded",
    ]);
  });

  test("that is canceled ends within five seconds, however long its batch goes on, and frees no slot", async () => {
    const { clock, deployment, ids, batch, begun, enqueue } = await threeRunning();
    await clock.advance(600);
    deployment.cancel(ids[1]!);
    enqueue(3);
    await clock.advance(6_000);
    expect(deployment.outcomeOf(ids[1]!)).toEqual({ kind: "canceled" });
    expect(begun).toHaveLength(1);
    batch.resolve(["a", "late", "c"]);
    await clock.advance(100);
    expect(deployment.recorded.get(ids[1]!)).toMatchObject({
      outcome: { kind: "canceled" },
      times: 1,
    });
    expect(deployment.outcomeOf(ids[2]!)).toEqual({ kind: "succeeded", result: "c" });
  });

  test("that is canceled while it waits never begins, and its batch goes without it", async () => {
    const { clock, deployment, begun, enqueue } = startManual({
      leaseMs: 60_000,
      batch: { waitMs: 5_000 },
    });
    const ids = enqueue(2);
    await clock.advance(1_000);
    deployment.cancel(ids[0]!);
    await clock.advance(100);
    expect(deployment.outcomeOf(ids[0]!)).toEqual({ kind: "canceled" });
    await clock.advance(5_000);
    expect(begun.map((one) => one.ids)).toEqual([[ids[1]]]);
  });

  test("whose lease is lost gets its signal; its result is dropped, and the others' stand", async () => {
    const { clock, deployment, ids, batch, kinds } = await threeRunning({ leaseMs: 3_000 });
    deployment.held.set(ids[0]!, 99);
    await clock.advance(1_500);
    expect(batch.jobs.map(({ signal }) => signal.aborted)).toEqual([true, false, false]);
    batch.resolve([1, 2, 3]);
    await clock.advance(100);
    expect(deployment.outcomeOf(ids[0]!)).toBeUndefined();
    expect(kinds("resultDropped")).toMatchObject([{ id: ids[0] }]);
    expect(deployment.outcomeOf(ids[1]!)).toEqual({ kind: "succeeded", result: 2 });
  });

  test("whose lease is lost while it waits is not begun, and its next attempt joins a later batch", async () => {
    const { clock, deployment, begun, enqueue } = startManual({
      leaseMs: 3_000,
      batch: { waitMs: 2_000 },
    });
    const [id] = enqueue(1);
    await clock.advance(100);
    deployment.held.delete(id!);
    await clock.advance(2_500);
    expect(begun).toHaveLength(0);
    deployment.pending.push({
      ...{ id: id!, queue: "tiles", payload: null, leaseMs: 3_000 },
      ...{ attempt: 0, failures: 0, resets: 1, enqueuedAt: 0 },
    });
    enqueue(2);
    await clock.advance(1_000);
    expect(begun.map(({ jobs }) => jobs.map((job) => [job.id, job.attempt]))).toEqual([
      [
        [id, 2],
        ["job2", 1],
        ["job3", 1],
      ],
    ]);
  });

  test("that fails is tried again in a later batch, with other jobs", async () => {
    const { clock, deployment, ids, batch, begun, enqueue } = await threeRunning();
    batch.jobs[0]!.fail("once");
    batch.resolve();
    await clock.advance(100);
    deployment.pending.push({
      ...{ id: ids[0]!, queue: "tiles", payload: null, leaseMs: 60_000 },
      ...{ attempt: 1, failures: 1, resets: 0, enqueuedAt: 0 },
    });
    enqueue(1);
    await clock.advance(1_000);
    expect(begun[1]!.jobs.map((job) => [job.id, job.attempt])).toEqual([
      [ids[0], 2],
      ["job4", 1],
    ]);
  });
});
