/** Rare ends of attempts: rings and cancellations, jobs that are gone, sessions that are both silent and late. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ATTEMPTS_KEPT, type Finished } from "../../shared/index.js";
import { api, internal } from "../_generated/api.js";
import { app, leaseOf, newToldWorld, newWorld, released, succeeded } from "../setup.test.js";

beforeEach(() => {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const LARGE = "x".repeat(600);
const RING = { circular: true, shards: 1 };

test("an item that is asked to end has had its last round, also if that succeeds", async () => {
  const world = await newToldWorld(RING);
  const id = await world.enqueue();
  const worker = world.worker("a");
  const [job] = await worker.claim();
  await world.cancel(id);
  await worker.complete([succeeded(job!, 1)]);
  expect(await world.status(id)).toMatchObject({ status: "succeeded", result: 1 });
});

test("an item with a worker that reports further attempts as hopeless leaves the ring", async () => {
  const world = await newToldWorld(RING);
  const id = await world.enqueue();
  const worker = world.worker("a");
  const [job] = await worker.claim();
  const hopeless: Finished = {
    ...leaseOf(job!),
    outcome: { kind: "failed", error: "gone", retryable: false },
  };
  await worker.complete([hopeless]);
  expect(await world.status(id)).toMatchObject({ status: "failed", error: "gone" });
});

test("the result of a round outlasts the next one until the app has received it", async () => {
  const world = await newToldWorld(RING);
  await world.enqueue();
  const worker = world.worker("a");
  app.onComplete = () => {
    throw new Error("not yet");
  };
  const [first] = await worker.claim();
  await worker.complete([succeeded(first!, LARGE)]);
  const told: unknown[] = [];
  app.onComplete = (_ctx, { outcome }) => void told.push(outcome);
  const [second] = await worker.claim();
  await worker.complete([succeeded(second!, 2)]);
  await world.advance(2_000);
  expect(told).toEqual([
    { status: "succeeded", result: LARGE },
    { status: "succeeded", result: 2 },
  ]);
  expect(await world.all("payloads"), "and is nobody's then").toEqual([]);
});

test("of the attempts of a job that goes on for years the last thousand are kept", async () => {
  const world = await newWorld();
  const id = await world.enqueue();
  const worker = world.worker("a");
  for (let i = 0; i < 3; i += 1) await worker.complete((await worker.claim()).map(released));
  await world.t.run((ctx) => ctx.db.patch("jobs", id, { attempt: ATTEMPTS_KEPT + 1 }));
  await worker.complete((await worker.claim()).map(released));
  const kept = (await world.all("attempts")).map(({ attempt }) => attempt);
  expect(kept).toEqual([3, ATTEMPTS_KEPT + 2]);
});

test("a lease of a deleted job ends with its session, and the request to end it is gone", async () => {
  const world = await newWorld();
  const id = await world.enqueue();
  await world.worker("a").claim();
  await world.cancel(id);
  await world.t.run((ctx) => ctx.db.delete("jobs", id));
  await world.advance(10_500);
  expect(await world.all("cancels")).toEqual([]);
});

test("a session that was lost before its attempt had run too long is a reset, however late that is found", async () => {
  const world = await newToldWorld({ maxResets: 1, timeoutMs: 12_000 });
  const id = await world.enqueue();
  const worker = world.worker("a");
  await worker.heartbeat(await worker.claim());
  const session = (await worker.session())._id;
  const late = { session, now: Date.now() + 20_000 };
  await world.t.mutation(internal.tend.lostLeases.expireSession, late);
  expect(await world.status(id)).toMatchObject({ status: "pending", resets: 1, failures: 0 });
});

test("a lease that its session cannot know of yet is not taken for dropped, though it is asked to end it", async () => {
  const world = await newWorld();
  const [one, two] = await world.enqueueBatch([1, 2]);
  const worker = world.worker("a");
  const [first] = await worker.claim();
  const [second] = await worker.claim();
  await world.t.mutation(api.operate.cancelJob, { id: second!.id });
  // The beat was sent before the claim's answer came.
  await worker.heartbeat([first!]);
  for (let i = 0; i < 4; i += 1) {
    await world.advance(3_000);
    await worker.heartbeat([first!, second!]);
  }
  for (const id of [one!, two!])
    expect(await world.status(id)).toMatchObject({ status: "running" });
});
