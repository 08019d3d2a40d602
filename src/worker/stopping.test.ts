/** How a handler gets its signal to stop while its lease stands, and how its end counts then. */
import { describe, expect, test } from "vitest";
import type { Attempts } from "./attempts.js";
import { Cancellations } from "./cancellations.js";
import { NonRetryableError, RetryAfterError } from "../shared/index.js";
import { JobAborted } from "./control.js";
import { FakeClock, manual, startLoop } from "./fakes.test.js";
import { GOODBYE_MS } from "./limits.js";

/** A job that is running, long enough for its worker to listen for cancellations. */
async function oneRunning(options: Parameters<typeof startLoop>[1] = { leaseMs: 60_000 }) {
  const { begun, handler } = manual();
  const started = startLoop(handler, options);
  const id = started.deployment.enqueue();
  await started.clock.advance(1_000);
  return { ...started, id, job: begun[0]! };
}

describe("a canceled job that runs", () => {
  // Shows SG-37, D20, F12.
  // Rules out D29.
  test("gets its signal at once through the subscription, long before a beat would say so", async () => {
    const { clock, deployment, job, kinds, callsOf, id } = await oneRunning();
    deployment.cancel(id);
    await clock.advance(10);
    expect(job.signal.reason).toBeInstanceOf(JobAborted);
    expect(job.signal.reason).toMatchObject({ reason: "canceled" });
    expect(kinds("aborted")).toMatchObject([{ id, reason: "canceled" }]);
    expect(callsOf("heartbeat")).toEqual([]);
  });

  // Shows SG-37, WP-10, F13.
  test("ends as canceled when its handler throws any error", async () => {
    const { clock, deployment, job, id } = await oneRunning();
    deployment.cancel(id);
    await clock.advance(10);
    job.reject(new Error("aborted"));
    await clock.advance(100);
    expect(deployment.outcomeOf(id)).toEqual({ kind: "canceled" });
  });

  test("succeeds all the same when its handler brings a result: the work is done", async () => {
    const { clock, deployment, job, id } = await oneRunning();
    deployment.cancel(id);
    await clock.advance(10);
    job.resolve("done");
    await clock.advance(100);
    expect(deployment.outcomeOf(id)).toEqual({ kind: "succeeded", result: "done" });
  });

  test("is given up after five seconds if its handler does not listen, and its slot is free", async () => {
    const { clock, deployment, id, kinds } = await oneRunning();
    deployment.cancel(id);
    await clock.advance(5_100);
    expect(kinds("handlerAbandoned")).toMatchObject([{ id }]);
    expect(deployment.outcomeOf(id)).toEqual({ kind: "canceled" });
  });

  test("hears of it with the next beat where the subscription fails, and is kept alive until it has stopped", async () => {
    const { clock, deployment, id, job } = await oneRunning({ leaseMs: 6_000 });
    deployment.failCancellations(new Error("gone"));
    deployment.canceled.add(id);
    await clock.advance(2_000);
    expect(job.signal.reason).toMatchObject({ reason: "canceled" });
    await clock.advance(1_000);
    expect(deployment.held.has(id)).toBe(true);
  });

  test("before its claim has arrived never begins, and has the events claimed, aborted and recorded", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, events } = startLoop(handler, { concurrency: 2, leaseMs: 60_000 });
    deployment.enqueue();
    await clock.advance(1_000);
    deployment.fault = (call) => (call === "claim" && clock.now() < 1_100 ? "after" : undefined);
    const id = deployment.enqueue();
    await clock.advance(60);
    deployment.cancel(id);
    await clock.advance(2_000);
    expect(begun).toHaveLength(1);
    expect(deployment.outcomeOf(id)).toEqual({ kind: "canceled" });
    const told = events.filter((event) =>
      [event, ...("jobs" in event ? event.jobs : [])].some((one) => "id" in one && one.id === id),
    );
    expect(told.map(({ kind }) => kind)).toEqual(["claimed", "aborted", "recorded"]);
  });

  test("needs no subscription if it is short: a worker of short jobs makes none", async () => {
    const { clock, deployment } = startLoop(async () => null);
    for (let i = 0; i < 50; i++) {
      deployment.enqueue();
      await clock.advance(100);
    }
    expect(deployment.watchers).toBe(0);
  });

  test("is listened for by one subscription, however many jobs come and go", async () => {
    const { begun, handler } = manual();
    const { clock, deployment } = startLoop(handler, { leaseMs: 60_000 });
    for (let i = 0; i < 5; i++) {
      deployment.enqueue();
      await clock.advance(1_000);
      begun[i]!.resolve();
      await clock.advance(100);
    }
    expect(deployment.watchers).toBe(1);
  });
});

describe("a job that runs longer than its timeoutMs", () => {
  const withTimeout = async () => {
    const { begun, handler } = manual();
    const started = startLoop(handler, { leaseMs: 60_000 });
    const id = started.deployment.enqueue(null, "tiles", { timeoutMs: 5_000 });
    await started.clock.advance(4_900);
    return { ...started, id, job: begun[0]! };
  };

  // Shows DE-17, SG-37, SG-43.
  test("gets its signal when its time is over since the claim was sent, and counts as failed, to be tried again", async () => {
    const { clock, deployment, id, job, callsOf } = await withTimeout();
    expect(job.signal.aborted).toBe(false);
    await clock.advance(callsOf("claim").at(-1)!.at + 5_000 - clock.now());
    expect(job.signal.reason).toMatchObject({ reason: "timedOut" });
    job.reject(job.signal.reason);
    await clock.advance(100);
    expect(deployment.outcomeOf(id)).toEqual({
      kind: "failed",
      error: "The attempt ran longer than its timeoutMs, 5000 ms.",
      timedOut: true,
    });
  });

  test("may still bring a result: whether it comes too late is the deployment's to say", async () => {
    const { clock, deployment, id, job } = await withTimeout();
    await clock.advance(200);
    job.resolve("late");
    await clock.advance(100);
    expect(deployment.outcomeOf(id)).toMatchObject({ kind: "succeeded" });
  });

  test("gets no signal when it ends in time", async () => {
    const { clock, deployment, id, job, kinds } = await withTimeout();
    job.resolve("in time");
    await clock.advance(10_000);
    expect(deployment.outcomeOf(id)).toMatchObject({ kind: "succeeded" });
    expect(kinds("aborted")).toEqual([]);
  });
});

describe("an error of a handler", () => {
  test.each([
    [new NonRetryableError("no"), { kind: "failed", error: "no", retryable: false }],
    [new RetryAfterError(5_000, "busy"), { kind: "failed", error: "busy", retryAfterMs: 5_000 }],
    [Object.assign(new Error("no"), { name: "NonRetryableError" }), { retryable: false }],
    [Object.assign(new Error("no"), { retryAfterMs: 5 }), { kind: "failed", error: "no" }],
  ])("%s is an outcome", async (thrown, outcome) => {
    const { clock, deployment } = startLoop(async () => {
      throw thrown;
    });
    const id = deployment.enqueue();
    await clock.advance(100);
    expect(deployment.outcomeOf(id)).toMatchObject(outcome);
    const trace = expect.stringMatching(/^Error: no\n/);
    if (thrown.name === "Error") expect(deployment.outcomeOf(id)).toEqual({ ...outcome, trace });
  });

  // Shows SG-38, E9.
  test("snooze gives the job back until later", async () => {
    const { clock, deployment } = startLoop(({ snooze }) => snooze(60_000));
    const id = deployment.enqueue();
    await clock.advance(100);
    expect(deployment.outcomeOf(id)).toEqual({ kind: "snoozed", runAfter: 60_000 });
  });

  test.each([-1, 0.5, Number.NaN, 1e15])(
    "snooze(%s) is a mistake, and fails the job",
    async (ms) => {
      const { clock, deployment } = startLoop(({ snooze }) => snooze(ms));
      const id = deployment.enqueue();
      await clock.advance(100);
      expect(deployment.outcomeOf(id)).toMatchObject({ kind: "failed" });
    },
  );
});

test("a job that begins shortly before a short one ends is listened for from half a second on, and no later", async () => {
  const clock = new FakeClock();
  const begun = [{ startedAt: clock.now() }];
  let watchedAt: number | undefined;
  const cancellations = new Cancellations({
    clock,
    attempts: { running: () => begun } as unknown as Attempts,
    transport: {
      watchCancellations: () => {
        watchedAt = clock.now();
        return () => {};
      },
    },
    failed: () => {},
  });
  const from = clock.now();
  cancellations.changed();
  await clock.advance(300);
  begun.splice(0, 1, { startedAt: clock.now() });
  cancellations.changed();
  await clock.advance(499);
  expect(watchedAt).toBeUndefined();
  await clock.advance(1);
  expect(watchedAt).toBe(from + 800);
});

test("word of a cancellation that comes before its job does is not lost: it is said again when jobs come", async () => {
  const clock = new FakeClock();
  const told: string[] = [];
  let tell: (leases: { id: string; attempt: number }[]) => void = () => {};
  const cancellations = new Cancellations({
    clock,
    attempts: {
      running: () => [{ startedAt: -1_000 }],
      cancel: ({ id }: { id: string }) => told.push(id),
    } as unknown as Attempts,
    transport: {
      watchCancellations: (onValue) => {
        tell = onValue;
        return () => {};
      },
    },
    failed: () => {},
  });
  cancellations.changed();
  await clock.advance(1_000);
  tell([{ id: "early", attempt: 1 }]);
  expect(told).toEqual(["early"]);
  cancellations.changed();
  expect(told).toEqual(["early", "early"]);
});

describe("a worker that stops", () => {
  // Rules out D17.
  test("says that its session is over, after all of its calls, even one that it gave up", async () => {
    const { clock, deployment, loop, callsOf, end } = startLoop(async () => null);
    await clock.advance(1_000);
    deployment.fault = (call) => (call === "claim" ? "after" : undefined);
    deployment.enqueue();
    await clock.advance(100);
    const last = Math.max(...callsOf("claim").map(({ n }) => n!));
    deployment.fault = () => undefined;
    loop.stop(0);
    await clock.advance(10_000);
    expect(end.value).toEqual({});
    const said = callsOf("heartbeat").filter(({ leaving }) => leaving !== undefined);
    expect(said).toMatchObject([{ ids: [] }]);
    expect(said[0]!.leaving).toBeGreaterThan(last);
  });

  test.each(["before", "after", new Error("no such argument")] as const)(
    "has stopped all the same where that word comes to %s",
    async (fault) => {
      const { clock, deployment, loop, end } = startLoop(async () => null);
      await clock.advance(1_000);
      deployment.fault = (call) => (call === "heartbeat" ? fault : undefined);
      loop.stop(0);
      await clock.advance(100);
      expect(end.value).toEqual({});
    },
  );

  test("waits a moment for the answer, and no longer", async () => {
    const { clock, deployment, loop, end } = startLoop(async () => null);
    await clock.advance(1_000);
    deployment.heartbeat = () => new Promise(() => {});
    loop.stop(0);
    await clock.advance(GOODBYE_MS - 100);
    expect(end.value).toBeUndefined();
    await clock.advance(200);
    expect(end.value).toEqual({});
  });
});
