/** How much a purge deletes in one transaction, when it comes again, and rows that arm none. */
import { describe, expect, test } from "vitest";
import { PURGE_IDLE_MS, PURGE_OWED_MS, REMOVE_JOBS } from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc } from "../_generated/dataModel.js";
import type { MutationCtx } from "../_generated/server.js";
import { noteEndGone } from "./uncounted.js";
import { ensurePurge, ensureWindowPurged, hastenPurge } from "./purge.js";
import { app, newToldWorld, newWorld, type World } from "../setup.test.js";

const SECOND = 1_000;
const HOUR = 60 * 60_000;

const retention = (succeededMs: number, failedMs = succeededMs) => ({
  retention: { succeededMs, failedMs, canceledMs: succeededMs, timedOutMs: failedMs },
});

const inside = async <T>(world: World, work: (ctx: MutationCtx) => Promise<T>) =>
  await world.t.run(async (ctx) => await work(ctx as never));

async function alarmOf(world: World): Promise<Doc<"timers"> | undefined> {
  return (await world.all("timers")).find(({ kind }) => kind === "purge");
}

/** Arms the purge, and lets it ring now. */
async function ring(world: World): Promise<Doc<"timers"> | undefined> {
  await inside(world, async (ctx) => {
    await ensurePurge(ctx, "tiles", ["canceled"], Date.now());
  });
  const alarm = (await alarmOf(world))!;
  const args = { timer: alarm._id, generation: alarm.generation! };
  await world.t.mutation(internal.count.purge.purgeQueue, args);
  return await alarmOf(world);
}

async function cancel(world: World, ids: readonly string[]): Promise<void> {
  for (const id of ids) await world.cancel(id);
}

/** Ends jobs, and lets them be counted. Their retention is an hour at least, or the purge would come by itself. */
async function end(world: World, ids: readonly string[]): Promise<void> {
  await cancel(world, ids);
  await world.advance(11 * SECOND);
}

/** Their retention is over: for the purge, they ended two days ago. */
async function elapse(world: World): Promise<void> {
  const [queue] = await world.all("queues");
  const config = { ...queue!.config, ...retention(0) };
  await world.t.run((ctx) => ctx.db.patch("queues", queue!._id, { config }));
  await world.t.run(async ({ db }) => {
    for (const timer of await db.query("timers").collect())
      if (timer.kind === "purge") await db.delete("timers", timer._id);
  });
  await world.advance(SECOND);
}

describe("one ring", () => {
  test("deletes so many jobs and no more, of any statuses, and comes for the rest at once", async () => {
    const world = await newWorld(retention(24 * HOUR));
    await end(world, await world.enqueueBatch(Array.from({ length: 60 }, (_, n) => n)));
    for (let n = 0; n < 60; n += 1) await world.enqueue(n, { expiresAfterMs: SECOND });
    await world.advance(15 * SECOND);
    expect(new Set((await world.all("jobs")).map(({ status }) => status)).size).toBe(2);
    await elapse(world);
    const alarm = await ring(world);
    expect(await world.all("jobs")).toHaveLength(120 - REMOVE_JOBS);
    expect(alarm!.dueAt).toBeLessThanOrEqual(Date.now());
  });

  test("ends where the deleted rows are large, and comes for the remaining ones at once", async () => {
    const world = await newWorld(retention(24 * HOUR));
    const ids: string[] = [];
    for (let n = 0; n < 4; n += 1) ids.push(await world.enqueue("x".repeat(900_000)));
    await end(world, ids);
    await elapse(world);
    const alarm = await ring(world);
    expect(await world.all("jobs")).toHaveLength(2);
    expect(alarm!.dueAt).toBeLessThanOrEqual(Date.now());
  });

  test("takes of a job with more rows than it may a part, and its row with the last", async () => {
    const world = await newWorld(retention(24 * HOUR));
    const id = await world.enqueue();
    await end(world, [id]);
    await world.t.run(async ({ db }) => {
      for (let index = 0; index < 1_200; index += 1)
        await db.insert("chunks", { job: id, attempt: 1, index, text: "x", total: index });
    });
    await elapse(world);
    const alarm = await ring(world);
    expect([(await world.all("jobs")).length, (await world.all("chunks")).length]).toEqual([
      1, 200,
    ]);
    expect(alarm!.dueAt).toBeLessThanOrEqual(Date.now());
    expect(alarm!.position.place).toMatchObject({ job: id, within: 999 });
    await ring(world);
    expect([await world.all("jobs"), await world.all("chunks")]).toEqual([[], []]);
  });

  test("leaves the very next job that is to be counted; so does a deletion say that it goes uncounted", async () => {
    const world = await newWorld(retention(24 * HOUR));
    const id = await world.enqueue();
    await end(world, [id]);
    const { seq, _creationTime: creationTime } = await world.job(id);
    await world.t.run(async ({ db }) => {
      const [counted] = await db.query("counted").collect();
      const upTo = [{ status: "canceled" as const, seq: seq as bigint, creationTime }];
      await db.patch("counted", counted!._id, { upTo });
      for (const timer of await db.query("timers").collect())
        if (timer.kind === "rollUp") await db.delete("timers", timer._id);
    });
    await elapse(world);
    await world.t.run(async ({ db }) => {
      for (const timer of await db.query("timers").collect())
        if (timer.kind === "rollUp") await db.delete("timers", timer._id);
    });
    await ring(world);
    expect(await world.all("jobs")).toHaveLength(1);
    const kinds = (await world.all("timers")).map(({ kind }) => kind);
    expect(kinds, "and sees to a count").toContain("rollUp");
    const job = await world.job(id);
    await inside(world, async (ctx) => await noteEndGone(ctx, job));
    expect(await world.all("ended")).toMatchObject([{ job: id, seq, finishedAt: job.finishedAt }]);
  });

  test("that finds an end still to be delivered comes again in a minute", async () => {
    const world = await newToldWorld(retention(24 * HOUR));
    app.onComplete = () => {
      throw new Error("not yet");
    };
    await end(world, [await world.enqueue()]);
    await elapse(world);
    expect((await ring(world))!.dueAt).toBe(Date.now() + PURGE_OWED_MS);
  });

  test("of a queue that is gone takes its alarm along", async () => {
    const world = await newWorld(retention(24 * HOUR));
    await end(world, [await world.enqueue()]);
    const alarm = (await alarmOf(world))!;
    await world.t.run(({ db }) => db.patch("timers", alarm._id, { queue: "gone" }));
    await world.t.mutation(internal.count.purge.purgeQueue, {
      timer: alarm._id,
      generation: alarm.generation!,
    });
    expect(await alarmOf(world)).toBeUndefined();
  });
});

describe("the next ring", () => {
  test("comes an hour late at most for a few jobs, and a minute where many go", async () => {
    for (const [many, late] of [
      [10, HOUR],
      [70, 60 * SECOND],
    ] as const) {
      const world = await newWorld(retention(24 * HOUR));
      await end(world, await world.enqueueBatch(Array.from({ length: many }, (_, n) => n)));
      await world.skipTo(Date.now() + 3 * HOUR);
      const last = await world.enqueue();
      await end(world, [last]);
      const ended = (await world.job(last)).finishedAt!;
      const { dueAt } = (await alarmOf(world))!;
      await world.skipTo(dueAt);
      expect(await world.all("jobs")).toHaveLength(1);
      const next = (await alarmOf(world))!.dueAt - ended - 24 * HOUR;
      expect(Math.abs(next - late)).toBeLessThan(SECOND);
    }
  });

  test("comes an hour after the window of a key that is kept", async () => {
    const world = await newWorld(retention(24 * HOUR));
    const key = { value: "k", windowMs: 30 * HOUR };
    await end(world, [await world.enqueue(1, { key })]);
    const { until } = (await world.all("keys"))[0]!;
    await elapse(world);
    expect((await ring(world))!.dueAt).toBe(until! + PURGE_IDLE_MS);
  });

  test.each(["keys", "events", "periods"] as const)(
    "comes at once where more %s have had their time than one deletes",
    async (table) => {
      const world = await newWorld(retention(24 * HOUR));
      const id = await world.enqueue();
      await end(world, [id]);
      await world.t.run(async ({ db }) => {
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
        for (let n = 0; n < REMOVE_JOBS + 10; n += 1) {
          if (table === "keys")
            await db.insert("keys", { queue: "tiles", key: `k${n}`, job: id, until: 1 });
          else if (table === "events")
            await db.insert("events", { kind: "old", at: 0, message: "" });
          else await db.insert("periods", { queue: "tiles", per: "minute", at: n, ...counts });
        }
      });
      expect((await ring(world))!.dueAt).toBeLessThanOrEqual(Date.now());
    },
  );
});

describe("the purge is armed", () => {
  test("for the shortest time among the statuses in which something has ended", async () => {
    const world = await newWorld(retention(48 * HOUR, 24 * 10 * SECOND));
    await world.enqueue();
    await inside(world, async (ctx) => {
      await ensurePurge(ctx, "tiles", ["succeeded", "failed"], Date.now());
    });
    expect((await alarmOf(world))!.dueAt).toBe(Date.now() + 250 * SECOND);
  });

  test("for nothing where nothing has ended, and for no queue that is unknown", async () => {
    const world = await newWorld(retention(24 * HOUR));
    await world.enqueue();
    await inside(world, async (ctx) => {
      await ensurePurge(ctx, "tiles", [], Date.now());
      await ensurePurge(ctx, "unknown", ["failed"], Date.now());
      await hastenPurge(ctx, "tiles", Date.now());
    });
    expect(await alarmOf(world)).toBeUndefined();
  });

  test("for a key with a window that a deleted job keeps, an hour after that, and for no other", async () => {
    const world = await newWorld(retention(24 * HOUR));
    await world.enqueue();
    await inside(world, async (ctx) => await ensureWindowPurged(ctx, { queue: "tiles" }, 1));
    expect(await alarmOf(world)).toBeUndefined();
    const keyUntil = Date.now() + HOUR;
    await inside(world, async (ctx) => {
      await ensureWindowPurged(ctx, { queue: "tiles", keyUntil }, Date.now());
    });
    expect((await alarmOf(world))!.dueAt).toBe(keyUntil + PURGE_IDLE_MS);
  });
});
