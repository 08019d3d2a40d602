import { describe, expect, test } from "vitest";
import { PERIODS_RETENTION_MS, type Per, type Period } from "../../shared/index.js";
import { api, internal } from "../_generated/api.js";
import { failed, newWorld, refusal, succeeded, T0, type World } from "../setup.test.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

async function stats(
  world: World,
  more: { per?: Per; count?: number; until?: number; queue?: string } = {},
): Promise<Period[]> {
  const { periods } = await world.t.query(api.observe.stats, { queue: "tiles", ...more });
  return periods;
}

/** Some jobs that wait for two seconds and run for one. */
async function work(world: World, jobs: number, failures = 0): Promise<void> {
  await world.enqueueBatch(Array.from({ length: jobs }, (_, n) => n));
  await world.advance(2 * SECOND);
  const worker = world.worker(`w${Date.now()}`);
  const claimed = await worker.claim(jobs);
  await world.advance(SECOND);
  await worker.complete(claimed.map((job, i) => (i < failures ? failed(job) : succeeded(job))));
}

const sum = (periods: Period[], of: Exclude<keyof Period, "waitMs" | "runMs">) =>
  periods.reduce((all, period) => all + period[of], 0);

/** So many jobs are canceled together, and deleted before they were counted. */
export async function endAndDelete(jobs: number): Promise<void> {
  const world = await newWorld();
  const ids = await world.enqueueBatch(Array.from({ length: jobs }, (_, n) => n));
  const cancels = { queue: "tiles", filter: {} };
  await world.t.mutation(api.operate.cancelMany, cancels);
  await world.advance(2 * SECOND);
  const deletes = { queue: "tiles", filter: {} };
  await world.t.mutation(api.operate.deleteMany, deletes);
  await world.advance(12 * MINUTE);
  expect(await world.all("jobs")).toEqual([]);
  expect(sum(await stats(world), "canceled")).toBe(ids.length);
  expect(sum(await stats(world), "enqueued")).toBe(ids.length);
  expect([await world.all("ended"), await world.all("arrived")]).toEqual([[], []]);
}

describe("statistics", () => {
  test("count each minute's, hour's and day's events, without gaps", async () => {
    const world = await newWorld();
    await work(world, 4, 1);
    await world.advance(3 * MINUTE);
    await work(world, 10, 2);
    await world.advance(12 * MINUTE);
    const minutes = await stats(world, { count: 20 });
    expect(minutes.map(({ at }) => at)).toEqual(
      Array.from({ length: 20 }, (_, i) => T0 + (i - 4) * MINUTE),
    );
    expect(minutes[4]).toMatchObject({ enqueued: 4, started: 4, succeeded: 3, failed: 1 });
    expect(minutes[7]).toMatchObject({ enqueued: 10, started: 10, succeeded: 8, failed: 2 });
    expect(minutes[5]).toMatchObject({ enqueued: 0, started: 0, succeeded: 0, waitMs: null });
    for (const per of ["hour", "day"] as const) {
      const [only] = await stats(world, { per, count: 1 });
      expect(only).toMatchObject({ at: T0, enqueued: 14, started: 14, succeeded: 11, failed: 3 });
    }
  });

  // Shows SG-40.
  test("distinguish waits from runs, as precisely as their buckets", async () => {
    const world = await newWorld();
    await work(world, 10);
    await world.advance(12 * MINUTE);
    const [hour] = await stats(world, { per: "hour", count: 1 });
    for (const p of ["p50", "p95", "p99"] as const) {
      expect(hour!.waitMs![p]).toBeGreaterThanOrEqual(1_024);
      expect(hour!.waitMs![p]).toBeLessThanOrEqual(2_048);
      expect(hour!.runMs![p]).toBeGreaterThanOrEqual(512);
      expect(hour!.runMs![p]).toBeLessThanOrEqual(1_024);
    }
  });

  test("of a job that was deleted or retried within seconds of its end stay true", async () => {
    const world = await newWorld();
    const [gone, again, ...others] = await world.enqueueBatch([1, 2, 3, 4]);
    for (const id of [gone!, again!, ...others]) await world.cancel(id);
    await world.t.mutation(api.operate.deleteJob, { id: gone! });
    await world.t.mutation(api.operate.retryJob, { id: again! });
    await world.advance(MINUTE);
    expect(sum(await stats(world), "canceled")).toBe(4);
    await world.cancel(again!);
    await world.advance(12 * MINUTE);
    expect(sum(await stats(world), "canceled")).toBe(5);
    expect(sum(await stats(world), "enqueued")).toBe(4);
    expect(await world.all("ended")).toEqual([]);
  });

  test("of jobs that were deleted as soon as they had ended are all there", async () => {
    await endAndDelete(20);
  });

  test("are of the queue that is asked for, of 60 minutes up to now, or up to an instant", async () => {
    const world = await newWorld();
    await work(world, 1);
    await world.advance(MINUTE);
    expect(await stats(world)).toHaveLength(60);
    expect(sum(await stats(world, { queue: "emails" }), "succeeded")).toBe(0);
    const [before] = await stats(world, { count: 1, until: T0 - 1 });
    expect(before).toMatchObject({ at: T0 - MINUTE, succeeded: 0 });
    const [at] = await stats(world, { count: 1, until: T0 + MINUTE - 1 });
    expect(at).toMatchObject({ at: T0, succeeded: 1 });
  });

  test.each([{ count: 0 }, { count: 1_001 }, { count: 1.5 }, { until: -1 }, { until: NaN }])(
    "are refused for %o",
    async (asked) => {
      const world = await newWorld();
      expect((await refusal(stats(world, asked))).code).toBe("invalidArgument");
    },
  );

  test("are kept for their time: minutes for 62 days, hours for a year, days for five", async () => {
    const world = await newWorld();
    const counts = {
      ...{ enqueued: 1, started: 1, succeeded: 1, failed: 0, canceled: 0, timedOut: 0 },
      ...{ waitMs: [], runMs: [], waitSumMs: 0, runSumMs: 0 },
    };
    await world.t.run(async (ctx) => {
      for (const per of ["minute", "hour", "day"] as const) {
        for (const at of [-DAY, DAY].map((more) => T0 - PERIODS_RETENTION_MS[per] + more)) {
          const row = { queue: "tiles", ...counts };
          await ctx.db.insert("periods", { ...row, per, at });
        }
      }
      const row = { queue: "tiles", ...counts, per: "ever" as const, at: 0 };
      await ctx.db.insert("periods", row);
    });
    await world.cancel(await world.enqueue());
    await world.advance(MINUTE);
    const purge = (await world.all("timers")).find(({ kind }) => kind === "purge")!;
    const args = { timer: purge._id, generation: purge.generation! };
    await world.t.mutation(internal.count.purge.purgeQueue, args);
    const left = (await world.all("periods")).filter(
      ({ per, at }) => per === "ever" || at < T0 - DAY,
    );
    expect(left.map(({ per, at }) => [per, at])).toEqual([
      ...(["minute", "hour", "day"] as const).map((per) => [
        per,
        T0 - PERIODS_RETENTION_MS[per] + DAY,
      ]),
      ["ever", 0],
    ]);
  });
});
