import { describe, expect, test } from "vitest";
import { routeKey } from "../../shared/index.js";
import { api, internal } from "../_generated/api.js";
import type { Id } from "../_generated/dataModel.js";
import { ensurePurge } from "./purge.js";
import { ensureUpkeep } from "./rollUp.js";
import { app, newToldWorld, newWorld, succeeded, type World } from "../setup.test.js";

const HOUR = 60 * 60_000;
const SECOND = 1_000;

const retention = (succeededMs: number, failedMs = succeededMs) => ({
  retention: { succeededMs, failedMs, canceledMs: succeededMs, timedOutMs: failedMs },
});

/** Ends jobs that wait, and lets them be counted, which arms the purge. */
async function end(world: World, ids: readonly string[]): Promise<void> {
  for (const id of ids) await world.t.mutation(api.operate.cancelJob, { id });
  await world.advance(10 * SECOND + 100);
}

async function purges(world: World) {
  return (await world.all("timers")).filter(({ kind }) => kind === "purge");
}

/** Rings the purge as if its time had come. */
async function ring(world: World): Promise<void> {
  const [alarm] = await purges(world);
  const args = { timer: alarm!._id, generation: alarm!.generation! };
  await world.t.mutation(internal.count.purge.purgeQueue, args);
}

function givenUp(job: Id<"jobs">) {
  const outcome = { status: "failed" as const, error: "boom" };
  return {
    ...{ job, handle: "", attempt: 1, outcome },
    state: "dead" as const,
    tries: 10,
    dueAt: 0,
  };
}

describe("the purge", () => {
  test("deletes ended jobs when their retention is over, and not before", async () => {
    const world = await newWorld(retention(60 * SECOND));
    const ids = await world.enqueueBatch([1, 2, "x".repeat(600)]);
    await end(world, ids);
    await world.advance(48 * SECOND);
    expect(await world.all("jobs")).toHaveLength(3);
    await world.advance(16 * SECOND);
    expect([await world.all("jobs"), await world.all("payloads")]).toEqual([[], []]);
    // That of the count of new jobs, which comes every ten minutes at most.
    expect((await world.all("timers")).map(({ kind }) => kind)).toEqual(["arrivals"]);
    await world.advance(HOUR);
    expect(await world.all("timers")).toEqual([]);
  });

  test("keeps each outcome for its own time, and comes for the shorter one also when that came later", async () => {
    const world = await newWorld(retention(30 * SECOND, 2 * HOUR));
    await world.enqueue(1, { expiresAfterMs: 2_000 });
    await world.advance(14 * SECOND);
    expect((await world.all("jobs")).map(({ status }) => status)).toEqual(["failed"]);
    await end(world, [await world.enqueue()]);
    await world.advance(33 * SECOND);
    expect((await world.all("jobs")).map(({ status }) => status)).toEqual(["failed"]);
    const [{ dueAt } = { dueAt: 0 }] = await purges(world);
    expect(dueAt - Date.now()).toBeGreaterThan(HOUR);
  });

  test("leaves jobs that wait, and is not there for a queue in which nothing has ended", async () => {
    const world = await newWorld(retention(5 * SECOND));
    const [ended] = await world.enqueueBatch([1, 2]);
    await end(world, [ended!]);
    await world.advance(10 * SECOND);
    expect((await world.all("jobs")).map(({ status }) => status)).toEqual(["pending"]);
    expect(await purges(world)).toEqual([]);
  });

  test("costs an idle queue at most a call an hour while finished jobs remain", async () => {
    const world = await newWorld(retention(24 * HOUR));
    let calls = 0;
    for (const id of await world.enqueueBatch([1, 2, 3])) {
      await end(world, [id]);
      await world.advance(20 * SECOND);
    }
    let at = 0;
    for (let alarm = (await purges(world))[0]; alarm !== undefined; [alarm] = await purges(world)) {
      expect(alarm.dueAt - at).toBeGreaterThanOrEqual(HOUR);
      at = alarm.dueAt;
      calls += 1;
      await world.skipTo(alarm.dueAt);
    }
    expect(calls).toBe(1);
    expect(await world.all("jobs")).toEqual([]);
  });

  // Shows M2, M8.
  // Rules out D31a.
  test("deletes more than one transaction can, each from where the last one stopped", async () => {
    const world = await newWorld(retention(20 * SECOND));
    await world.enqueueBatch(Array.from({ length: 150 }, (_, n) => n));
    await world.t.mutation(api.operate.cancelMany, { queue: "tiles", filter: {} });
    await world.advance(12 * SECOND);
    await world.advance(21 * SECOND);
    expect(await world.all("jobs").then((jobs) => jobs.length)).toBe(0);
    expect((await world.minutes()).map(({ canceled }) => canceled)).toEqual([150]);
  });

  test("does not delete jobs that the roll-up has not counted", async () => {
    const world = await newWorld(retention(0));
    const id = await world.enqueue();
    await world.t.mutation(api.operate.cancelJob, { id });
    await world.t.run(async (ctx) => {
      await ensurePurge(ctx, "tiles", ["canceled"], Date.now());
    });
    await world.advance(2 * SECOND);
    expect(await world.all("jobs")).toHaveLength(1);
    await world.advance(75 * SECOND);
    expect(await world.all("jobs")).toEqual([]);
    expect((await world.minutes()).map(({ canceled }) => canceled)).toEqual([1]);
  });

  test("waits for an onComplete that is still owed, and not for one that was given up", async () => {
    const world = await newToldWorld(retention(0));
    app.onComplete = () => {
      throw new Error("not yet");
    };
    const id = await world.enqueue();
    await end(world, [id]);
    await ring(world);
    expect(await world.all("jobs")).toHaveLength(1);
    await world.t.run(async (ctx) => {
      const owed = await ctx.db.query("callbacks").first();
      await ctx.db.patch("callbacks", owed!._id, { state: "dead" });
    });
    await ring(world);
    expect([await world.all("jobs"), await world.all("callbacks")]).toEqual([[], []]);
  });

  test("waits for an onComplete that is owed behind any number of ends that were given up", async () => {
    const world = await newToldWorld({ ...retention(0), circular: true });
    app.onComplete = () => {
      throw new Error("not yet");
    };
    const id = await world.enqueue();
    await world.t.run(async (ctx) => {
      for (let i = 0; i < 200; i += 1) await ctx.db.insert("callbacks", givenUp(id));
    });
    await end(world, [id]);
    await ring(world);
    expect(await world.all("jobs"), "its item was canceled").toHaveLength(1);
    app.onComplete = () => undefined;
    await world.advance(60 * SECOND);
    expect((await world.all("told")).map(({ status }) => status)).toEqual(["canceled"]);
    await world.advance(120 * SECOND);
    expect([await world.all("jobs"), await world.all("callbacks")]).toEqual([[], []]);
  });

  test("leaves a job that was retried and has a new end", async () => {
    const world = await newWorld(retention(30 * SECOND));
    const [id, other] = await world.enqueueBatch([1, 2]);
    await end(world, [id!, other!]);
    await world.t.mutation(api.operate.retryJob, { id: id! });
    await world.advance(33 * SECOND);
    expect((await world.all("jobs")).map((job) => job._id)).toEqual([id]);
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.complete([succeeded(job!)]);
    await world.advance(60 * SECOND);
    expect(await world.all("jobs")).toEqual([]);
  });

  test("comes at once when retention is made shorter while it runs", async () => {
    const world = await newWorld(retention(24 * HOUR));
    await end(world, [await world.enqueue()]);
    const overrides = retention(5 * SECOND);
    await world.t.mutation(api.operate.configureQueue, { queue: "tiles", overrides });
    await world.advance(SECOND);
    expect(await world.all("jobs")).toEqual([]);
  });

  test("comes at once when a deploy has made retention shorter, where nothing ends any more", async () => {
    const world = await newWorld(retention(20 * 24 * HOUR));
    await end(world, [await world.enqueue()]);
    world.queue.config = { ...world.queue.config, ...retention(5 * SECOND) };
    await world.worker("a").claim();
    await world.advance(SECOND);
    expect(await world.all("jobs")).toEqual([]);
  });

  test("begins anew when the queue's epoch changes, as after an import of old rows", async () => {
    const world = await newWorld(retention(40 * SECOND));
    const first = await world.enqueue();
    await end(world, [first]);
    const older = ((await world.job(first)).seq as bigint) - 1n;
    await world.advance(20 * SECOND);
    const kept = await world.enqueue();
    await end(world, [kept]);
    await world.advance(13 * SECOND);
    expect((await world.all("jobs")).map((job) => job._id)).toEqual([kept]);
    // As after an import: a row with an old `seq` appears below every place that was reached.
    const imported = await world.enqueue();
    await world.t.mutation(api.operate.cancelJob, { id: imported });
    await world.t.run((ctx) => ctx.db.patch("jobs", imported, { seq: older }));
    await ring(world);
    expect(await world.all("jobs")).toHaveLength(2);
    await world.t.mutation(internal.rows.queues.forgetCursors, { queue: "tiles" });
    await ring(world);
    expect((await world.all("jobs")).map((job) => job._id)).toEqual([kept]);
  });

  // Rules out P26.
  test("called by an older generation does nothing", async () => {
    const world = await newWorld(retention(HOUR));
    await end(world, [await world.enqueue()]);
    const [alarm] = await purges(world);
    await world.t.mutation(api.operate.configureQueue, {
      queue: "tiles",
      overrides: retention(2 * HOUR),
    });
    await world.settle();
    const before = await purges(world);
    await world.t.mutation(internal.count.purge.purgeQueue, { timer: alarm!._id, generation: 0 });
    expect(await purges(world)).toEqual(before);
  });
});

describe("other rows after their time", () => {
  // Rules out D31a.
  test("keys are forgotten when their window is over, and keep the purge armed until then", async () => {
    const world = await newWorld(retention(5 * SECOND));
    const [job] = await world.enqueueJobs([
      { payload: 1, options: { key: { value: "k", windowMs: 30 * SECOND } } },
    ]);
    await end(world, [job!.id]);
    await world.advance(6 * SECOND);
    expect([await world.all("jobs"), (await world.all("keys")).length]).toEqual([[], 1]);
    await world.advance(20 * SECOND);
    await ring(world);
    expect([await world.all("keys"), await purges(world)]).toEqual([[], []]);
  });

  // Rules out D31a.
  test.each(["one", "many"])("so is the key of a deleted job (%s)", async (how) => {
    const world = await newWorld();
    const options = { key: { value: "k", windowMs: 30 * SECOND } };
    const [job] = await world.enqueueJobs([{ payload: 1, options }]);
    if (how === "one") await world.t.mutation(api.operate.deleteJob, { id: job!.id });
    else {
      await world.t.mutation(api.operate.deleteMany, {
        queue: "tiles",
        filter: { statuses: ["pending"] },
      });
    }
    expect([await world.all("jobs"), (await world.all("keys")).length]).toEqual([[], 1]);
    await world.advance(11 * SECOND);
    await world.skipTo(Date.now() + HOUR + 30 * SECOND);
    await world.settle();
    expect([await world.all("keys"), await world.all("timers")]).toEqual([[], []]);
  });

  test("of more keys or events than one transaction deletes, the remaining ones go right after, and not an hour later", async () => {
    const world = await newWorld(retention(5 * SECOND));
    const id = await world.enqueue();
    await world.t.run(async (ctx) => {
      for (let n = 0; n < 350; n += 1) {
        await ctx.db.insert("keys", { queue: "tiles", key: `k${n}`, job: id, until: 1 });
        await ctx.db.insert("events", { kind: "old", at: 0, message: "" });
      }
    });
    await end(world, [id]);
    await world.advance(10 * SECOND);
    expect([await world.all("keys"), await world.all("events")]).toEqual([[], []]);
  });

  test("old events and minutes go; the ones of today stay", async () => {
    const world = await newWorld(retention(5 * SECOND));
    const id = await world.enqueue();
    await world.t.run(async (ctx) => {
      const histograms = { waitMs: [], runMs: [], waitSumMs: 0, runSumMs: 0 };
      const counts = {
        enqueued: 1,
        started: 1,
        succeeded: 1,
        failed: 0,
        canceled: 0,
        timedOut: 0,
        ...histograms,
      };
      await ctx.db.insert("periods", { queue: "tiles", per: "minute", at: 0, ...counts });
      await ctx.db.insert("events", { kind: "old", at: 0, message: "" });
      await ctx.db.insert("events", { kind: "new", at: Date.now(), message: "" });
    });
    await end(world, [id]);
    await world.advance(6 * SECOND);
    expect((await world.all("events")).map(({ kind }) => kind)).toEqual(["new"]);
    expect((await world.minutes()).map(({ canceled }) => canceled)).toEqual([1]);
  });

  test("minutes of a queue go with newer ones where the app deletes each job, so that no purge comes", async () => {
    const world = await newWorld();
    const worker = world.worker("a");
    const workOne = async () => {
      const id = await world.enqueue();
      await worker.complete((await worker.claim()).map((job) => succeeded(job)));
      await world.t.mutation(api.operate.deleteJob, { id });
      await world.advance(60 * SECOND);
      return (await world.minutes()).map(({ at }) => at);
    };
    const [first] = await workOne();
    for (let i = 0; i < 3; i += 1) {
      await world.skipTo(Date.now() + 21 * 24 * HOUR);
      await world.advance(60 * SECOND);
      expect(await purges(world)).toEqual([]);
      if (i < 2) expect(await workOne()).toContain(first);
    }
    expect(await workOne()).not.toContain(first);
  });

  test("old events go with the first count of a day where nothing ends, so that no purge comes", async () => {
    const world = await newWorld({ circular: true });
    await world.enqueue();
    await world.t.mutation(api.operate.pauseQueue, { queue: "tiles" });
    await world.t.mutation(api.operate.resumeQueue, { queue: "tiles" });
    await world.skipTo(Date.now() + 32 * 24 * HOUR);
    await world.t.mutation(api.operate.pauseQueue, { queue: "tiles" });
    await world.t.mutation(api.operate.resumeQueue, { queue: "tiles" });
    const worker = world.worker("a");
    await worker.complete((await worker.claim()).map((job) => succeeded(job)));
    await world.advance(40 * SECOND);
    expect(await purges(world)).toEqual([]);
    expect(await world.all("events")).toHaveLength(2);
  });

  test("of many old events few go with the first count of a queue's day, of which one count may begin hundreds", async () => {
    const world = await newWorld();
    await world.t.run(async (ctx) => {
      for (let n = 0; n < 10; n += 1)
        await ctx.db.insert("events", { kind: "paused", queue: "tiles", message: "Old.", at: n });
    });
    await world.enqueue();
    const worker = world.worker("a");
    await worker.complete((await worker.claim()).map((job) => succeeded(job)));
    await world.advance(30 * SECOND);
    expect((await world.all("events")).map(({ at }) => at)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test("routes in which nothing waits go where there are many; one that is in use stays", async () => {
    const world = await newWorld(retention(0));
    const labels = (n: number) => ({ labels: [`l${n}`] });
    const jobs = await world.enqueueJobs(
      Array.from({ length: 24 }, (_, n) => ({ payload: n, options: labels(n) })),
    );
    const kept = jobs[7]!.id;
    for (const { id } of jobs)
      if (id !== kept) await world.t.mutation(api.operate.cancelJob, { id });
    await world.t.run(async (ctx) => await ensureUpkeep(ctx as never, "tiles", Date.now()));
    await world.advance(12 * SECOND);
    for (let i = 0; i < 12; i += 1) {
      await end(world, [await world.enqueue()]);
      if ((await purges(world)).length > 0) await ring(world);
    }
    const routes = await world.all("routes");
    expect(routes.length).toBeLessThanOrEqual(16);
    expect(routes.map(({ key }) => key)).toContain(routeKey(labels(7)));
  });
});
