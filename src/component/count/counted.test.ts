/**
 * A transaction that ends a job ensures that it is counted, and then deleted, also where its queue is never used again.
 */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { QueueConfig } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { app, newToldWorld, newWorld, succeeded, type Worker, type World } from "../setup.test.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const RETENTION = { succeededMs: 0, failedMs: 0, canceledMs: 0, timedOutMs: 0 };

beforeEach(() => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** Nothing is leased or ended any more. */
async function checkCounted(world: World, count: number): Promise<void> {
  await world.advance(2 * MINUTE);
  const minutes = await world.minutes();
  const sum = minutes.reduce((n, m) => n + m.succeeded + m.failed + m.canceled + m.timedOut, 0);
  expect(sum, "jobs that were counted").toBe(count);
  const ended = (await world.all("jobs")).filter(({ finishedAt }) => finishedAt !== undefined);
  expect(ended, "and deleted when their time came").toEqual([]);
}

async function claimed(world: World, worker: Worker) {
  const [job] = await worker.claim();
  await worker.heartbeat([job!]);
  return job!;
}

async function inAnotherQueue(
  world: World,
  config: Partial<QueueConfig>,
  work: () => Promise<unknown>,
) {
  const declared = { ...world.queue };
  Object.assign(world.queue, { name: "others", config: { ...declared.config, ...config } });
  await work();
  Object.assign(world.queue, declared);
}

/** The sweep is lost. A worker that finds nothing in its own queue has the work tended. */
async function tended(world: World): Promise<void> {
  await inAnotherQueue(world, {}, async () => {
    const other = world.worker("other");
    await other.claim();
    expect(other.isLate).toBe(true);
    await other.tend();
  });
}

/** Sweeps go on, and check that queue. */
async function keepSweeping(world: World): Promise<void> {
  await inAnotherQueue(world, { leaseMs: HOUR, timeoutMs: HOUR }, async () => {
    await world.enqueue();
    await claimed(world, world.worker("other"));
  });
}

/** A job ends in each of so many queues. */
export async function endInQueues(count: number): Promise<void> {
  const world = await newWorld({ retention: RETENTION });
  for (let n = 0; n < count; n += 1) {
    world.queue.name = `tiles-${n}`;
    await world.enqueue();
    const worker = world.worker(`w${n}`);
    await worker.complete((await worker.claim()).map((job) => succeeded(job)));
  }
  await checkCounted(world, count);
}

describe.each([
  ["by the last sweep", () => Promise.resolve()],
  ["by a sweep that others follow for other queues", keepSweeping],
])("a job that is ended %s", (_, before) => {
  // Rules out D31b.
  test("since its worker was lost once too often", async () => {
    const world = await newWorld({ maxResets: 0, retention: RETENTION });
    await before(world);
    await world.enqueue();
    await claimed(world, world.worker("a"));
    await checkCounted(world, 1);
  });

  test("since its cancel had been requested, and the worker is gone", async () => {
    const world = await newWorld({ maxResets: 3, retention: RETENTION });
    await before(world);
    const id = await world.enqueue();
    await claimed(world, world.worker("a"));
    await world.cancel(id);
    await checkCounted(world, 1);
  });

  test("since it ran too long, though the worker lives", async () => {
    const world = await newWorld({ timeoutMs: 4 * SECOND, retention: RETENTION });
    await before(world);
    await world.enqueue();
    await claimed(world, world.worker("a"));
    await checkCounted(world, 1);
  });
});

describe("a job that is ended without its worker", () => {
  // Rules out D31b.
  test("by a worker of another queue, since the sweep is late", async () => {
    const world = await newWorld({ maxResets: 0, retention: RETENTION });
    const id = await world.enqueue();
    const worker = world.worker("a");
    await claimed(world, worker);
    await world.stopAlarms();
    await world.advance(14_000);
    await tended(world);
    expect((await world.job(id)).status).toBe("timedOut");
    await checkCounted(world, 1);
  });

  test("but not while it is to be tried again: nothing is armed that would find nothing", async () => {
    const retry = { maxAttempts: 2, initialBackoffMs: MINUTE, base: 2, maxBackoffMs: MINUTE };
    const world = await newWorld({ timeoutMs: 4 * SECOND, retry });
    const id = await world.enqueue();
    await claimed(world, world.worker("a"));
    vi.spyOn(Math, "random").mockReturnValue(0.99);
    await world.advance(5 * SECOND);
    expect((await world.job(id)).status).toBe("scheduled");
    const kinds = (await world.all("timers")).map(({ kind }) => kind);
    expect(kinds).not.toContain("rollUp");
  });
});

describe("a job with a recorded outcome", () => {
  test("before its worker was lost with another, which a worker of another queue finds", async () => {
    const world = await newWorld({ maxResets: 3, retention: RETENTION });
    await world.enqueueBatch([1, 2]);
    const worker = world.worker("a");
    const [one] = await worker.claim(2);
    await worker.complete([succeeded(one!)]);
    await world.stopAlarms();
    await world.advance(14_000);
    await tended(world);
    expect((await worker.session()).state).toBe("gone");
    await checkCounted(world, 1);
  });

  test("in one of several queues, the last of all", async () => {
    await endInQueues(6);
  });

  // Rules out D31b.
  test("by itself, long after its worker's last call", async () => {
    const world = await newWorld({ leaseMs: 10 * MINUTE, retention: RETENTION });
    await world.enqueue();
    const worker = world.worker("a");
    const job = await claimed(world, worker);
    await world.skipTo(Date.now() + 3 * MINUTE);
    const { token, sessionKey } = worker;
    await world.t.mutation(api.lib.completeLater, { token, sessionKey, finished: succeeded(job) });
    await world.settle();
    expect((await world.job(job.id)).status).toBe("succeeded");
    await checkCounted(world, 1);
  });
});

test("a job that has expired: a claim that finds it passes over it, and its alarm ends it", async () => {
  const world = await newWorld({ retention: RETENTION });
  const id = await world.enqueue({}, { expiresAfterMs: SECOND });
  vi.setSystemTime(Date.now() + SECOND);
  await world.worker("a").claim();
  expect((await world.job(id)).status).toBe("pending");
  await world.advance(2 * SECOND);
  expect((await world.job(id)).status).toBe("failed");
  await checkCounted(world, 1);
});

test("jobs that are canceled, one and many", async () => {
  const world = await newWorld({ retention: RETENTION });
  const [one] = await world.enqueueBatch([1, 2, 3]);
  await world.cancel(one!);
  await checkCounted(world, 1);
  const args = { queue: "tiles", filter: {} };
  await world.t.mutation(api.operate.cancelMany, args);
  await checkCounted(world, 3);
});

test("a job that a callback cancels and deletes at once is counted all the same", async () => {
  const world = await newToldWorld();
  const [one, other] = await world.enqueueBatch([1, 2]);
  await world.advance(30_000);
  app.onComplete = async (ctx, { id }) => {
    if (id !== one) return;
    await ctx.runMutation(api.operate.cancelJob, { id: other });
    await ctx.runMutation(api.operate.deleteJob, { id: other });
  };
  const worker = world.worker("a");
  const [job] = await worker.claim(1);
  await worker.complete([succeeded(job!)]);
  expect(await world.job(one!)).toMatchObject({ status: "succeeded" });
  await world.advance(90_000);
  const minutes = await world.minutes();
  const sum = (key: "succeeded" | "canceled") =>
    minutes.reduce((total, minute) => total + minute[key], 0);
  expect([sum("succeeded"), sum("canceled")]).toEqual([1, 1]);
});

test("an end that is deleted before it was counted keeps its own times", async () => {
  const world = await newWorld();
  await world.enqueue();
  const worker = world.worker("a");
  const [job] = await worker.claim();
  vi.setSystemTime(Date.now() + SECOND);
  await worker.complete([succeeded(job!)]);
  const { startedAt, finishedAt } = await world.job(job!.id);
  vi.setSystemTime(Date.now() + 7 * SECOND);
  await world.t.mutation(api.operate.deleteJob, { id: job!.id });
  const [row] = await world.all("ended");
  expect(row).toMatchObject({ job: job!.id, startedAt, finishedAt });
  expect([startedAt, finishedAt]).not.toContain(undefined);
  expect(Math.abs(row!.endedAt - finishedAt!)).toBeLessThan(SECOND);
});
