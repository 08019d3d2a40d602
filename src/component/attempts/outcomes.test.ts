/** A job's fate after its worker's report of an outcome. */
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Finished, JobOptions, Outcome, QueueConfig } from "../../shared/index.js";
import { failed, leaseOf, newToldWorld, released, succeeded } from "../setup.test.js";

afterEach(() => {
  vi.restoreAllMocks();
});

const RETRY = { maxAttempts: 3, initialBackoffMs: 1_000, base: 2, maxBackoffMs: 60_000 };

function ending(job: { id: string; attempt: number }, outcome: Outcome): Finished {
  return { ...leaseOf(job), outcome };
}

async function running(config: Partial<QueueConfig> = {}, options: JobOptions = {}) {
  const world = await newToldWorld(config);
  // The whole backoff: jitter is its own test.
  vi.spyOn(Math, "random").mockReturnValue(0.999_999);
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const id = await world.enqueue({}, options);
  const worker = world.worker("a");
  const [job] = await worker.claim();
  return { world, id, worker, job: job! };
}

describe("a failed attempt, where retries are asked for", () => {
  test("backs off, twice as long each time, and fails for good with the last, which says so", async () => {
    const { world, id, worker, job } = await running({ retry: RETRY });
    await worker.complete([failed(job, "no disk")]);
    expect(await world.status(id)).toMatchObject({
      ...{ status: "scheduled", failures: 1, lastError: "no disk" },
      dueAt: Date.now() + 999,
    });
    expect(await worker.claim(), "nobody has it before its time").toEqual([]);
    await world.advance(1_200);
    const [second] = await worker.claim();
    expect(second).toMatchObject({ id, attempt: 2, failures: 1 });
    await worker.complete([failed(second!, "no disk")]);
    expect(await world.status(id)).toMatchObject({
      status: "scheduled",
      dueAt: Date.now() + 1_999,
    });
    await world.advance(2_200);
    const [third] = await worker.claim();
    expect((await worker.complete([failed(third!, "no disk")])).words).toEqual(["ok"]);
    expect(await world.status(id)).toMatchObject({
      ...{ status: "failed", failures: 3 },
      error: "no disk (not retried, since it failed 3 times and maxAttempts is 3)",
    });
    expect((await world.all("told")).map(({ status }) => status)).toEqual(["failed"]);
  });

  test("jitters in full: anything from nothing to the whole wait", async () => {
    const { world, id, worker, job } = await running({ retry: RETRY });
    vi.spyOn(Math, "random").mockReturnValue(0);
    await worker.complete([failed(job)]);
    expect(await world.status(id)).toMatchObject({ status: "scheduled", dueAt: Date.now() });
  });

  test("waits at most maxBackoffMs", async () => {
    const retry = { ...RETRY, initialBackoffMs: 50_000, base: 10, maxBackoffMs: 2_000 };
    const { world, id, worker, job } = await running({ retry });
    await worker.complete([failed(job)]);
    expect(await world.status(id)).toMatchObject({ dueAt: Date.now() + 1_999 });
  });

  test("waits as long as its worker says instead, without jitter", async () => {
    const { world, id, worker, job } = await running({ retry: RETRY });
    await worker.complete([ending(job, { kind: "failed", error: "429", retryAfterMs: 30_000 })]);
    expect(await world.status(id)).toMatchObject({
      status: "scheduled",
      dueAt: Date.now() + 30_000,
    });
  });

  test.each([Number.NaN, -1, Infinity, 1e15])(
    "of which the worker asks for %d ms backs off as if it had not, and the error says the rule",
    async (retryAfterMs) => {
      const { world, id, worker, job } = await running({ retry: RETRY });
      const { words } = await worker.complete([
        ending(job, { kind: "failed", error: "429", retryAfterMs }),
      ]);
      expect(words).toEqual(["ok"]);
      expect(await world.status(id)).toMatchObject({
        ...{ status: "scheduled", dueAt: Date.now() + 999 },
        lastError: expect.stringContaining("retryAfterMs must be from 0 to"),
      });
    },
  );

  test("that its worker calls hopeless fails at once, and says so", async () => {
    const { world, id, worker, job } = await running({ retry: RETRY });
    await worker.complete([ending(job, { kind: "failed", error: "bad url", retryable: false })]);
    expect(await world.status(id)).toMatchObject({
      ...{ status: "failed", failures: 1 },
      error: "bad url (not retried, since another attempt would fail as well)",
    });
  });

  test("follows the job's own rule before its queue's", async () => {
    const own = { rules: { retry: { ...RETRY, maxAttempts: 1 } } };
    const { world, id, worker, job } = await running({ retry: RETRY }, own);
    await worker.complete([failed(job, "boom")]);
    expect(await world.status(id)).toMatchObject({ status: "failed", error: "boom" });
  });

  test("the note that it is not retried survives an error of any length", async () => {
    const { world, id, worker, job } = await running({ retry: RETRY });
    const error = "ä".repeat(10_000);
    await worker.complete([ending(job, { kind: "failed", error, retryable: false })]);
    const status = await world.status(id);
    expect(status).toMatchObject({ error: expect.stringMatching(/would fail as well\)$/) });
  });

  test("counts failures and resets apart", async () => {
    const { world, id, worker, job } = await running({ retry: RETRY, maxResets: 1 });
    await worker.heartbeat([job]);
    await world.advance(10_500);
    expect(await world.job(id)).toMatchObject({ status: "pending", failures: 0, resets: 1 });
    for (const failures of [1, 2, 3]) {
      const [next] = await worker.claim();
      await worker.complete([failed(next!)]);
      expect(await world.job(id)).toMatchObject({ failures, resets: 1 });
      await world.advance(5_000);
    }
    expect(await world.status(id)).toMatchObject({ status: "failed" });
  });
});

describe("an attempt that is given back until later", () => {
  test("uses none of the attempts that may fail, and comes back at its time", async () => {
    const { world, id, worker, job } = await running();
    await worker.complete([ending(job, { kind: "snoozed", runAfter: 5_000 })]);
    expect(await world.status(id)).toMatchObject({
      ...{ status: "scheduled", failures: 0, dueAt: Date.now() + 5_000 },
    });
    await world.advance(4_900);
    expect(await worker.claim()).toEqual([]);
    await world.advance(400);
    expect((await worker.claim())[0]).toMatchObject({ id, attempt: 2 });
  });

  test.each([Number.NaN, -5, Infinity])(
    "but not for %d ms: that is a failure",
    async (runAfter) => {
      const { world, id, worker, job } = await running();
      const { words } = await worker.complete([ending(job, { kind: "snoozed", runAfter })]);
      expect(words).toEqual(["ok"]);
      expect(await world.status(id)).toMatchObject({
        ...{ status: "failed", error: expect.stringContaining("must be from 0 to") },
      });
    },
  );
});

describe("a job of a circular queue", () => {
  const circular = { circular: true };

  test("that succeeds is pending again, with its result and one more round, and the app is notified", async () => {
    const { world, id, worker, job } = await running(circular);
    await worker.complete([succeeded(job, 7)]);
    expect(await world.job(id)).toMatchObject({
      status: "pending",
      rounds: 1,
      result: { inline: 7 },
    });
    expect(await world.status(id)).toMatchObject({ rounds: 1, lastWorkedAt: Date.now() });
    expect(await world.all("told")).toMatchObject([{ id, status: "succeeded", attempt: 1 }]);
    expect((await worker.claim())[0]).toMatchObject({ id, attempt: 2 });
  });

  test("rests where its queue says so", async () => {
    const { world, id, worker, job } = await running({ ...circular, restMs: 60_000 });
    await worker.complete([succeeded(job)]);
    expect(await world.status(id)).toMatchObject({
      status: "scheduled",
      dueAt: Date.now() + 60_000,
    });
    await world.advance(60_300);
    expect((await worker.claim())[0]).toMatchObject({ id, attempt: 2 });
  });

  test("that fails stays in the ring without a retry rule, and the app is notified", async () => {
    const { world, id, worker, job } = await running(circular);
    await worker.complete([failed(job, "boom")]);
    expect(await world.job(id)).toMatchObject({ status: "pending", rounds: 1, failures: 1 });
    expect(await world.all("told")).toMatchObject([{ status: "failed", error: "boom" }]);
  });

  test("that fails as often as its retry rule allows, or hopelessly, leaves the ring", async () => {
    const { world, id, worker, job } = await running({
      ...circular,
      retry: { ...RETRY, maxAttempts: 2 },
    });
    await worker.complete([failed(job)]);
    expect(await world.status(id)).toMatchObject({ status: "scheduled", failures: 1 });
    await world.advance(1_200);
    const [again] = await worker.claim();
    await worker.complete([failed(again!)]);
    expect(await world.status(id)).toMatchObject({ status: "failed" });
    const other = await world.enqueue();
    const [hopeless] = await worker.claim();
    await worker.complete([
      { ...leaseOf(hopeless!), outcome: { kind: "failed", error: "x", retryable: false } },
    ]);
    expect(await world.status(other)).toMatchObject({ status: "failed" });
  });

  test("keeps one large result through any number of rounds", async () => {
    const { world, worker, job } = await running(circular);
    let next = job;
    for (let round = 0; round < 4; round += 1) {
      await worker.complete([succeeded(next, `${round}`.repeat(2_000))]);
      next = (await worker.claim())[0]!;
      expect(await world.all("payloads")).toHaveLength(1);
    }
  });

  test("that is canceled while it runs has had its last round", async () => {
    const { world, id, worker, job } = await running(circular);
    await worker.complete([succeeded(job, "0".repeat(2_000))]);
    const [next] = await worker.claim();
    await world.cancel(id);
    await worker.complete([succeeded(next!, "1".repeat(2_000))]);
    expect(await world.status(id)).toMatchObject({
      status: "succeeded",
      result: "1".repeat(2_000),
    });
    expect(await world.all("payloads")).toHaveLength(1);
  });
});

describe("the rows of attempts", () => {
  test("every one that did not succeed has a row, with worker, times and reason", async () => {
    const { world, id, worker, job } = await running({ retry: RETRY, maxResets: 5 });
    const startedAt = Date.now();
    await world.advance(500);
    await worker.complete([failed(job, "boom")]);
    await world.advance(1_500);
    const [second] = await worker.claim();
    await worker.complete([released(second!)]);
    const [third] = await worker.claim();
    await worker.complete([ending(third!, { kind: "snoozed", runAfter: 0 })]);
    await world.advance(300);
    await worker.heartbeat(await worker.claim());
    await world.advance(10_500);
    const [fifth] = await worker.claim();
    await world.cancel(id, "enough");
    await worker.complete([ending(fifth!, { kind: "canceled" })]);
    const rows = await world.all("attempts");
    expect(rows.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
      ...[
        [1, "failed"],
        [2, "released"],
        [3, "snoozed"],
        [4, "lost"],
      ],
      [5, "canceled"],
    ]);
    expect(rows[0]).toMatchObject({
      ...{ job: id, worker: "a", startedAt, endedAt: startedAt + 500, error: "boom" },
    });
    expect(rows[4]).toMatchObject({ error: "enough" });
  });

  test("a success costs no row", async () => {
    const { world, worker, job } = await running();
    await worker.complete([succeeded(job)]);
    expect(await world.all("attempts")).toEqual([]);
  });

  test("a job with rounds over years keeps a bounded number", async () => {
    const { world, id, worker, job } = await running();
    await world.t.run(async (ctx) => {
      await ctx.db.patch("jobs", id, { attempt: 5_000 });
      const session = (await ctx.db.query("sessions").first())!;
      await ctx.db.patch("sessions", session._id, {
        leases: session.leases.map((lease) => ({ ...lease, attempt: 5_000 })),
      });
      for (let attempt = 3_999; attempt < 4_004; attempt += 1) {
        await ctx.db.insert("attempts", { job: id, attempt, outcome: "released", endedAt: 0 });
      }
    });
    await worker.complete([released({ ...job, attempt: 5_000 })]);
    const kept = (await world.all("attempts")).map(({ attempt }) => attempt);
    expect(kept.sort()).toEqual([4_001, 4_002, 4_003, 5_000].sort());
  });

  test("an outcome that was recorded, and reported again after the job moved on, is answered so", async () => {
    const { world, worker, job } = await running({ retry: RETRY });
    await worker.complete([failed(job)]);
    expect((await worker.complete([failed(job)])).words).toEqual(["recorded"]);
    await world.advance(1_500);
    const [second] = await world.worker("b").claim();
    expect((await worker.complete([succeeded(job)])).words).toEqual(["recorded"]);
    expect((await world.worker("c").complete([succeeded(job)])).words).toEqual(["leaseLost"]);
    expect(await world.job(job.id)).toMatchObject({ status: "running", attempt: second!.attempt });
  });
});

test("a result that cannot be stored fails its job for good, under any retry rule, since it would come out like this again", async () => {
  const { world, id, worker, job } = await running({ retry: RETRY });
  const result = Object.fromEntries(Array.from({ length: 1_025 }, (_, i) => [`f${i}`, i]));
  expect((await worker.complete([succeeded(job, result)])).words).toEqual(["ok"]);
  expect(await world.status(id)).toMatchObject({
    ...{ status: "failed", error: expect.stringContaining("as one JSON string") },
  });
});

test("a failure is one line of JSON on the log, and a warning while it will be tried again", async () => {
  const { worker, job } = await running({ retry: RETRY });
  const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  await worker.complete([failed(job, "boom")]);
  expect(warn).toHaveBeenCalledOnce();
  expect(JSON.parse(warn.mock.calls[0]![0] as string)).toMatchObject({
    ...{ conveyor: "attemptFailed", queue: "tiles", job: job.id, attempt: 1 },
    ...{ worker: "a", failures: 1, error: "boom" },
  });
});
