import { describe, expect, test, vi } from "vitest";
import { api, internal } from "../_generated/api.js";
import { watchedUntil } from "../rows/sessions.js";
import { ensureJanitor } from "./timers.js";
import { newWorld, succeeded, type World } from "../setup.test.js";
import { underCanceled } from "../edges/scheduled.test.js";

async function timer(world: World) {
  return (await world.all("timers"))[0];
}

/** Never before the lease's end, and at most the janitor's slack and a cell of its grid after it. */
function expectSoonAfter(dueAt: number, seenAt: number, leaseMs: number): void {
  expect(dueAt).toBeGreaterThanOrEqual(seenAt + leaseMs + 100);
  expect(dueAt).toBeLessThan(seenAt + leaseMs + 100 + Math.min(500, leaseMs / 32));
}

describe("the timer", () => {
  test("is armed in the transaction that leases, and by none that finds nothing", async () => {
    const world = await newWorld();
    const worker = world.worker("a");
    await worker.claim();
    expect(await timer(world)).toBeUndefined();
    await world.enqueue();
    await worker.claim();
    expectSoonAfter((await timer(world))!.dueAt, Date.now(), 10_000);
  });

  // Shows LF-14.
  test("is of one transaction with the lease, the job's status, worker and start: without it none is there", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    const before = await world.job(id);
    const { token, queue } = world;
    const args = { token, sessionKey: "s", callSeq: 1, name: "a", queues: [queue], max: 1 };
    const taken = { status: "running", worker: "a", startedAt: Date.now() };
    const call = world.t.run(async (ctx) => {
      await ctx.runMutation(api.lib.claim, args);
      expect(await ctx.db.get("jobs", id)).toMatchObject(taken);
      expect(await ctx.db.query("timers").collect()).toHaveLength(1);
      throw new Error("Rolled back.");
    });
    await expect(call).rejects.toThrow("Rolled back.");
    expect(await world.job(id)).toEqual(before);
    expect([await world.all("sessions"), await world.all("timers")]).toEqual([[], []]);
    await world.t.mutation(api.lib.claim, args);
    expect(await world.job(id)).toMatchObject(taken);
    expect(await world.all("timers")).toHaveLength(1);
  });

  // Shows LF-20.
  test("is left alone by claims and beats that it serves already", async () => {
    const world = await newWorld();
    await world.enqueueBatch([1, 2]);
    const worker = world.worker("a");
    const jobs = await worker.claim();
    const first = await world.all("timers");
    await world.advance(1_000);
    jobs.push(...(await worker.claim()));
    await worker.heartbeat(jobs);
    expect(await world.all("timers")).toEqual(first);
  });

  test("of a lane is found by the claims of other lanes until their own leases end later", async () => {
    const world = await newWorld({ push: true });
    vi.setSystemTime(Math.ceil(Date.now() / 5_000) * 5_000 + 1);
    const armedAt = Date.now();
    await world.t.run((ctx) =>
      ensureJanitor(ctx as never, watchedUntil([], armedAt), armedAt, undefined),
    );
    const armed = (await timer(world))!._id;
    const lane = { sessionKey: "a", name: "a", queues: [], conditions: {}, max: 1, ranges: 8 };
    for (const laterMs of [0, 100, 1_000, 4_900, 60_000]) {
      const args = { ...lane, isLane: true, now: armedAt + laterMs };
      const { timer: seen } = await world.t.query(internal.claim.choose.chooseJobs, args);
      expect(seen).toBe(laterMs < 5_000 ? armed : null);
    }
  });

  test("has another before it, for a lease that ends before it, for as long as that one is held", async () => {
    const world = await newWorld({ leaseMs: 20_000 });
    await world.enqueue();
    const [slow] = await world.worker("slow").claim();
    world.queue.name = "quick";
    world.queue.config = { ...world.queue.config, leaseMs: 2_000 };
    await world.enqueue();
    const quick = world.worker("quick");
    const [job] = await quick.claim();
    const [first, second] = await world.all("timers");
    expectSoonAfter(first!.dueAt, Date.now(), 20_000);
    expectSoonAfter(second!.dueAt, Date.now(), 2_000);
    await world.advance(1_500);
    await quick.heartbeat([job!]);
    await world.advance(2_400);
    expect(await world.status(job!.id)).toMatchObject({ status: "pending" });
    expect(await world.status(slow!.id)).toMatchObject({ status: "running" });
  });

  test("one too many goes at its sweep, and leaves the rest to the other timers", async () => {
    const world = await newWorld();
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    // As of claims that began at once when there was none.
    await world.t.run(async (ctx) => {
      for (let i = 0; i < 3; i += 1) {
        await ensureJanitor(ctx, Date.now() + 10_000, Date.now(), null);
      }
    });
    expect(await world.all("timers")).toHaveLength(4);
    for (let i = 0; i < 3; i += 1) {
      await world.advance(4_000);
      await worker.heartbeat([job!]);
    }
    expect(await world.all("timers")).toHaveLength(1);
  });

  // Shows WP-07.
  // Rules out P29.
  test("seen in a snapshot and gone since is replaced: only a real read says that there is one", async () => {
    const world = await newWorld();
    await world.t.run(async (ctx) => {
      const gone = await ctx.db.insert("timers", { kind: "janitor", dueAt: Date.now() });
      await ctx.db.delete("timers", gone);
      await ensureJanitor(ctx, Date.now() + 10_000, Date.now(), gone);
    });
    expect(await world.all("timers")).toHaveLength(1);
  });

  // Shows SG-46.
  // Rules out D1.
  test("is swept by a worker when it is overdue by 5 s, as when its scheduled function has died", async () => {
    const world = await newWorld({ leaseMs: 60_000 });
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    const dead = (await timer(world))!;
    await world.t.run(async (ctx) => ctx.scheduler.cancel(dead.scheduledId!));
    await world.advance(34_000);
    await worker.heartbeat([job!]);
    expect(worker.isLate).toBe(false);
    await world.advance(2_000);
    await worker.heartbeat([job!]);
    expect(worker.isLate).toBe(true);
    await worker.tend();
    const all = await world.all("timers");
    const alive = all.find(({ _id }) => _id === dead._id);
    expect(alive === undefined || alive.dueAt > Date.now()).toBe(true);
    expect(all.filter(({ dueAt }) => dueAt > Date.now())).toHaveLength(all.length);
  });

  test("is replaced by a completion that leases, too, when its scheduled function has died", async () => {
    const world = await newWorld({ leaseMs: 60_000 });
    await world.enqueueBatch([1, 2]);
    const worker = world.worker("a");
    const [job] = await worker.claim();
    const dead = (await timer(world))!;
    await world.t.run(async (ctx) => ctx.scheduler.cancel(dead.scheduledId!));
    await world.advance(36_000);
    await worker.complete([succeeded(job!)], { claim: 1 });
    const others = (await world.all("timers")).filter(({ _id }) => _id !== dead._id);
    expect(others.map(({ dueAt }) => dueAt - Date.now())).toEqual([30_000]);
  });

  // Rules out D1.
  test("is not left behind when the platform gave birth to its sweep canceled", async () => {
    const world = await newWorld();
    await world.t.run(async (ctx) => {
      await ensureJanitor(underCanceled(ctx), Date.now() + 10_000, Date.now(), undefined);
    });
    expect(await timer(world)).toBeUndefined();
  });

  test("that was taken for dead and comes late does nothing: the remaining work is another's", async () => {
    const world = await newWorld();
    await world.enqueue();
    await world.worker("a").claim();
    const late = (await timer(world))!._id;
    await world.t.run((ctx) => ctx.db.delete("timers", late));
    await world.advance(12_000);
    expect((await world.all("jobs"))[0]?.status).toBe("running");
    await world.enqueue();
    await world.worker("b").claim();
  });

  // Shows WP-07, C11.
  // Rules out D7b, P15.
  test("goes when a real read of all sessions finds none active", async () => {
    const world = await newWorld();
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.complete([succeeded(job!)]);
    await world.advance(11_000);
    expect((await world.all("timers")).filter(({ kind }) => kind === "janitor")).toEqual([]);
  });

  // Shows WP-15.
  test("is armed again by the sweep while anything is leased, for the earliest end", async () => {
    const world = await newWorld();
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await world.advance(5_000);
    await worker.heartbeat([job!]);
    const beatAt = Date.now();
    const [first] = await world.all("timers");
    await world.advance(6_000);
    const timers = await world.all("timers");
    expect(timers).toMatchObject([{ _id: first!._id }]);
    expectSoonAfter(timers[0]!.dueAt, beatAt, 10_000);
  });

  // Shows LF-20, F8.
  test("comes in time for a lease that its sweep's snapshot does not show yet", async () => {
    const world = await newWorld({ leaseMs: 20_000 });
    await world.enqueue();
    await world.worker("a").claim();
    const armed = (await timer(world))!._id;
    const endsAt = Date.now() + 3_000;
    await world.t.run(async (ctx) => {
      // A write of the same transaction, like one that commits beside it, is in no snapshot query, and in every read.
      const { _id, _creationTime, ...session } = (await ctx.db.query("sessions").first())!;
      const quick = await ctx.db.insert("sessions", {
        ...session,
        sessionKey: "b",
        expiresAt: endsAt,
      });
      await ctx.runMutation(internal.tend.janitor.sweep, { timer: armed });
      await ctx.db.delete("sessions", quick);
    });
    expect((await timer(world))?.dueAt).toBe(endsAt + 100);
  });

  test("comes at once for a lease that its sweep's snapshot does not show, and that is over by its clock", async () => {
    const world = await newWorld({ leaseMs: 20_000 });
    await world.enqueue();
    await world.worker("a").claim();
    const armed = (await timer(world))!._id;
    // As long as the platform lets a mutation take: so far may a commit lag behind the clock that it was frozen with.
    const endedAt = Date.now() - 20_000;
    await world.t.run(async (ctx) => {
      const { _id, _creationTime, ...session } = (await ctx.db.query("sessions").first())!;
      const late = await ctx.db.insert("sessions", {
        ...session,
        sessionKey: "b",
        expiresAt: endedAt,
      });
      await ctx.runMutation(internal.tend.janitor.sweep, { timer: armed });
      await ctx.db.delete("sessions", late);
    });
    expect((await timer(world))?.dueAt).toBe(Date.now() + 100);
  });

  // Rules out P6.
  test("stays when its sweep's snapshot shows no lease at all, and there is one", async () => {
    const world = await newWorld();
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.complete([succeeded(job!)]);
    const armed = (await timer(world))!._id;
    await world.t.run(async (ctx) => {
      const session = (await ctx.db.query("sessions").first())!;
      const expiresAt = Date.now() + 5_000;
      await ctx.db.patch("sessions", session._id, { state: "active", expiresAt });
      await ctx.runMutation(internal.tend.janitor.sweep, { timer: armed });
      await ctx.db.patch("sessions", session._id, { state: "idle" });
    });
    expect((await timer(world))?.dueAt).toBe(Date.now() + 5_100);
  });

  // Rules out D7b.
  test("a lease with an end before the last sweep by its clock is swept all the same", async () => {
    const world = await newWorld();
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.heartbeat([job!]);
    await world.advance(6_000);
    await world.t.run(async (ctx) => {
      const session = (await ctx.db.query("sessions").first())!;
      const lastSeenAt = Date.now() - 3_600_000;
      await ctx.db.patch("sessions", session._id, { lastSeenAt, expiresAt: lastSeenAt + 10_000 });
    });
    await world.sweep();
    expect(await world.status(job!.id)).toMatchObject({ status: "pending" });
  });
});
