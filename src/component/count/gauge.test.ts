import { describe, expect, test, vi } from "vitest";
import { bandsOf, COUNT_MAX, GAUGE_QUICK, type Gauge } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { ensureUpkeep } from "./rollUp.js";
import { failed, newWorld, refusal, succeeded, T0, type World } from "../setup.test.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

async function gauge(world: World, queue = "tiles"): Promise<Gauge> {
  return await world.t.query(api.observe.gauge, { queue });
}

async function health(world: World, last?: number) {
  return await world.t.query(api.observe.health, {
    queue: "tiles",
    ...(last === undefined ? {} : { last }),
  });
}

async function row(world: World) {
  const [only, ...others] = await world.all("gauges");
  expect(others).toEqual([]);
  return only;
}

/** Rows as they would be, far more than tests can claim. */
async function fill(
  world: World,
  status: "pending" | "running" | "succeeded",
  jobs: number,
  error = "",
): Promise<void> {
  await world.t.run(async (ctx) => {
    for (let n = 0; n < jobs; n += 1) {
      await ctx.db.insert("jobs", {
        ...{ queue: "tiles", status, shard: 0, seq: ctx.db.vars.commitTs },
        order: status === "pending" ? bandsOf(0)[1] : 0,
        ...{ payload: { inline: n }, enqueuedAt: T0, attempt: 0, error },
        ...(status === "succeeded" ? { startedAt: T0, finishedAt: T0 + 100 } : {}),
      });
    }
  });
}

/** Keeps the queue busy for so many rounds of ten seconds. */
async function keepBusy(world: World, rounds: number): Promise<void> {
  const worker = world.worker(`busy-${Date.now()}`);
  for (let round = 0; round < rounds; round += 1) {
    await world.enqueueBatch(Array.from({ length: 12 }, (_, n) => n));
    const jobs = await worker.claim(12);
    await worker.complete(jobs.map((job) => succeeded(job)));
    await world.t.run((ctx) => ensureUpkeep(ctx as never, "tiles", Date.now()));
    await world.advance(10 * SECOND);
  }
}

describe("the gauge of a quiet queue", () => {
  // Shows SG-40, K6.
  test("is current: a new job is in it at once", async () => {
    const world = await newWorld();
    await world.enqueueBatch([1, 2]);
    await world.enqueue(3, { runAfter: MINUTE });
    await world.advance(5 * SECOND);
    const [job] = await world.worker("a").claim();
    const { counts, oldestPendingAt, at } = await gauge(world);
    expect(job).toBeDefined();
    expect(at).toBe(T0 + 5 * SECOND);
    expect(counts).toMatchObject({
      ...{ scheduled: { count: 1, more: false }, pending: { count: 1, more: false } },
      ...{ running: { count: 1, more: false }, succeeded: { count: 0, more: false } },
    });
    expect(oldestPendingAt).toBe(T0);
    expect(await row(world)).toBeUndefined();
  });

  test("of one into which nothing was ever put has zeros, and is well", async () => {
    const world = await newWorld();
    const { counts, health: light, oldestPendingAt } = await gauge(world, "nobodys");
    expect(Object.values(counts).every(({ count, more }) => count === 0 && !more)).toBe(true);
    expect(oldestPendingAt).toBeUndefined();
    expect(light).toMatchObject({ light: "green", of: 0, successRate: 1, averageMs: 5_000 });
  });

  test("counts no further than 1,000, and says that there are more", async () => {
    const world = await newWorld();
    await world.enqueue();
    await fill(world, "succeeded", COUNT_MAX + 5);
    expect((await gauge(world)).counts.succeeded).toEqual({ count: COUNT_MAX, more: true });
    await fill(world, "pending", COUNT_MAX + 5, "e".repeat(4_096));
    const { pending } = (await gauge(world)).counts;
    // Rows with long errors: as many as may be read.
    expect(pending.more).toBe(true);
    expect(pending.count).toBeGreaterThan(GAUGE_QUICK);
    expect(pending.count).toBeLessThan(COUNT_MAX);
  });
});

describe("the gauge of a busy queue", () => {
  // Shows K6.
  test("is a row that the roll-up rewrites, and its content, until the next write", async () => {
    const world = await newWorld();
    await keepBusy(world, 2);
    const kept = (await row(world))!;
    expect(kept).toMatchObject({ isKept: true });
    // The first roll-up comes by lot, up to five seconds early, and the next ones every ten.
    expect(kept["at"]).toBeGreaterThan(Date.now() - 5_001);
    await world.enqueueBatch([1, 2, 3]);
    expect((await gauge(world)).counts.pending).toEqual({ count: 0, more: false });
    expect((await gauge(world)).at).toBe(kept.at);
    await keepBusy(world, 1);
    const { counts, at, perMinute } = await gauge(world);
    expect(counts).toMatchObject({ pending: { count: 3 }, succeeded: { count: 36 } });
    expect(at).toBe(kept["at"] + 10 * SECOND);
    expect(perMinute.finished).toBeGreaterThan(0);
  });

  test("says in the row that it is kept no longer when the roll-up goes, and is live again", async () => {
    const world = await newWorld();
    await keepBusy(world, 2);
    await world.advance(30 * SECOND);
    expect((await world.all("timers")).some(({ kind }) => kind === "rollUp")).toBe(false);
    expect(await row(world)).toMatchObject({ isKept: false });
    await world.enqueueBatch([1, 2, 3]);
    expect(await gauge(world)).toMatchObject({ at: Date.now(), counts: { pending: { count: 3 } } });
  });

  test("is not taken from a row with a dead roll-up", async () => {
    const world = await newWorld();
    await keepBusy(world, 2);
    await world.t.run(async (ctx) => {
      for (const { _id } of await ctx.db.query("timers").collect())
        await ctx.db.delete("timers", _id);
    });
    await world.advance(50 * SECOND);
    await world.enqueue();
    expect((await gauge(world)).counts.pending.count).toBe(0);
    await world.advance(11 * SECOND);
    expect((await gauge(world)).counts.pending.count).toBe(1);
  });

  test("is not taken from a row of a clock that was set back since, and the row is rewritten", async () => {
    const world = await newWorld();
    await keepBusy(world, 2);
    const { _id, countedAt } = (await row(world))!;
    const ahead = 10 * MINUTE;
    await world.t.run((ctx) =>
      ctx.db.patch("gauges", _id, {
        at: Date.now() + ahead,
        countedAt: { ...countedAt, succeeded: Date.now() + ahead },
      }),
    );
    expect((await gauge(world)).at).toBe(Date.now());
    await keepBusy(world, 1);
    expect((await row(world))!.at).toBeLessThanOrEqual(Date.now());
  });

  test("where a status has many jobs, they are counted once a minute, and that they are few at once", async () => {
    const world = await newWorld();
    await fill(world, "pending", 200);
    await keepBusy(world, 2);
    const of = async () => (await gauge(world)).counts.pending.count;
    const first = await of();
    expect(first).toBeGreaterThan(150);
    await fill(world, "pending", 100);
    await keepBusy(world, 1);
    expect(await of()).toBe(first);
    await keepBusy(world, 6);
    expect(await of()).toBeGreaterThan(first + 50);
    await world.t.run(async (ctx) => {
      const jobs = await ctx.db.query("jobs").collect();
      for (const { _id, status } of jobs)
        if (status === "pending") await ctx.db.delete("jobs", _id);
    });
    await keepBusy(world, 1);
    expect(await of()).toBe(0);
  });

  test("is written once in a while, however fast the roll-up catches up", async () => {
    const world = await newWorld();
    await world.enqueue();
    await fill(world, "succeeded", 2_000);
    await world.t.run((ctx) => ensureUpkeep(ctx as never, "tiles", Date.now(), 0));
    await world.advance(SECOND);
    const [counted] = await world.all("counted");
    expect(counted!.upTo.some(({ status, seq }) => status === "succeeded" && seq > 0n)).toBe(true);
    expect((await row(world))!.at).toBe(T0);
  });
});

describe("health", () => {
  async function end(world: World, ends: readonly boolean[], ms: number): Promise<void> {
    const worker = world.worker(`w${Date.now()}`);
    for (const succeeds of ends) {
      await world.enqueue();
      const [job] = await worker.claim();
      await world.advance(ms);
      await worker.complete([succeeds ? succeeded(job!) : failed(job!)]);
    }
  }

  // Shows DE-10, DE-11, K8.
  test("is of the last five that ended, newest first, 5,000 ms and all well where none has", async () => {
    const world = await newWorld();
    await world.enqueue();
    expect(await health(world)).toMatchObject({ of: 0, successRate: 1, averageMs: 5_000 });
    await world.cancel((await world.all("jobs"))[0]!._id);
    expect(await health(world)).toMatchObject({ of: 0, successRate: 1, averageMs: 5_000 });
    await end(world, [false, false, false], 1_000);
    expect(await health(world)).toMatchObject({ of: 3, successRate: 0, averageMs: 1_000 });
    await end(world, [true, false, true, true, true], 200);
    expect(await health(world)).toMatchObject({ of: 5, successRate: 0.8, averageMs: 200 });
    expect(await health(world, 8)).toMatchObject({ of: 8, successRate: 0.5, averageMs: 500 });
    expect(await health(world, 1)).toMatchObject({ of: 1, successRate: 1 });
  });

  // Shows DE-10.
  test("of a busy queue is taken from its row, and is that of the jobs that ended last", async () => {
    const world = await newWorld();
    await keepBusy(world, 2);
    const worker = world.worker("a");
    await world.enqueueBatch(Array.from({ length: 12 }, (_, n) => n));
    const jobs = await worker.claim(12);
    await world.advance(300);
    await worker.complete(jobs.slice(0, 9).map((job) => failed(job)));
    await worker.complete(jobs.slice(9).map((job) => succeeded(job)));
    await world.advance(10 * SECOND);
    expect((await row(world))!.isKept).toBe(true);
    expect(await health(world, 4)).toMatchObject({ of: 4, successRate: 0.75, averageMs: 300 });
    expect((await health(world, 5)).successRate).toBeCloseTo(0.6);
    expect(await health(world, 100)).toMatchObject({ of: 36 });
  });

  test("of a busy queue is that of the last ends also where the roll-up came a moment before", async () => {
    const world = await newWorld();
    await keepBusy(world, 2);
    const worker = world.worker("a");
    await world.enqueueBatch(Array.from({ length: 12 }, (_, n) => n));
    const jobs = await worker.claim(12);
    await worker.complete(jobs.map((job) => failed(job)));
    const at = Date.now() + 8 * SECOND;
    const { _id } = (await row(world))!;
    await world.t.run((ctx) => ctx.db.patch("gauges", _id, { at }));
    await world.advance(10 * SECOND);
    expect((await row(world))!.at, "it was not rewritten").toBe(at);
    expect(await health(world, 12)).toMatchObject({ of: 12, successRate: 0 });
  });

  test.each([0, 101, 2.5])("is refused of the last %d", async (last) => {
    const world = await newWorld();
    expect((await refusal(health(world, last))).code).toBe("invalidArgument");
  });

  test("turns red when jobs wait and an idle worker takes none, says when beforehand, and green with a claim", async () => {
    const world = await newWorld();
    const worker = world.worker("a");
    await worker.claim();
    await world.enqueue();
    const before = await health(world);
    expect(before.light).toBe("green");
    expect(before.worsens.map(({ light }) => light)).toEqual(["yellow", "red"]);
    const { at } = before.worsens[1]!;
    await world.advance(at - Date.now() - 1);
    expect((await health(world)).light).toBe("yellow");
    await world.advance(1);
    expect((await health(world)).light).toBe("red");
    await worker.claim();
    expect((await health(world)).light).toBe("green");
  });

  test.each([
    ["red where more may run", 61, "red", "although 39 more may run"],
    ["not red where all that may run do", 100, "yellow", "All workers are busy."],
  ])("with many jobs that run is %s", async (_, jobs, light, reason) => {
    const world = await newWorld({ push: true, maxParallelism: 100 });
    await world.enqueue();
    await fill(world, "running", jobs);
    vi.setSystemTime(T0 + 2 * MINUTE);
    const now = await health(world);
    expect(now).toMatchObject({ light, reason: expect.stringContaining(reason) });
    expect((await gauge(world)).health).toEqual(now);
    await world.t.run(async (ctx) => {
      for (const { _id, status } of await ctx.db.query("jobs").collect())
        if (status === "running") await ctx.db.delete("jobs", _id);
    });
  });

  test.each([0, 15_000])(
    "of a ring that moves is not red between two rounds, with a rest of %d ms",
    async (restMs) => {
      const world = await newWorld({ circular: true, restMs });
      const worker = world.worker("a");
      const ids = await world.enqueueBatch(Array.from({ length: 12 }, (_, n) => n));
      for (let round = 0; round < 10; round += 1) {
        const [job] = await worker.claim();
        await world.advance(10 * SECOND);
        await worker.complete([succeeded(job!)]);
      }
      const { light } = await health(world);
      expect(light).not.toBe("red");
      const { reasons } = (await world.t.query(api.observe.why, { id: ids[11]! }))!;
      expect(reasons.map(({ kind }) => kind)).not.toContain("stuck");
    },
  );

  test("counts no worker as idle that is quiet or about to stop", async () => {
    const world = await newWorld();
    const worker = world.worker("a");
    await worker.claim();
    await world.enqueue();
    const { _id } = await worker.session();
    await world.advance(MINUTE);
    for (const fields of [{ isQuiet: true }, { isQuiet: undefined, mode: "draining" as const }]) {
      await world.t.run((ctx) => ctx.db.patch("sessions", _id, fields));
      expect((await health(world)).reason).toContain("No worker serves the queue.");
    }
  });

  test("sees a worker that is busy in another queue behind any number of lanes that are awake", async () => {
    const world = await newWorld();
    const worker = world.worker("a");
    await worker.claim();
    await world.enqueue();
    const { _id, _creationTime, token: _, ...fields } = await worker.session();
    const state = "active" as const;
    await world.t.run(async ({ db }) => {
      await db.patch("sessions", _id, { state, expiresAt: Date.now() + 3 * MINUTE });
      const lane = await db.insert("lanes", { queue: "others", session: _id, cap: 1 });
      const awake = { ...fields, lane, state, queues: ["others"] };
      const expiresAt = Date.now() + 2 * MINUTE;
      for (let n = 0; n < 40; n += 1)
        await db.insert("sessions", { ...awake, sessionKey: `lane${n}`, expiresAt });
    });
    vi.setSystemTime(Date.now() + 90 * SECOND);
    const { reason } = await health(world);
    // They hold no lease, as no session that is at work does.
    await world.t.run(async ({ db }) => {
      await db.patch("sessions", _id, { state: "idle" });
      for (const { _id, lane } of await db.query("sessions").collect())
        if (lane !== undefined) await db.delete("sessions", _id);
    });
    expect(reason).toContain("All workers are busy.");
  });

  test.each(["idle", "active"] as const)(
    "sees a worker behind many %s sessions that serve other queues",
    async (state) => {
      const world = await newWorld();
      const worker = world.worker("a");
      await worker.claim();
      await world.enqueue();
      const { _id, _creationTime, ...fields } = await worker.session();
      vi.setSystemTime(Date.now() + 90 * SECOND);
      const expiresAt = Date.now() + SECOND;
      const others = { ...fields, state, queues: ["others"], expiresAt };
      await world.t.run(async ({ db }) => {
        for (let n = 0; n < 40; n += 1)
          await db.insert("sessions", { ...others, sessionKey: `${n}` });
        await db.delete("sessions", _id);
        await db.insert("sessions", { ...fields, state, expiresAt: expiresAt - 1 });
      });
      const { reason } = await health(world);
      // They hold no lease, as no session that is at work does.
      await world.t.run(async ({ db }) => {
        for (const { _id } of await db.query("sessions").collect())
          await db.delete("sessions", _id);
      });
      expect(reason).toContain(
        state === "idle" ? "1 of the queue's workers are idle" : "All workers are busy.",
      );
    },
  );

  test("says that a queue is paused, at once, and that no worker is there", async () => {
    const world = await newWorld();
    await world.enqueue();
    await world.advance(2 * MINUTE);
    expect((await health(world)).reason).toContain("No worker serves the queue.");
    await world.t.mutation(api.operate.pauseQueue, { queue: "tiles" });
    expect(await health(world)).toMatchObject({ light: "yellow" });
    expect((await gauge(world)).health.reason).toContain("The queue is paused.");
  });
});
