/** A job's deadline: everything from the enqueue on. Seen from outside, on the real component. */
import { describe, expect, test, vi } from "vitest";
import type { JobOptions, Outcome } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { leaseOf, newToldWorld, newWorld, refusal, T0, type World } from "../setup.test.js";

const deadlineMs = 10_000;
const exceeded = { status: "timedOut", code: "deadlineExceeded" };
const failed: Outcome = { kind: "failed", error: "no such key" };

/** Time goes by, and no alarm comes. */
const passQuietly = (ms: number) => void vi.setSystemTime(Date.now() + ms);

async function why({ t }: World, id: string) {
  return (await t.query(api.observe.why, { id }))!.reasons;
}

async function pauseQueue({ t, queue: { name } }: World): Promise<void> {
  await t.mutation(api.operate.pauseQueue, { queue: name });
}

/** Enqueues a job with a deadline and has a worker begin it. */
async function begun(world: World, options: JobOptions = {}) {
  const id = await world.enqueue({}, { deadlineMs, ...options });
  const worker = world.worker("a");
  const [job] = await worker.claim();
  return { id, worker, job: job! };
}

describe("a job that waits at its deadline has timed out, and says that this is why", () => {
  test.each<[string, JobOptions, (world: World, id: string) => Promise<unknown>]>([
    ["claimable", {}, async () => null],
    ["due later", { runAfter: 9_000 }, async () => null],
    [
      "backing off, or given back",
      {},
      async (world) => {
        const worker = world.worker("a");
        const [job] = await worker.claim();
        await worker.complete([
          { id: job!.id, attempt: 1, outcome: { kind: "snoozed", runAfter: 9_900 } },
        ]);
      },
    ],
  ])("%s", async (_how, options, before) => {
    const world = await newWorld();
    const id = await world.enqueue({}, { deadlineMs, ...options });
    await before(world, id);
    await world.advance(9_900);
    expect(await world.status(id)).not.toMatchObject({ status: "timedOut" });
    await world.advance(2_500);
    expect(await world.status(id)).toMatchObject({
      ...exceeded,
      error: "The job did not end in time: it had 10000 ms from its enqueue on (deadlineMs).",
      deadlineAt: T0 + deadlineMs,
    });
    expect(await world.all("expiries")).toEqual([]);
  });

  test.each<[string, (world: World, id: string) => Promise<unknown>]>([
    ["its queue is paused", async (world) => await pauseQueue(world)],
    ["it is paused", async ({ t }, id) => await t.mutation(api.operate.pauseJob, { id })],
    ["it names no handler, in a queue that Convex works off", async () => null],
  ])("also where %s", async (_how, before) => {
    const world = await newToldWorld({ push: true });
    const id = await world.enqueue({}, { deadlineMs });
    await before(world, id);
    await world.advance(12_000);
    expect(await world.status(id)).toMatchObject({ ...exceeded, attempt: 0 });
    const told = await world.all("told");
    expect(told).toMatchObject([{ id, status: "timedOut" }]);
    expect(await why(world, id)).toMatchObject([
      { kind: "ended", text: expect.stringContaining("(deadlineMs)") },
    ]);
  });

  test("before its alarm comes, `why` says that it is about to be ended", async () => {
    const world = await newWorld();
    const id = await world.enqueue({}, { deadlineMs });
    passQuietly(deadlineMs);
    expect(await why(world, id)).toMatchObject([
      {
        kind: "expired",
        text: expect.stringContaining("It did not finish by 2026-01-01 00:00:10"),
      },
    ]);
  });

  test("it frees its key, and may have been replaced before by one with a time of its own", async () => {
    const world = await newWorld();
    const key = { value: "k", onConflict: "replace" } as const;
    const first = await world.enqueue({}, { deadlineMs, key });
    await world.advance(5_000);
    const second = await world.enqueue({}, { deadlineMs, key });
    await world.advance(7_000);
    expect(await world.status(first)).toMatchObject({ status: "canceled" });
    expect(await world.status(second)).toMatchObject({ status: "pending" });
    await world.advance(5_000);
    expect(await world.status(second)).toMatchObject(exceeded);
    expect(await world.all("keys")).toEqual([]);
  });

  test("a claim that finds it before the alarm does passes over it, and the alarm ends it", async () => {
    const world = await newWorld();
    const id = await world.enqueue({}, { deadlineMs });
    passQuietly(deadlineMs);
    expect(await world.worker("a").claim()).toEqual([]);
    expect(await world.status(id)).toMatchObject({ status: "pending", attempt: 0 });
    await world.advance(deadlineMs + 1_100);
    expect(await world.status(id)).toMatchObject(exceeded);
  });
});

describe("a job that runs at its deadline", () => {
  test("has no more time for its attempt than it has itself, under any timeoutMs", async () => {
    const world = await newWorld({ timeoutMs: 60_000 });
    const { id, worker, job } = await begun(world);
    expect(job.timeoutMs).toBe(deadlineMs);
    for (let beats = 0; beats < 5; beats += 1) {
      await world.advance(2_500);
      await worker.heartbeat([{ id, attempt: 1 }]);
    }
    expect(await world.status(id)).toMatchObject(exceeded);
    const said = await worker.complete([{ id, attempt: 1, outcome: { kind: "succeeded" } }]);
    expect(said.answers).toMatchObject([{ answer: "leaseLost" }]);
  });

  test("keeps a shorter timeoutMs", async () => {
    const world = await newWorld({ timeoutMs: 2_000 });
    expect((await begun(world)).job.timeoutMs).toBe(2_000);
  });

  test("ends where its worker says that the time is over, or gives it back too late", async () => {
    const retry = { maxAttempts: 5, initialBackoffMs: 0, base: 1, maxBackoffMs: 0 };
    for (const outcome of [
      { kind: "failed", error: "too long", timedOut: true },
      { kind: "released" },
      { kind: "snoozed", runAfter: 0 },
    ] as const) {
      const world = await newWorld({ retry });
      const { id, worker } = await begun(world);
      passQuietly(deadlineMs);
      await worker.complete([{ id, attempt: 1, outcome }]);
      expect(await world.status(id)).toMatchObject(exceeded);
    }
  });

  test("may succeed until its lease is ended", async () => {
    const world = await newWorld();
    const { id, worker } = await begun(world);
    passQuietly(deadlineMs);
    await worker.complete([{ id, attempt: 1, outcome: { kind: "succeeded" } }]);
    expect(await world.status(id)).toMatchObject({ status: "succeeded" });
  });
});

test("a job that fails is over at once where the next attempt would begin behind its deadline", async () => {
  const retry = { maxAttempts: 5, initialBackoffMs: 20_000, base: 1, maxBackoffMs: 20_000 };
  const world = await newWorld({ retry: { ...retry, jitter: "none" } });
  const { id, worker } = await begun(world);
  await worker.complete([{ id, attempt: 1, outcome: failed }]);
  expect(await world.status(id)).toMatchObject({
    ...exceeded,
    failures: 1,
    error: "no such key (not retried, since it had 10000 ms from its enqueue on (deadlineMs))",
  });
});

test("an attempt that ran out of its own time beside the deadline is tried again while there is time", async () => {
  const retry = { maxAttempts: 5, initialBackoffMs: 0, base: 1, maxBackoffMs: 0 };
  const world = await newWorld({ retry, timeoutMs: 1_000 });
  const { id, worker } = await begun(world, { deadlineMs: 1_500 });
  passQuietly(1_000);
  const outcome = { kind: "failed", error: "too long", timedOut: true } as const;
  await worker.complete([{ id, attempt: 1, outcome }]);
  expect(await world.status(id)).toMatchObject({ status: "scheduled", failures: 1 });
});

test("the worker that runs it learns by its beat that it lost the job, and the app once that it has timed out", async () => {
  const world = await newToldWorld({ timeoutMs: 600_000 });
  const { id, worker } = await begun(world);
  const answers: string[] = [];
  for (let beats = 0; beats < 6; beats += 1) {
    await world.advance(2_500);
    answers.push(...(await worker.heartbeat([{ id, attempt: 1 }])));
  }
  expect([...new Set(answers)]).toEqual(["ok", "leaseLost"]);
  expect(await world.all("told")).toMatchObject([
    { id, status: "timedOut", error: expect.stringContaining("(deadlineMs)") },
  ]);
});

test("a job that is wanted no more at its deadline ends as canceled", async () => {
  const world = await newWorld();
  const { id } = await begun(world);
  await world.cancel(id);
  await world.advance(12_500);
  expect(await world.status(id)).toMatchObject({ status: "canceled" });
});

test("a job to follow has a deadline of its own", async () => {
  const world = await newWorld();
  const { id, worker, job } = await begun(world);
  await world.advance(5_000);
  const jobs = [{ payload: "next", options: { deadlineMs } }];
  const outcome = { kind: "succeeded" } as const;
  await worker.heartbeat([{ id, attempt: 1 }]);
  await worker.complete([{ ...leaseOf(job), outcome, continued: [{ queue: world.queue, jobs }] }]);
  const [last] = (await world.all("jobs")).slice(-1);
  expect(last!.deadline).toEqual({ ms: deadlineMs, at: T0 + 5_000 + deadlineMs });
  await world.advance(12_000);
  expect(await world.status(last!._id)).toMatchObject(exceeded);
  expect(await world.status(id)).toMatchObject({ status: "succeeded" });
});

test("a job's own deadline goes before its queue's", async () => {
  const world = await newWorld({ deadlineMs: 60_000 });
  expect(await world.status(await world.enqueue())).toMatchObject({ deadlineAt: T0 + 60_000 });
  const own = await world.enqueue({}, { deadlineMs });
  expect(await world.status(own)).toMatchObject({ deadlineAt: T0 + deadlineMs });
});

test.each([999, 1.5, NaN, Infinity, 126_489_600_001])("refuses a deadlineMs of %d", async (ms) => {
  const world = await newWorld();
  expect(await refusal(world.enqueue({}, { deadlineMs: ms }))).toMatchObject({
    ...{ code: "invalidArgument", argument: "deadlineMs" },
    message: expect.stringMatching(/deadlineMs must be .* from 1000 to 126489600000; got /),
  });
  expect(await world.all("jobs")).toEqual([]);
});

test("a job that was put in with an expiry too is ended by whichever comes first", async () => {
  const world = await newWorld();
  const both = { deadlineMs, expiresAfterMs: 2_000 };
  const id = await world.enqueue({}, both);
  await world.advance(4_000);
  expect(await world.status(id)).toMatchObject({ status: "failed" });
  await world.advance(10_000);
  expect(await world.status(id)).toMatchObject({ status: "failed" });
  expect(await world.all("expiries")).toEqual([]);
});

test("a retry by hand begins the deadline anew", async () => {
  const world = await newWorld();
  const id = await world.enqueue({}, { deadlineMs });
  await world.advance(12_500);
  expect(await world.status(id)).toMatchObject(exceeded);
  const at = Date.now();
  await world.t.mutation(api.operate.retryJob, { id });
  const again = await world.status(id);
  expect(again).toMatchObject({ status: "pending", deadlineAt: at + deadlineMs });
  expect(again).not.toHaveProperty("code");
  await world.advance(12_500);
  expect(await world.status(id)).toMatchObject(exceeded);
});

describe("a job that falls due behind its deadline is refused, with the rule, the value and the way out", () => {
  const said = (dueInMs: number) => ({
    ...{ code: "invalidArgument", argument: "deadlineMs", got: deadlineMs, dueInMs },
    message:
      `A job must fall due before its deadline; this one is due in ${dueInMs} ms, and deadlineMs is 10000, counted ` +
      "from the enqueue on. Give it a longer deadlineMs, or let it fall due earlier.",
  });

  test.each<[string, JobOptions, number]>([
    ["by runAfter", { runAfter: 10_000 }, 10_000],
    ["by runAt", { runAt: T0 + 12_345 }, 12_345],
    ["by the fraction of a millisecond", { runAt: T0 + 10_000.5 }, 10_001],
  ])("%s", async (_how, options, dueInMs) => {
    const world = await newWorld();
    expect(await refusal(world.enqueue({}, { deadlineMs, ...options }))).toEqual(said(dueInMs));
    expect(await world.all("jobs")).toEqual([]);
  });

  test("by the deadline of its queue, and not where its own is longer", async () => {
    const world = await newWorld({ deadlineMs });
    const late = { runAt: T0 + 10_000 };
    expect(await refusal(world.enqueue({}, late))).toEqual(said(10_000));
    const id = await world.enqueue({}, { ...late, deadlineMs: 10_001 });
    expect(await world.status(id)).toMatchObject({ status: "scheduled" });
  });
});

test("a job without a deadline is written as it was, field by field, and has no row beside it", async () => {
  const world = await newWorld();
  const id = await world.enqueue({}, {});
  const [row] = await world.all("jobs");
  expect(row!._id).toBe(id);
  expect(Object.keys(row!).sort()).toEqual(
    "_creationTime _id attempt enqueuedAt order payload queue seq shard status".split(" "),
  );
  expect(await world.all("expiries")).toEqual([]);
  expect(await world.all("timers")).toEqual([]);
});

test("the items of a ring have none", async () => {
  const ring = await newWorld({ circular: true, deadlineMs });
  await expect(ring.enqueue()).rejects.toThrow(/Use timeoutMs/);
  const world = await newWorld({ circular: true });
  await expect(world.enqueue({}, { deadlineMs })).rejects.toThrow(/Use timeoutMs/);
});

test("a job of before its queue became a ring has no deadline from its first round on", async () => {
  const world = await newWorld({ leaseMs: 120_000 });
  const id = await world.enqueue({}, { deadlineMs: 70_000 });
  const worker = world.worker("a");
  await worker.claim();
  await world.advance(61_000);
  world.queue.config = { ...world.queue.config, circular: true };
  await world.enqueue();
  await world.advance(1_000);
  await worker.complete([{ id, attempt: 1, outcome: { kind: "succeeded" } }]);
  await world.advance(10_000);
  expect(await world.status(id)).toMatchObject({ status: "pending", rounds: 1 });
  expect(await world.all("expiries")).toEqual([]);
});
