/** Ending the leases of one session, called as the loser of a race would call it. */
import { expect, test } from "vitest";
import { internal } from "../_generated/api.js";
import { app, newToldWorld, newWorld, released, succeeded } from "../setup.test.js";

// Rules out D23.
test("a session that has beaten since it was found expired keeps its leases: its row is read for real", async () => {
  const world = await newWorld();
  await world.enqueue();
  const worker = world.worker("a");
  const [job] = await worker.claim();
  const { _id } = await worker.session();
  const args = { session: _id, now: Date.now() };
  expect(await world.t.mutation(internal.tend.lostLeases.expireSession, args)).toBeNull();
  expect(await worker.heartbeat([job!])).toEqual(["ok"]);
});

test("no callback runs in the transaction that ends leases: it must not keep jobs from coming back", async () => {
  const world = await newToldWorld({ maxResets: 0 });
  await world.enqueueBatch([1, 2]);
  const worker = world.worker("a");
  await worker.heartbeat(await worker.claim(2));
  let told = 0;
  app.onComplete = () => void (told += 1);
  const { _id, expiresAt } = await worker.session();
  await world.t.mutation(internal.tend.lostLeases.expireSession, {
    session: _id,
    now: expiresAt + 1,
  });
  expect(told).toBe(0);
  expect(await world.all("callbacks")).toHaveLength(2);
  await world.settle();
  expect(told).toBe(2);
});

test("a session without leases, or without a row, is not ended", async () => {
  const world = await newWorld();
  await world.enqueue();
  const worker = world.worker("a");
  const [job] = await worker.claim();
  await worker.complete([succeeded(job!)]);
  const { _id, expiresAt } = await worker.session();
  const args = { session: _id, now: expiresAt + 60_000 };
  expect(await world.t.mutation(internal.tend.lostLeases.expireSession, args)).toBeNull();
  expect(await worker.session()).toMatchObject({ state: "idle" });
  await world.t.run(({ db }) => db.delete("sessions", _id));
  expect(await world.t.mutation(internal.tend.lostLeases.expireSession, args)).toBeNull();
});

test("the lease of an earlier attempt ends nothing of the attempt that another holds", async () => {
  const world = await newWorld();
  const id = await world.enqueue();
  const old = world.worker("old");
  const [first] = await old.claim();
  const { _id, leases, expiresAt } = await old.session();
  await old.complete([released(first!)]);
  const [second] = await world.worker("new").claim();
  expect(second).toMatchObject({ id, attempt: 2 });
  await world.t.run(({ db }) => db.patch("sessions", _id, { state: "active", leases, expiresAt }));
  const args = { session: _id, now: expiresAt + 1 };
  expect(await world.t.mutation(internal.tend.lostLeases.expireSession, args)).toBeNull();
  expect(await world.status(id)).toMatchObject({ status: "running", worker: "new" });
  expect(await old.session()).toMatchObject({ leases: [] });
});

test("an attempt that ran too long goes alone: its session keeps its other leases, and is not lost", async () => {
  const world = await newWorld({ leaseMs: 600_000 });
  const slow = await world.enqueue(1, { rules: { timeoutMs: 5_000 } });
  const other = await world.enqueue(2);
  const worker = world.worker("a");
  const jobs = await worker.claim(2);
  await worker.heartbeat(jobs);
  const { _id } = await worker.session();
  const now = Date.now() + 6_000;
  await world.t.mutation(internal.tend.lostLeases.expireSession, { session: _id, now });
  expect((await worker.session()).leases.map(({ id }) => id)).toEqual([other]);
  expect(await world.status(slow)).not.toMatchObject({ status: "running" });
  expect(await worker.heartbeat(jobs.filter(({ id }) => id === other))).toEqual(["ok"]);
  const [event] = await world.all("events");
  expect(event).toMatchObject({ kind: "leasesEnded", details: { isLost: false } });
});

test("a session that is lost says which jobs came back, and which were given up", async () => {
  const world = await newWorld();
  const [kept, late, unwanted] = await world.enqueueBatch([1, 2, 3]);
  const worker = world.worker("a");
  await worker.heartbeat(await worker.claim(3));
  await world.t.run(({ db }) => db.patch("jobs", late!, { resets: 1 }));
  await world.cancel(unwanted!);
  const { _id, expiresAt, lastSeenAt } = await worker.session();
  const args = { session: _id, now: expiresAt + 1 };
  expect(await world.t.mutation(internal.tend.lostLeases.expireSession, args)).toBeNull();
  expect(await world.status(kept!)).toMatchObject({ status: "pending", resets: 1 });
  expect(await world.status(late!)).toMatchObject({ status: "timedOut" });
  expect(await world.status(unwanted!)).toMatchObject({ status: "canceled" });
  const details = {
    ...{ reset: [kept], released: [], failed: [], timedOut: [late], canceled: [unwanted] },
    ...{ isLost: true, silentMs: expiresAt + 1 - lastSeenAt },
  };
  const [event] = await world.all("events");
  expect(event).toMatchObject({ kind: "leasesEnded", details });
});

/** A worker with a job of 5 s at most and another, lost or not by the time of this sweep. */
async function timed(leaseMs: number, sweptAfterMs: number) {
  const world = await newWorld({ leaseMs });
  await world.enqueue(1, { rules: { timeoutMs: 5_000 } });
  await world.enqueue(2);
  const worker = world.worker("a");
  await worker.heartbeat(await worker.claim(2));
  const { _id } = await worker.session();
  await world.t.run(({ db }) => db.patch("sessions", _id, { expiresAt: Date.now() }));
  const now = Date.now() + sweptAfterMs;
  await world.t.mutation(internal.tend.lostLeases.expireSession, { session: _id, now });
  return { world, worker };
}

test("an attempt that had run too long before its worker was silent for too long has failed; the others are lost with the worker", async () => {
  const { world, worker } = await timed(60_000, 61_000);
  expect(await worker.session()).toMatchObject({ state: "gone", leases: [] });
  const [first, second] = (await world.all("attempts")).map(({ error }) => error);
  expect(first).toMatch(/ran longer than its timeoutMs, 5000 ms/);
  expect(second).toMatch(/^Worker "a" was not heard of for 60000 ms/);
  expect(await world.all("jobs")).toMatchObject([{ failures: 1 }, { resets: 1 }]);
});

test("an attempt whose time is over only after its worker was silent for too long is lost, and has not failed", async () => {
  const { world } = await timed(2_000, 6_000);
  for (const { error } of await world.all("attempts"))
    expect(error).toMatch(/^Worker "a" was not heard of for 2000 ms/);
  expect(await world.all("jobs")).toMatchObject([{ resets: 1 }, { resets: 1 }]);
});

test("a job that its worker never said to have got, and that is out of time, is not begun again", async () => {
  const world = await newWorld();
  const id = await world.enqueue(1, { deadlineMs: 5_000 });
  const worker = world.worker("a");
  await worker.claim();
  const { _id, expiresAt } = await worker.session();
  const args = { session: _id, now: expiresAt + 1 };
  expect(await world.t.mutation(internal.tend.lostLeases.expireSession, args)).toBeNull();
  expect(await world.status(id)).toMatchObject({ status: "timedOut", releases: 0 });
});

test("a worker that has reported on one job of a claim has got all of them: each has begun, and lost its worker", async () => {
  const world = await newWorld();
  await world.enqueueBatch([1, 2, 3]);
  const worker = world.worker("a");
  const jobs = await worker.claim(3);
  const { id, attempt } = jobs[2]!;
  await worker.report({ output: [{ id, attempt, index: 0, text: "words" }] });
  const { _id, expiresAt } = await worker.session();
  const args = { session: _id, now: expiresAt + 1 };
  expect(await world.t.mutation(internal.tend.lostLeases.expireSession, args)).toBeNull();
  const lost = { status: "pending", resets: 1 };
  expect(await world.all("jobs")).toMatchObject([lost, lost, lost]);
});
