/** Ends of attempts that do not succeed, and the fates of their jobs: seen from outside, one rule per test. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { textBytes, TRACE_MAX_BYTES, type JobOptions, type Outcome } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { newWorld, T0, type World } from "../setup.test.js";

afterEach(() => void vi.restoreAllMocks());

const retry = { maxAttempts: 3, initialBackoffMs: 1_000, base: 2, maxBackoffMs: 60_000 };
const failed: Outcome = { kind: "failed", error: "no such key" };

/** Enqueues a job and lets a worker end its first attempt. */
async function ended(world: World, outcome: Outcome, options: JobOptions = {}) {
  const id = await world.enqueue({}, options);
  const worker = world.worker("a");
  const [job] = await worker.claim();
  await worker.complete([{ id, attempt: job!.attempt, outcome }]);
  return { id, worker };
}

const attempts = async (world: World, id: string) =>
  (await world.t.query(api.lib.attempts, { id }))!;

describe("a failed attempt", () => {
  // Shows LF-30, DE-19, SG-09, SG-28, WP-21, E1, E2, E6.
  test("is followed by another after a random part of a wait that doubles, up to the last", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    const world = await newWorld({ retry });
    const { id, worker } = await ended(world, failed);
    expect(await world.status(id)).toMatchObject({
      status: "scheduled",
      dueAt: T0 + 500,
      lastError: "no such key",
    });
    // It holds no lease while it waits.
    expect((await worker.session()).leases).toEqual([]);
    await world.advance(750);
    for (const [attempt, waitMs] of [
      [2, 1_000],
      [3, null],
    ] as const) {
      const [job] = await worker.claim();
      expect(job).toMatchObject({ attempt, failures: attempt - 1 });
      const at = Date.now();
      await worker.complete([{ id, attempt, outcome: failed }]);
      const status = await world.status(id);
      if (waitMs === null) expect(status).toMatchObject({ status: "failed", failures: 3 });
      else expect(status).toMatchObject({ status: "scheduled", dueAt: at + waitMs });
      await world.advance(1_500);
    }
    expect(await worker.claim()).toEqual([]);
  });

  // Shows E3.
  test("is followed by another after the same wait each time, where the base is 1 and there is no jitter", async () => {
    const world = await newWorld({ retry: { ...retry, base: 1, jitter: "none" } });
    const { id, worker } = await ended(world, failed);
    expect(await world.status(id)).toMatchObject({ status: "scheduled", dueAt: T0 + 1_000 });
    await world.advance(1_500);
    const [job] = await worker.claim();
    const at = Date.now();
    await worker.complete([{ id, attempt: job!.attempt, outcome: failed }]);
    expect(await world.status(id)).toMatchObject({ status: "scheduled", dueAt: at + 1_000 });
  });

  test("keeps where it was thrown in its own row: cut, in no other, and in no more rows", async () => {
    const rowsOf = async (outcome: Outcome) => {
      const world = await newWorld();
      const { id } = await ended(world, outcome);
      return { status: await world.status(id), job: await world.job(id), world, id };
    };
    const plain = await rowsOf(failed);
    const traced = await rowsOf({ ...failed, trace: "x".repeat(TRACE_MAX_BYTES + 1) });
    const [attempt] = await attempts(traced.world, traced.id);
    expect(attempt).toMatchObject({ error: "no such key" });
    expect(textBytes((attempt as { trace: string }).trace)).toBe(TRACE_MAX_BYTES);
    expect(Object.keys(traced.job)).toEqual(Object.keys(plain.job));
    expect(Object.keys(traced.status!)).toEqual(Object.keys(plain.status!));
    expect(await traced.world.all("attempts")).toHaveLength(1);
    expect(await traced.world.all("payloads")).toEqual([]);
  });

  // Shows DE-20, SG-09, SG-27, WP-22, E7.
  test("is followed by none without a retry rule, or when its worker reports retries as hopeless", async () => {
    const plain = await newWorld();
    expect(await plain.status((await ended(plain, failed)).id)).toMatchObject({ status: "failed" });
    const world = await newWorld({ retry });
    const { id } = await ended(world, { ...failed, retryable: false });
    expect(await world.status(id)).toMatchObject({ status: "failed", failures: 1 });
  });

  // Shows E3, E8.
  test("is followed by another when its worker says, in place of the backoff", async () => {
    const world = await newWorld({ retry });
    const { id } = await ended(world, { ...failed, retryAfterMs: 30_000 });
    expect(await world.status(id)).toMatchObject({ status: "scheduled", dueAt: T0 + 30_000 });
  });

  // Shows F13.
  test("of a canceled job is followed by none, although its queue retries", async () => {
    const world = await newWorld({ retry });
    const id = await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await world.t.mutation(api.operate.cancelJob, { id, reason: "Not wanted." });
    await worker.complete([{ id, attempt: job!.attempt, outcome: failed }]);
    expect(await world.status(id)).toMatchObject({ status: "canceled", reason: "Not wanted." });
  });

  // Shows DE-21, E18.
  test("is in the deployment's log as well: a warning while attempts are left, an error at last", async () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    const error = vi.spyOn(console, "error").mockReturnValue();
    const world = await newWorld({ retry: { ...retry, maxAttempts: 2, initialBackoffMs: 0 } });
    const { id, worker } = await ended(world, failed);
    expect(warn.mock.calls.flat().join()).toContain("no such key");
    expect(error).not.toHaveBeenCalled();
    await world.advance(500);
    await worker.claim();
    await worker.complete([{ id, attempt: 2, outcome: failed }]);
    expect(error.mock.calls.flat().join()).toContain("no such key");
  });
});

// Shows LF-03, SG-38, E9.
test("a snoozed job is due later, and has used no attempt and no failure", async () => {
  const world = await newWorld({ retry });
  const { id } = await ended(world, { kind: "snoozed", runAfter: 60_000 });
  expect(await world.status(id)).toMatchObject({
    status: "scheduled",
    dueAt: T0 + 60_000,
    failures: 0,
    releases: 1,
  });
});

describe("an attempt that runs longer than its timeoutMs", () => {
  // Shows DE-12.
  test("ends although its worker beats, counts as failed, and its worker keeps its other jobs", async () => {
    const world = await newWorld({ retry: { ...retry, initialBackoffMs: 0 } });
    const [slow, other] = [
      await world.enqueue({}, { rules: { timeoutMs: 15_000 } }),
      await world.enqueue(),
    ];
    const worker = world.worker("a");
    const jobs = await worker.claim(2);
    for (let beat = 0; beat < 6; beat++) {
      await world.advance(3_000);
      await worker.heartbeat(jobs);
    }
    expect(await world.status(slow)).toMatchObject({ status: "pending", failures: 1, resets: 0 });
    expect(await world.status(other)).toMatchObject({ status: "running" });
  });

  test("is timed out for good where no attempt is left, with when it began and ended", async () => {
    const world = await newWorld();
    const id = await world.enqueue({}, { rules: { timeoutMs: 3_000 } });
    await world.worker("a").claim();
    await world.advance(5_000);
    expect(await world.status(id)).toMatchObject({
      status: "timedOut",
      startedAt: T0,
      failures: 1,
    });
    expect((await attempts(world, id)).at(-1)).toMatchObject({ outcome: "timedOut" });
  });
});

describe("an attempt with a lost worker", () => {
  test("is over graceMs later than its lease, and no sooner", async () => {
    const world = await newWorld({ graceMs: 20_000 });
    const id = await world.enqueue();
    const worker = world.worker("a");
    await worker.heartbeat(await worker.claim());
    await world.advance(29_000);
    expect(await world.status(id)).toMatchObject({ status: "running" });
    await world.advance(2_500);
    expect(await world.status(id)).toMatchObject({ status: "pending", resets: 1 });
  });

  // Shows SG-41, F10.
  test("is listed with its worker and its times, and a job that loses every worker ends with a message that says so", async () => {
    const world = await newWorld({ maxResets: 1 });
    const id = await world.enqueue();
    for (const name of ["a", "b"]) {
      const worker = world.worker(name);
      await worker.heartbeat(await worker.claim());
      await world.advance(11_000);
    }
    const status = await world.status(id);
    expect(status).toMatchObject({ status: "timedOut", failures: 0 });
    expect(status).toHaveProperty("error", expect.stringContaining("may be what ends them"));
    expect(await attempts(world, id)).toMatchObject([
      { attempt: 1, outcome: "lost", worker: "a", startedAt: T0 },
      { attempt: 2, worker: "b" },
    ]);
  });
});
