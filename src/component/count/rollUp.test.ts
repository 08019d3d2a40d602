import { describe, expect, test, vi } from "vitest";
import { msOfCommit, periodOf, ROLL_UP_JOBS } from "../../shared/index.js";
import { api, internal } from "../_generated/api.js";
import type { Doc } from "../_generated/dataModel.js";
import { ensureUpkeep } from "./rollUp.js";
import { failed, newWorld, succeeded, type World } from "../setup.test.js";

const EVERY = 10_000;
/** Of a row of `jobs`, but for its queue and its commit. */
const ENDED = {
  ...{ status: "succeeded" as const, order: 0, shard: 0, payload: { inline: 0 }, enqueuedAt: 0 },
  ...{ attempt: 1, failures: 0, resets: 0, releases: 0 },
};

async function startUpkeep(world: World): Promise<void> {
  await world.t.run(async (ctx) => await ensureUpkeep(ctx as never, "tiles", Date.now()));
}

async function alarms(world: World) {
  return (await world.all("timers")).filter(({ kind }) => kind === "rollUp");
}

/** The expected counts of minutes, counted from the jobs themselves. */
function naive(jobs: readonly Doc<"jobs">[]) {
  const minutes = new Map<number, Record<string, number>>();
  for (const { status, seq } of jobs) {
    const minute = periodOf(msOfCommit(seq as bigint), "minute");
    const counts = minutes.get(minute) ?? { succeeded: 0, failed: 0, canceled: 0, timedOut: 0 };
    counts[status] = (counts[status] ?? 0) + 1;
    minutes.set(minute, counts);
  }
  return minutes;
}

async function counted(world: World) {
  return new Map(
    (await world.minutes()).map(({ at, succeeded, failed, canceled, timedOut }) => [
      at,
      { succeeded, failed, canceled, timedOut },
    ]),
  );
}

async function finishSome(world: World, count: number): Promise<void> {
  await world.enqueueBatch(Array.from({ length: count }, (_, n) => n));
  const worker = world.worker(`w${Date.now()}`);
  const jobs = await worker.claim(count);
  await world.advance(700);
  await worker.complete(jobs.map((job, i) => (i % 3 === 0 ? failed(job) : succeeded(job))));
}

describe("the roll-up", () => {
  // Rules out D7a.
  test("counts every finished job once, as a naive count does, over minutes and runs", async () => {
    const world = await newWorld();
    await startUpkeep(world);
    for (let i = 0; i < 5; i += 1) {
      await finishSome(world, 3 + i);
      const canceled = await world.enqueue();
      await world.t.mutation(api.operate.cancelJob, { id: canceled });
      await world.advance(i % 2 === 0 ? 9_300 : 21_000);
      await startUpkeep(world);
    }
    await world.advance(EVERY + 100);
    expect(await counted(world)).toEqual(naive(await world.all("jobs")));
  });

  test("counts an end that is gone and one that is there in one run, into one minute", async () => {
    const world = await newWorld();
    const [id] = await world.enqueueBatch([1, 2]);
    const worker = world.worker("a");
    await worker.complete((await worker.claim(2)).map((job) => succeeded(job)));
    await world.t.mutation(api.operate.retryJob, { id: id! });
    expect(await world.all("ended")).toHaveLength(1);
    await world.advance(15_000);
    expect(await world.all("ended")).toEqual([]);
    expect((await world.minutes()).map(({ succeeded: ends }) => ends)).toEqual([2]);
  });

  // Shows M8.
  test("goes on where one run ends, through more jobs of one transaction than it counts", async () => {
    const world = await newWorld();
    await world.t.run(async (ctx) => {
      for (let i = 0; i < 600; i += 1)
        await ctx.db.insert("jobs", { ...ENDED, queue: "tiles", seq: ctx.db.vars.commitTs });
    });
    await startUpkeep(world);
    await world.advance(EVERY + 200);
    const [minute, ...others] = await world.minutes();
    expect(minute).toMatchObject({ succeeded: 600 });
    expect(others).toEqual([]);
  });

  test("goes on past a commit of more ends than it reads, all but the first of which are gone", async () => {
    const world = await newWorld();
    await world.enqueue();
    const [first, ...others] = await world.t.run(async (ctx) => {
      const ids: string[] = [];
      for (let i = 0; i <= ROLL_UP_JOBS + 1; i += 1)
        ids.push(
          await ctx.db.insert("jobs", { ...ENDED, queue: "tiles", seq: ctx.db.vars.commitTs }),
        );
      return ids;
    });
    for (const id of others) await world.t.mutation(api.operate.retryJob, { id });
    // By hand: one that never ends would hang the clock.
    for (let run = 0; run < 2; run += 1)
      for (const { _id: timer, generation = 0 } of await alarms(world))
        await world.t.mutation(internal.count.rollUp.countEnds, { timer, generation });
    expect(await world.all("ended")).toEqual([]);
    expect((await world.minutes()).map(({ succeeded: ends }) => ends)).toEqual([others.length + 1]);
    expect((await world.job(first!)).status).toBe("succeeded");
  });

  test("leaves out each of a job's ends that are gone, also where its snapshot shows the first of two", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    await world.cancel(id);
    const { _id: job, seq } = await world.job(id);
    const ends = { queue: "tiles", upTo: [], since: 0 };
    const found = await world.t.query(internal.count.rollUp.findEnds, {
      ...ends,
      but: [seq as bigint, (seq as bigint) + 1n].map((one) => ({ job, seq: one })),
    });
    expect(found).toMatchObject({ count: 0, tallies: [] });
  });

  // Shows LF-04, DE-12.
  test("counts how long jobs waited and ran; one that was never begun did neither", async () => {
    const world = await newWorld();
    await startUpkeep(world);
    await world.enqueue();
    await world.t.mutation(api.operate.cancelJob, { id: await world.enqueue() });
    await world.advance(3_000);
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await world.advance(100);
    await worker.complete([succeeded(job!)]);
    await world.advance(EVERY);
    const [minute] = await world.minutes();
    expect(minute!.waitMs.map((n, bucket) => [bucket, n]).filter(([, n]) => n !== 0)).toEqual([
      [12, 1],
    ]);
    expect(minute!.runMs.map((n, bucket) => [bucket, n]).filter(([, n]) => n !== 0)).toEqual([
      [7, 1],
    ]);
  });

  test("counts the end of a job that was retried before it ran, and again when it has finished again", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    await world.t.mutation(api.operate.cancelJob, { id });
    await world.t.mutation(api.operate.retryJob, { id });
    await startUpkeep(world);
    await world.advance(EVERY + 100);
    expect((await world.minutes()).map(({ canceled }) => canceled)).toEqual([1]);
    expect(await world.all("ended")).toEqual([]);
    await world.t.mutation(api.operate.cancelJob, { id });
    await startUpkeep(world);
    await world.advance(EVERY + 100);
    expect((await world.minutes()).map(({ canceled }) => canceled)).toEqual([2]);
  });

  test("goes when nothing is left to count, and goes on from there when it is made sure of again", async () => {
    const world = await newWorld();
    await startUpkeep(world);
    await finishSome(world, 3);
    await world.advance(3 * EVERY);
    expect(await alarms(world)).toEqual([]);
    await finishSome(world, 4);
    await startUpkeep(world);
    await world.advance(EVERY + 100);
    expect(await counted(world)).toEqual(naive(await world.all("jobs")));
  });

  // Rules out D31b.
  test("is made sure of by the janitor where something has finished, also by the sweep that goes", async () => {
    const world = await newWorld();
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await world.advance(9_000);
    expect(await alarms(world)).toEqual([]);
    await worker.complete([succeeded(job!)]);
    await world.advance(2_000);
    expect((await world.all("timers")).map(({ kind }) => kind)).toEqual(["rollUp"]);
    await world.advance(EVERY);
    expect((await world.minutes()).map(({ succeeded }) => succeeded)).toEqual([1]);
  });

  test("that comes is not brought forward by lot, however often it is made sure of", async () => {
    const world = await newWorld();
    await startUpkeep(world);
    const before = await alarms(world);
    for (let i = 0; i < 20; i += 1) await startUpkeep(world);
    expect(await alarms(world)).toEqual(before);
  });

  test("of a quiet queue counts for other queues that come soon, up to the first that has many jobs", async () => {
    const world = await newWorld();
    const early = vi.spyOn(Math, "random").mockReturnValue(0);
    for (const [queue, jobs] of Object.entries({ a: 1, b: 2, c: 20, d: 1 })) {
      await world.t.run(async (ctx) => {
        for (let i = 0; i < jobs; i += 1)
          await ctx.db.insert("jobs", { ...ENDED, queue, seq: ctx.db.vars.commitTs });
        await ensureUpkeep(ctx, queue, Date.now());
      });
      await world.advance(1_500);
    }
    early.mockRestore();
    const byQueue = async (table: "counted" | "timers") =>
      (await world.all(table))
        .filter((row) => !("kind" in row) || row.kind === "rollUp")
        .map(({ queue }) => queue);
    await world.advance(EVERY - 6_000 + 100);
    expect(await byQueue("counted")).toEqual(["a", "b", "c"]);
    expect(await byQueue("timers")).toEqual(["c", "d"]);
  });

  // Shows WP-03.
  test("called by an older generation does nothing: its jobs would be counted twice", async () => {
    const world = await newWorld();
    await finishSome(world, 3);
    await startUpkeep(world);
    const [alarm] = await alarms(world);
    await world.advance(EVERY + 100);
    const before = await world.minutes();
    // As if its keys had been forgotten.
    await world.t.run(async (ctx) => {
      const row = await ctx.db.query("counted").first();
      await ctx.db.delete("counted", row!._id);
    });
    await world.t.mutation(internal.count.rollUp.countEnds, {
      timer: alarm!._id,
      generation: alarm!.generation!,
    });
    expect(await world.minutes()).toEqual(before);
  });
});

test("a roll-up leaves the ones behind one that is about to run to that one, and passes by a dead one", async () => {
  const world = await newWorld();
  const now = Date.now();
  const dueIn = { a: 5_000, aDead: -3_600_000, b: 20_000, c: 9_000, d: 200, e: 5_000 };
  const ids = await world.t.run(async ({ db }) => {
    const inserted = Object.entries(dueIn).map(async ([queue, ms]) => {
      const row = { kind: "rollUp" as const, queue, dueAt: now + ms };
      return [queue, await db.insert("timers", row)] as const;
    });
    return Object.fromEntries(await Promise.all(inserted));
  });
  const next = (after: string) =>
    world.t.query(internal.count.rollUp.nextRollUps, {
      after,
      from: now + 1_000,
      to: now + 10_000,
    });
  expect(await next("")).toEqual([ids["a"], ids["c"]]);
  expect(await next("d")).toEqual([ids["e"]]);
});
