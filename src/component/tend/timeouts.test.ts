/** Attempts that run too long, beside leases that are lost. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Finished } from "../../shared/index.js";
import { failed, leaseOf, newToldWorld, succeeded } from "../setup.test.js";

beforeEach(() => {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const RETRY = { maxAttempts: 2, initialBackoffMs: 1_000, base: 2, maxBackoffMs: 60_000 };

/** As a worker says it that has noticed by itself. */
function tooLong(job: { id: string; attempt: number }): Finished {
  const outcome = { kind: "failed" as const, error: "It took too long.", timedOut: true };
  return { ...leaseOf(job), outcome };
}

describe("an attempt that runs longer than timeoutMs", () => {
  // Rules out P24.
  test("is ended though its session beats, and counts as a failure: the job has timed out", async () => {
    const world = await newToldWorld({ timeoutMs: 12_000, maxResets: 3 });
    const id = await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    for (let i = 0; i < 3; i += 1) {
      expect(await worker.heartbeat([job!])).toEqual(["ok"]);
      await world.advance(3_900);
    }
    expect(await world.status(id)).toMatchObject({ status: "running" });
    await worker.heartbeat([job!]);
    await world.advance(700);
    expect(await world.status(id)).toMatchObject({
      ...{ status: "timedOut", failures: 1, resets: 0 },
      error: 'The attempt ran longer than its timeoutMs, 12000 ms, on worker "a".',
    });
    expect((await world.all("attempts")).map(({ outcome }) => outcome)).toEqual(["timedOut"]);
    expect((await world.all("told")).map(({ status }) => status)).toEqual(["timedOut"]);
    expect(await worker.heartbeat([job!])).toEqual(["leaseLost"]);
    expect((await worker.complete([succeeded(job!)])).words, "its late word").toEqual([
      "leaseLost",
    ]);
  });

  test("is tried again by the retry rule, and with the last it has timed out", async () => {
    const world = await newToldWorld({ timeoutMs: 2_000, retry: RETRY });
    const id = await world.enqueue();
    await world.worker("a").claim();
    // The whole of the backoff: with a jitter near zero it would be over before the check.
    const jitter = vi.spyOn(Math, "random").mockReturnValue(0.99);
    await world.advance(2_300);
    jitter.mockRestore();
    expect(await world.status(id)).toMatchObject({ status: "scheduled", failures: 1 });
    await world.advance(1_300);
    await world.worker("b").claim();
    await world.advance(2_300);
    expect(await world.status(id)).toMatchObject({
      ...{ status: "timedOut", failures: 2 },
      error: expect.stringContaining("maxAttempts is 2"),
    });
  });

  test("has timed out also when its session is the first to notice, and then as well if it says so once more", async () => {
    const world = await newToldWorld({ timeoutMs: 12_000, maxResets: 3 });
    const id = await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    const said = tooLong(job!);
    expect((await worker.complete([said])).words).toEqual(["ok"]);
    expect(await world.status(id)).toMatchObject({
      ...{ status: "timedOut", failures: 1, resets: 0, error: "It took too long." },
    });
    expect((await world.all("attempts")).map(({ outcome }) => outcome)).toEqual(["timedOut"]);
    expect((await world.all("told")).map(({ status }) => status)).toEqual(["timedOut"]);
    expect((await worker.complete([said])).words).toEqual(["recorded"]);
    expect((await worker.complete([succeeded(job!)])).words).toEqual(["leaseLost"]);
  });

  test("is tried again by the same rule when its session notices", async () => {
    const world = await newToldWorld({ timeoutMs: 2_000, retry: RETRY });
    const id = await world.enqueue();
    const worker = world.worker("a");
    await worker.complete([tooLong((await worker.claim())[0]!)]);
    expect(await world.status(id)).toMatchObject({ status: "scheduled", failures: 1 });
    await world.advance(1_300);
    await worker.complete([tooLong((await worker.claim())[0]!)]);
    expect(await world.status(id)).toMatchObject({
      ...{ status: "timedOut", failures: 2 },
      error: expect.stringContaining("maxAttempts is 2"),
    });
  });

  test("has failed where an older worker reports it as any other failure", async () => {
    const world = await newToldWorld({ timeoutMs: 2_000 });
    const id = await world.enqueue();
    const worker = world.worker("a");
    await worker.complete([failed((await worker.claim())[0]!, "It took too long.")]);
    expect(await world.status(id)).toMatchObject({ status: "failed", failures: 1 });
  });

  test("takes none of its session's other leases with it", async () => {
    const world = await newToldWorld();
    const quick = await world.enqueue("quick", { rules: { timeoutMs: 3_000 } });
    const slow = await world.enqueue("slow");
    const worker = world.worker("a");
    const jobs = await worker.claim(2);
    await worker.heartbeat(jobs);
    await world.advance(3_300);
    expect(await world.status(quick)).toMatchObject({ status: "timedOut" });
    expect(await world.status(slow)).toMatchObject({ status: "running" });
    expect(await worker.session()).toMatchObject({ state: "active" });
    expect(await worker.heartbeat(jobs)).toEqual(["leaseLost", "ok"]);
    const other = jobs.find(({ id }) => id === slow)!;
    expect((await worker.complete([succeeded(other)])).words).toEqual(["ok"]);
  });

  test("ends on time although a longer lease had armed the janitor before", async () => {
    const world = await newToldWorld({ leaseMs: 60_000 });
    await world.enqueue("slow");
    await world.worker("slow").claim();
    const quick = await world.enqueue("quick", { rules: { timeoutMs: 2_000 } });
    await world.worker("quick").claim();
    await world.advance(2_300);
    expect(await world.status(quick)).toMatchObject({ status: "timedOut" });
  });

  test("with a report in time is not timed out afterwards", async () => {
    const world = await newToldWorld({ timeoutMs: 2_000, retry: RETRY });
    const id = await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await world.advance(1_900);
    await worker.complete([failed(job!)]);
    await world.advance(200);
    expect(await world.job(id)).toMatchObject({ failures: 1 });
  });

  test("begins another round in a circular queue without a retry rule", async () => {
    const world = await newToldWorld({ timeoutMs: 2_000, circular: true });
    const id = await world.enqueue();
    await world.worker("a").claim();
    await world.advance(2_300);
    expect(await world.job(id)).toMatchObject({ status: "pending", rounds: 1, failures: 1 });
  });

  test("and was to be canceled is canceled", async () => {
    const world = await newToldWorld({ timeoutMs: 2_000, retry: RETRY });
    const id = await world.enqueue();
    await world.worker("a").claim();
    await world.cancel(id);
    await world.advance(2_300);
    expect(await world.status(id)).toMatchObject({ status: "canceled", failures: 0 });
  });

  // Rules out P24.
  test("is a failure and no reset, if its session vanished after that", async () => {
    const world = await newToldWorld({ leaseMs: 10_000, maxResets: 3 });
    const id = await world.enqueue("x", { rules: { timeoutMs: 9_950 } });
    const worker = world.worker("a");
    await worker.heartbeat(await worker.claim());
    // The sweep comes late, and finds both over.
    await world.stopAlarms();
    await world.advance(14_000);
    await world.enqueue("another");
    const other = world.worker("b");
    await other.claim(5);
    await other.tend();
    expect(await world.job(id)).toMatchObject({ status: "timedOut", failures: 1, resets: 0 });
  });
});

describe("a lost session", () => {
  test("is given graceMs more than its worker thinks it has", async () => {
    const world = await newToldWorld({ leaseMs: 5_000, graceMs: 4_000, maxResets: 3 });
    const id = await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    expect(job).toMatchObject({ leaseMs: 5_000 });
    await worker.heartbeat([job!]);
    await world.advance(8_500);
    expect(await world.status(id)).toMatchObject({ status: "running" });
    await world.advance(1_000);
    expect(await world.status(id)).toMatchObject({ status: "pending", resets: 1 });
  });

  test("of a poisonous job is one too many in the end, and the error says how many it has lost", async () => {
    const world = await newToldWorld({ maxResets: 2 });
    const id = await world.enqueue();
    for (const name of ["a", "b", "c"]) {
      const worker = world.worker(name);
      await worker.heartbeat(await worker.claim());
      await world.advance(10_500);
    }
    expect(await world.status(id)).toMatchObject({
      ...{ status: "timedOut", resets: 2, failures: 0 },
      error: expect.stringMatching(
        /^Worker "c" was not heard of for 10000 ms, and the job had lost 2 workers before that one: it is given up, since maxResets is 2\./,
      ),
    });
    expect((await world.all("attempts")).map(({ outcome }) => outcome)).toEqual([
      ...["lost", "lost", "lost"],
    ]);
  });

  test("follows the job's own maxResets before its queue's", async () => {
    const world = await newToldWorld({ maxResets: 5 });
    const id = await world.enqueue({}, { rules: { maxResets: 0 } });
    const worker = world.worker("a");
    await worker.heartbeat(await worker.claim());
    await world.advance(10_500);
    expect(await world.status(id)).toMatchObject({ status: "timedOut" });
  });

  test("is an event: the worker, its silence, and the ends of the jobs", async () => {
    const world = await newToldWorld({ maxResets: 3 });
    const [one, two] = await world.enqueueBatch([1, 2]);
    const worker = world.worker("a");
    const jobs = await worker.claim(2);
    await worker.heartbeat(jobs);
    await world.cancel(two!);
    await world.advance(10_500);
    const [event] = await world.all("events");
    expect(event).toMatchObject({
      kind: "leasesEnded",
      message: expect.stringContaining('2 leases of worker "a" were ended'),
      details: { worker: "a", isLost: true, reset: [one], canceled: [two], failed: [] },
    });
    const { silentMs } = event!.details as { silentMs: number };
    expect(silentMs).toBeGreaterThan(10_000);
  });
});
