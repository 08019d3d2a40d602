import { describe, expect, test, vi } from "vitest";
import { internal } from "../_generated/api.js";
import { leaseOf, newWorld, released, succeeded, type World } from "../setup.test.js";

async function timer(world: World) {
  return (await world.all("timers")).find(({ kind }) => kind === "janitor");
}

describe("ending leases", () => {
  // Shows LF-19, SG-30, WP-29.
  test("a silent session's jobs are claimable within a second of the lease's end", async () => {
    const world = await newWorld({ maxResets: 3 });
    const id = await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.heartbeat([job!]);
    await world.advance(9_900);
    expect(await world.status(id)).toMatchObject({ status: "running" });
    await world.advance(1_100);
    expect(await world.status(id)).toMatchObject({ status: "pending", resets: 1 });
    expect((await worker.session()).state).toBe("gone");
  });

  // Shows SG-02, F1.
  test("a session that beats keeps its jobs for as long as it does", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    for (let i = 0; i < 20; i += 1) {
      await world.advance(3_300);
      expect(await worker.heartbeat([job!])).toEqual(["ok"]);
    }
    expect(await world.status(id)).toMatchObject({ status: "running", attempt: 1 });
  });

  // Shows SG-34, F3.
  test("a beat after the end is answered so, and brings no lease back", async () => {
    const world = await newWorld();
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await world.advance(10_500);
    expect(await worker.heartbeat([job!])).toEqual(["leaseLost"]);
    expect(await worker.session()).toMatchObject({ state: "idle", leases: [] });
  });

  // Rules out D23.
  test("a beat that arrives before the sweep saves leases past their time", async () => {
    const world = await newWorld();
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await world.advance(10_050);
    expect(await worker.heartbeat([job!])).toEqual(["ok"]);
    await world.advance(2_000);
    expect(await worker.heartbeat([job!])).toEqual(["ok"]);
  });

  test("a busy session is checked at the same time until half of its lease has passed", async () => {
    const world = await newWorld({ leaseMs: 60_000 });
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    const { expiresAt } = await worker.session();
    for (let i = 0; i < 29; i += 1) {
      await world.advance(1_000);
      await worker.heartbeat([job!]);
      expect((await worker.session()).expiresAt).toBe(expiresAt);
    }
    await world.advance(2_000);
    await worker.heartbeat([job!]);
    expect((await worker.session()).expiresAt).toBeGreaterThan(expiresAt + 30_000);
  });

  test("a session that is checked before its lease is over keeps it to its end", async () => {
    const world = await newWorld({ leaseMs: 10_000, maxResets: 3 });
    const id = await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await world.advance(4_000);
    await worker.heartbeat([job!]);
    // It was to be checked ten seconds after its claim, and that is what happens.
    await world.advance(9_000);
    expect(await world.status(id)).toMatchObject({ status: "running" });
    expect((await worker.session()).expiresAt).toBeGreaterThanOrEqual(Date.now() + 1_000);
    await world.advance(2_000);
    expect(await world.status(id)).toMatchObject({ status: "pending", resets: 1 });
  });

  test("a session that takes a shorter lease is checked sooner, also early in the longer one", async () => {
    const world = await newWorld({ leaseMs: 60_000 });
    await world.enqueue(1);
    const worker = world.worker("a");
    await worker.claim();
    await world.enqueue(2, { rules: { timeoutMs: 40_000 } });
    await worker.claim();
    expect((await worker.session()).expiresAt).toBeLessThanOrEqual(Date.now() + 40_000);
  });

  test("many silent sessions are ended one a transaction, all of them at once", async () => {
    const world = await newWorld({ maxResets: 3 });
    await world.enqueueBatch([1, 2, 3, 4]);
    for (const name of ["a", "b", "c", "d"]) {
      const worker = world.worker(name);
      await worker.claim();
      await world.advance(250);
    }
    await world.advance(11_000);
    expect((await world.all("jobs")).map((job) => job.status)).toEqual(Array(4).fill("pending"));
  });

  test("the shortest of the leases held ends them all: the session is silent as a whole", async () => {
    const world = await newWorld({ leaseMs: 60_000 });
    await world.enqueue();
    const worker = world.worker("a");
    await worker.claim();
    world.queue.name = "quick";
    world.queue.config = { ...world.queue.config, leaseMs: 2_000 };
    await world.enqueue();
    await worker.claim();
    const { expiresAt } = await worker.session();
    expect(expiresAt).toBeGreaterThanOrEqual(Date.now() + 2_000);
    // The janitor's grid: a 32nd of a lease.
    expect(expiresAt).toBeLessThan(Date.now() + 2_000 + 2_000 / 32);
    await world.advance(3_000);
    expect((await world.all("jobs")).map((job) => job.status)).toEqual(["pending", "pending"]);
  });

  // Rules out D14.
  test("one broken session is put aside, and holds up neither the sweep nor the other sessions", async () => {
    const world = await newWorld({ maxResets: 3 });
    const [broken, sound] = await world.enqueueBatch([1, 2]);
    await world.worker("broken").claim();
    await world.advance(250);
    await world.worker("sound").claim();
    // A queue's row that is gone: ending a lease of it throws.
    await world.t.run(async (ctx) => ctx.db.patch("jobs", broken!, { queue: "gone" }));
    const complaints = vi.spyOn(console, "error").mockImplementation(() => undefined);
    await world.advance(11_500);
    expect(complaints).toHaveBeenCalledOnce();
    complaints.mockRestore();
    expect((await world.job(sound!)).status).toBe("pending");
    expect((await world.job(broken!)).status).toBe("running");
    await world.t.run(async (ctx) => ctx.db.patch("jobs", broken!, { queue: "tiles" }));
    await world.advance(61_000);
    expect((await world.job(broken!)).status).toBe("pending");
  });
});

describe("released or reset", () => {
  // Shows SG-29.
  // Rules out D11.
  test("a lease that was never acknowledged is released: its job was not started", async () => {
    const world = await newWorld({ maxResets: 1 });
    const id = await world.enqueue();
    await world.worker("a").claim();
    await world.advance(10_500);
    expect(await world.job(id)).toMatchObject({ status: "pending", releases: 1, resets: 0 });
  });

  test("but where no worker may be lost it is given up: one that died at once may have begun it", async () => {
    const world = await newWorld({ maxResets: 0 });
    const id = await world.enqueue();
    await world.worker("a").claim();
    await world.advance(10_500);
    expect(await world.job(id)).toMatchObject({ status: "timedOut", releases: 0, resets: 0 });
  });

  test("at most three times, or a job that kills its worker at once would go round for ever", async () => {
    const world = await newWorld({ maxResets: 1 });
    const id = await world.enqueue();
    for (let i = 0; i < 5; i += 1) {
      const [job] = await world.worker(`w${i}`).claim();
      expect(job?.id).toBe(id);
      await world.advance(10_500);
    }
    expect(await world.job(id)).toMatchObject({ status: "timedOut", releases: 3, resets: 1 });
  });

  test("a worker's own releases are not counted among them", async () => {
    const world = await newWorld({ maxResets: 1 });
    const id = await world.enqueue();
    const worker = world.worker("a");
    for (let i = 0; i < 4; i += 1) {
      const [job] = await worker.claim();
      await worker.complete([released(job!)]);
    }
    await world.worker("b").claim();
    await world.advance(10_500);
    expect(await world.job(id)).toMatchObject({ status: "pending", releases: 5 });
  });

  test("a beat that names a job of the last call acknowledges it, one that does not may have crossed it", async () => {
    const world = await newWorld({ maxResets: 3 });
    await world.enqueueBatch([1, 2]);
    const worker = world.worker("a");
    const [first] = await worker.claim();
    const [second] = await worker.claim();
    await worker.heartbeat([first!]);
    expect((await worker.session()).acknowledged).toBe(false);
    await worker.heartbeat([second!]);
    expect((await worker.session()).acknowledged).toBe(true);
  });

  test("so does progress: the job has been started", async () => {
    const world = await newWorld({ maxResets: 3 });
    const id = await world.enqueue();
    await world.worker("a").claim();
    await world.worker("a").progress([{ id, attempt: 1, value: 0.5 }]);
    await world.advance(10_500);
    expect(await world.job(id)).toMatchObject({ resets: 1, releases: 0 });
  });

  test("of a session that dies with an unanswered call, only that call's jobs count as not started", async () => {
    const world = await newWorld({ maxResets: 3 });
    const [first, second] = await world.enqueueBatch([1, 2]);
    const worker = world.worker("a");
    await worker.claim();
    await worker.claim();
    await world.advance(10_500);
    expect(await world.job(first!)).toMatchObject({ resets: 1, releases: 0 });
    expect(await world.job(second!)).toMatchObject({ resets: 0, releases: 1 });
  });
});

describe("its other duties", () => {
  // Rules out D6a, P3.
  test("publishes cursors that pass no pending job, of a tie neither", async () => {
    const world = await newWorld();
    await world.enqueueBatch([1, 2, 3]);
    const worker = world.worker("a");
    await worker.claim(1);
    await world.sweep();
    const [cursor] = await world.all("cursors");
    const pending = (await world.all("jobs")).filter((job) => job.status === "pending");
    const bound = cursor!.bounds.find((b) => b.order === 21)!;
    expect([bound.seq, bound.creationTime]).toEqual([pending[0]!.seq, pending[0]!._creationTime]);
    expect((await world.worker("fresh").claim(5)).map((job) => job.payload)).toEqual([2, 3]);
  });

  // Rules out P5.
  test("publishes the snapshot's own end where nothing is pending, and finds later jobs", async () => {
    const world = await newWorld();
    await world.enqueue(1);
    await world.worker("a").claim(1);
    const job = (await world.all("jobs"))[0]!;
    await world.sweep();
    const { bounds, floor } = (await world.all("cursors"))[0]!;
    expect(bounds).toEqual([]);
    expect(floor!.seq >= (job.seq as bigint)).toBe(true);
    await world.enqueue(2);
    expect(await world.worker("b").claim(5)).toHaveLength(1);
  });

  // Shows WP-04, M7.
  test("publishes also with the sweep that disarms, so that idle workers skip dead entries", async () => {
    const world = await newWorld();
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    const { seq } = await world.job(job!.id);
    await worker.complete([succeeded(job!)]);
    await world.advance(11_000);
    expect(await timer(world)).toBeUndefined();
    const { floor } = (await world.all("cursors"))[0]!;
    expect(floor!.seq > (seq as bigint)).toBe(true);
  });

  test("forgets sessions that have been silent for a day, and no other ones", async () => {
    const world = await newWorld();
    await world.worker("old").claim();
    await world.t.run(async (ctx) => {
      const session = (await ctx.db.query("sessions").first())!;
      const longAgo = Date.now() - 25 * 3_600_000;
      await ctx.db.patch("sessions", session._id, { lastSeenAt: longAgo, expiresAt: longAgo });
    });
    await world.enqueue();
    const worker = world.worker("new");
    const [job] = await worker.claim();
    await world.sweep();
    expect((await world.all("sessions")).map((session) => session.name)).toEqual(["new"]);
    expect(await worker.heartbeat([leaseOf(job!)])).toEqual(["ok"]);
  });

  test("forgets the last of many silent sessions too, when nothing is leased any more", async () => {
    const world = await newWorld();
    for (let i = 0; i < 20; i += 1) await world.worker(`old-${i}`).claim();
    await world.t.run(async (ctx) => {
      const longAgo = Date.now() - 25 * 3_600_000;
      for (const { _id } of await ctx.db.query("sessions").collect())
        await ctx.db.patch("sessions", _id, { lastSeenAt: longAgo, expiresAt: longAgo });
    });
    await world.enqueue();
    const worker = world.worker("new");
    const [job] = await worker.claim();
    await worker.complete([succeeded(job!)]);
    await world.advance(60_000);
    expect((await world.all("sessions")).map((session) => session.name)).toEqual(["new"]);
    expect(await timer(world)).toBeUndefined();
  });

  test("does not forget a session that has come back since its snapshot: its row is read for real", async () => {
    const world = await newWorld();
    const old = world.worker("old");
    await old.claim();
    await world.enqueue();
    await world.worker("new").claim();
    const { _id } = await old.session();
    const longAgo = Date.now() - 25 * 3_600_000;
    await world.t.run((ctx) =>
      ctx.db.patch("sessions", _id, { lastSeenAt: longAgo, expiresAt: longAgo }),
    );
    const armed = (await timer(world))!._id;
    await world.t.run(async (ctx) => {
      // A write of the same transaction, like one that commits beside it, is in no snapshot query, and in every read.
      await ctx.db.patch("sessions", _id, { lastSeenAt: Date.now(), expiresAt: Date.now() });
      await ctx.runMutation(internal.tend.janitor.sweep, { timer: armed });
    });
    expect(await old.session()).toMatchObject({ _id, lastSeenAt: Date.now() });
  });
});

/**
 * Only a real engine can show the reason: a sweep without snapshot reads would depend on every beat, and lose to two of
 * a thousand workers each time. Here, only that it sees the rows of a snapshot.
 */
test("a sweep reads a snapshot: rows not in it yet are left to the next sweep", async () => {
  const world = await newWorld();
  const id = await world.enqueue();
  const worker = world.worker("a");
  await worker.claim();
  const { _id, expiresAt } = await worker.session();
  const armed = (await timer(world))!._id;
  await world.t.run(async (ctx) => {
    await ctx.db.patch("sessions", _id, { expiresAt: Date.now() - 1 });
    await ctx.runMutation(internal.tend.janitor.sweep, { timer: armed });
    await ctx.db.patch("sessions", _id, { expiresAt });
  });
  expect(await world.status(id)).toMatchObject({ status: "running" });
  expect(await worker.session()).toMatchObject({ state: "active" });
});
