import { describe, expect, test } from "vitest";
import { ARRIVALS_JOBS, ARRIVALS_QUEUES, ARRIVALS_RARE_MS } from "../../shared/index.js";
import { api, internal } from "../_generated/api.js";
import { ensureArrivals } from "./arrivals.js";
import { ensureUpkeep } from "./rollUp.js";
import { newWorld, succeeded, T0, type World } from "../setup.test.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

async function alarm(world: World) {
  return (await world.all("timers")).find(({ kind }) => kind === "arrivals");
}

/** Rings as if the alarm's time had come. */
async function ring(world: World): Promise<void> {
  if ((await alarm(world)) === undefined) {
    await world.t.run((ctx) => ensureArrivals(ctx as never, Date.now() + MINUTE, Date.now()));
  }
  const { _id, generation } = (await alarm(world))!;
  await world.t.mutation(internal.count.arrivals.countNewJobs, {
    timer: _id,
    generation: generation!,
  });
}

/** Has the ended jobs counted, and goes. */
async function rollUp(world: World): Promise<void> {
  await world.t.run((ctx) => ensureUpkeep(ctx as never, "tiles", Date.now()));
  const { _id, generation } = (await world.all("timers")).find(({ kind }) => kind === "rollUp")!;
  await world.t.mutation(internal.count.rollUp.countEnds, { timer: _id, generation: generation! });
}

/** How often its alarm has rung. */
async function ringsOf(world: World): Promise<number> {
  const all = await world.t.run((ctx) => ctx.db.system.query("_scheduled_functions").collect());
  const rings = all.filter(({ name }) => name.includes("arrivals"));
  return rings.filter(({ state }) => state.kind === "success").length;
}

/** New jobs by the minute since the beginning, as counted. */
async function counted(world: World, queue = "tiles"): Promise<Record<string, number>> {
  const rows = (await world.minutes()).filter((row) => row.queue === queue);
  return Object.fromEntries(
    rows
      .map(({ at, enqueued = 0 }) => [String((at - T0) / MINUTE), enqueued] as const)
      .filter(([, enqueued]) => enqueued > 0),
  );
}

async function total(world: World): Promise<number> {
  return Object.values(await counted(world)).reduce((sum, count) => sum + count, 0);
}

describe("the count of new jobs", () => {
  test("counts each once, in the minute in which it was enqueued, half a minute behind", async () => {
    const world = await newWorld();
    await world.enqueueBatch([1, 2, 3]);
    await world.advance(50 * SECOND);
    await world.enqueue();
    await world.advance(20 * SECOND);
    await world.enqueue();
    await ring(world);
    expect(await counted(world)).toEqual({ 0: 3 });
    await world.advance(31 * SECOND);
    await ring(world);
    await ring(world);
    expect(await counted(world)).toEqual({ 0: 4, 1: 1 });
  });

  test("an enqueue costs nothing: no alarm, no row, until something ends", async () => {
    const world = await newWorld();
    await world.enqueueBatch([1, 2, 3]);
    await world.advance(MINUTE);
    for (const table of ["timers", "arrivals", "periods"] as const) {
      expect(await world.all(table), table).toEqual([]);
    }
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.complete([succeeded(job!)]);
    await world.advance(2 * MINUTE);
    expect(await counted(world)).toEqual({ 0: 3 });
  });

  test("keeps queues apart", async () => {
    const world = await newWorld();
    const other = { ...world.queue, name: "emails" };
    await world.enqueue();
    await world.t.mutation(api.lib.enqueue, {
      queue: other,
      jobs: [{ payload: 1 }, { payload: 2 }],
    });
    await world.advance(MINUTE);
    await ring(world);
    expect([await counted(world), await counted(world, "emails")]).toEqual([{ 0: 1 }, { 0: 2 }]);
  });

  test("a retry is no new job", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    await world.advance(MINUTE);
    await ring(world);
    await world.cancel(id);
    await world.t.mutation(api.operate.retryJob, { id });
    await world.advance(2 * MINUTE);
    await ring(world);
    expect(await total(world)).toBe(1);
  });

  test("one that is deleted at once is counted, once, and so is one that is deleted when it has been", async () => {
    const world = await newWorld();
    const [early, late] = await world.enqueueBatch([1, 2]);
    await world.t.mutation(api.operate.deleteJob, { id: early! });
    expect(await world.all("arrived")).toHaveLength(1);
    await world.advance(MINUTE);
    await ring(world);
    expect(await total(world)).toBe(2);
    await world.t.mutation(api.operate.deleteJob, { id: late! });
    expect(await world.all("arrived")).toEqual([]);
    await world.advance(ARRIVALS_RARE_MS + MINUTE);
    expect(await total(world)).toBe(2);
  });

  test("one that comes and goes within a transaction was never there", async () => {
    const world = await newWorld();
    await world.t.mutation(api.lib.declare, { queues: [world.queue] });
    await world.t.run(async (ctx) => {
      const [one] = (await ctx.runMutation(
        api.lib.enqueue as never,
        {
          ...{ queue: world.queue, jobs: [{ payload: 1 }] },
        } as never,
      )) as { id: string }[];
      await ctx.runMutation(api.operate.deleteJob as never, { id: one!.id } as never);
    });
    expect(await world.all("arrived")).toEqual([]);
    expect(await alarm(world)).toBeUndefined();
  });

  test("goes on where a step ends, and takes all that were created at the instant at which it does", async () => {
    const world = await newWorld();
    const jobs = 2 * ARRIVALS_JOBS + 7;
    for (let left = jobs; left > 0; left -= 500) {
      await world.enqueueBatch(Array.from({ length: Math.min(500, left) }, (_, n) => n));
    }
    await world.advance(MINUTE);
    await ring(world);
    expect(await total(world)).toBe(ARRIVALS_JOBS);
    await world.advance(SECOND);
    expect(await total(world)).toBe(jobs);
    expect(await alarm(world)).toBeUndefined();
  });

  test("more that are gone than a step counts are counted all the same", async () => {
    const world = await newWorld();
    const gone = await world.enqueue();
    await world.enqueue();
    const jobs = ARRIVALS_JOBS + 9;
    await world.t.run(async (ctx) => {
      const job = await ctx.db.get("jobs", gone);
      await ctx.db.delete("jobs", gone);
      // Many of one instant, as of callers that began together.
      for (let n = 0; n < jobs; n += 1) {
        const creationTime = job!._creationTime + 1 + (n < 100 ? 0 : n);
        const { _id, queue, enqueuedAt } = job!;
        await ctx.db.insert("arrived", { job: _id, creationTime, queue, enqueuedAt });
      }
    });
    await world.advance(2 * MINUTE);
    await ring(world);
    await world.advance(SECOND);
    expect(await total(world)).toBe(jobs + 1);
    expect(await world.all("arrived")).toEqual([]);
  });

  describe("of more queues than one step counts", () => {
    const WAITING = {
      ...{ status: "pending" as const, order: 21, shard: 0, seq: 1n, payload: { inline: 0 } },
      ...{ attempt: 0, failures: 0, resets: 0, releases: 0 },
    };
    const named = (n: number) => `q${String(n).padStart(3, "0")}`;

    /** The queues with counted jobs, and how many jobs. */
    async function countedQueues(world: World): Promise<[number, number]> {
      const rows = (await world.all("periods")).filter(({ per }) => per === "ever");
      const jobs = rows.reduce((sum, { enqueued }) => sum + enqueued, 0);
      return [new Set(rows.map(({ queue }) => queue)).size, jobs];
    }

    test("the next step goes on, and each job is counted once", async () => {
      const world = await newWorld();
      const queues = 2 * ARRIVALS_QUEUES + 5;
      for (let n = 0; n < queues; n += 1) {
        await world.advance(1);
        const row = { ...WAITING, queue: named(n), enqueuedAt: Date.now() };
        await world.t.run((ctx) => ctx.db.insert("jobs", row));
        await world.t.run((ctx) => ctx.db.insert("jobs", { ...row, queue: named(0) }));
      }
      await world.advance(MINUTE);
      await ring(world);
      expect((await countedQueues(world))[0]).toBe(ARRIVALS_QUEUES);
      await world.advance(SECOND);
      expect(await countedQueues(world)).toEqual([queues, 2 * queues]);
      expect(await alarm(world)).toBeUndefined();
    });

    test("deleted jobs too: one step takes all of the instant at which it ends", async () => {
      const world = await newWorld();
      const job = await world.enqueue();
      await world.enqueue();
      const { _creationTime: from, enqueuedAt } = await world.job(job);
      await world.t.run((ctx) => ctx.db.delete("jobs", job));
      const [tied, queues] = [ARRIVALS_QUEUES + 20, 2 * ARRIVALS_QUEUES];
      await world.t.run(async ({ db }) => {
        for (let n = 0; n < queues; n += 1) {
          const creationTime = from + 1 + Math.max(0, n - tied);
          await db.insert("arrived", { job, creationTime, queue: named(n), enqueuedAt });
        }
      });
      await world.advance(2 * MINUTE);
      await ring(world);
      // The first row behind the 84 is of that instant too, and the job that is still there is older.
      expect(await countedQueues(world)).toEqual([tied + 2, tied + 2]);
      await world.advance(SECOND);
      expect(await countedQueues(world)).toEqual([queues + 1, queues + 1]);
      expect(await world.all("arrived")).toEqual([]);
    });
  });

  test("goes when nothing is left; a job too new to be counted is waited for, ten minutes where there are few", async () => {
    const world = await newWorld();
    await world.enqueue();
    await ring(world);
    expect((await alarm(world))!.dueAt).toBe(T0 + ARRIVALS_RARE_MS);
    await world.advance(ARRIVALS_RARE_MS + SECOND);
    expect(await total(world)).toBe(1);
    expect(await alarm(world)).toBeUndefined();
  });

  test("a roll-up that has counted all takes the alarm with it, and puts it off while something is too new", async () => {
    const world = await newWorld();
    const worker = world.worker("a");
    await world.enqueue();
    await ring(world);
    await world.advance(5 * MINUTE);
    await world.enqueue();
    await worker.complete((await worker.claim()).map((job) => succeeded(job, 1)));
    await rollUp(world);
    const putOff = Date.now() + ARRIVALS_RARE_MS;
    expect((await alarm(world))!.dueAt, "the second is a moment old").toBe(putOff);
    expect(await total(world)).toBe(1);
    await world.advance(2 * MINUTE);
    await worker.complete((await worker.claim()).map((job) => succeeded(job, 1)));
    await rollUp(world);
    expect(await alarm(world)).toBeUndefined();
    const before = await ringsOf(world);
    await world.advance(2 * ARRIVALS_RARE_MS);
    expect(await ringsOf(world), "what was scheduled is canceled").toBe(before);
    expect(await total(world)).toBe(2);
  });

  test("where nothing ends, a sweep counts new jobs, and an app's cron does", async () => {
    const world = await newWorld({ leaseMs: 10 * MINUTE });
    await world.enqueue();
    await world.worker("a").claim();
    await world.enqueueBatch([1, 2]);
    await world.advance(100 * SECOND);
    expect(await total(world)).toBe(3);
    const idle = await newWorld();
    await idle.enqueue();
    await idle.advance(2 * MINUTE);
    await idle.t.mutation(api.lib.watch, {});
    await idle.advance(SECOND);
    expect(await total(idle)).toBe(1);
  });
});
