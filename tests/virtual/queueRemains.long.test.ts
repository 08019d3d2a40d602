/**
 * Many small queues are no heavier than one large one: their jobs run without conflicts, and when they have ended the
 * janitor counts and deletes them, however many queues there are.
 */
import { afterEach, expect, test, vi } from "vitest";
import { counts } from "../../local/counts.js";
import { startManyWorld, times, type ManyWorld } from "./manyWorld.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

vi.setConfig({ testTimeout: 240_000 });

let many: ManyWorld;
afterEach(async () => await many.world.close());

/** In each queue as many jobs at once, one queue after the other. */
async function enqueueInEach(queues: number, jobs: number, everyMs: number): Promise<void> {
  const each = Array.from({ length: queues }, (_, queue) =>
    times(jobs, { queue, ms: 20, at: queue * everyMs }),
  );
  await many.enqueue(each.flat());
}

const QUEUES = 200;
const JOBS_PER_SECOND = 55;
const CONFLICTS_MAX = 100;

/** A mean of seeds: which processes the first wakes start is drawn, and so how many queues wait for a place. */
const SEEDS = [1, 2];

// In CI `manyQueues.long.test.ts` has a dozen queues.
test.skipIf(counts(true, false))(
  "200 queues of two short jobs each do 55 jobs per second with few conflicts, as their starts share no rows",
  async () => {
    const [rates, conflicts]: [number[], number[]] = [[], []];
    const jobs = 2 * QUEUES;
    for (const seed of SEEDS) {
      if (seed !== SEEDS[0]) await many.world.close();
      many = await startManyWorld({ queues: QUEUES, seed });
      many.world.stats.reset();
      const from = many.world.now();
      await enqueueInEach(QUEUES, 2, 10);
      while (many.ended.size < jobs && many.world.now() < from + MINUTE)
        await many.world.advance(100);
      expect(many.ended.size).toBe(jobs);
      rates.push(jobs / ((Math.max(...many.ended.values()) - from) / SECOND));
      conflicts.push(many.conflicts);
    }
    expect.soft(meanOf(rates)).toBeGreaterThanOrEqual(JOBS_PER_SECOND);
    expect.soft(meanOf(conflicts)).toBeLessThan(CONFLICTS_MAX);
  },
);

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

const HISTORIES = [
  [12, "s16"],
  [30, "s256"],
  [60, "s16"],
] as const;

test.each(HISTORIES.slice(0, counts(1, 3)))(
  "ended jobs of %i queues are all counted and deleted within three hours on %s, as the janitor passes over no queue",
  async (queues, of) => {
    many = await startManyWorld({ queues, class: of, retentionMs: MINUTE });
    await enqueueInEach(queues, 1, 100);
    await many.world.advance(10 * SECOND);
    await enqueueInEach(queues, 3, 100);
    await many.world.advance(3 * HOUR);
    const left = { rows: 0, enqueued: 0, succeeded: 0 };
    for (let queue = 0; queue < queues; queue += 1) {
      const one = await many.ask<typeof left>("remains", { queue });
      for (const key of ["rows", "enqueued", "succeeded"] as const) left[key] += one[key];
    }
    const jobs = 4 * queues;
    expect(many.ended.size).toBe(jobs);
    expect(left).toEqual({ rows: 0, enqueued: jobs, succeeded: jobs });
  },
);
