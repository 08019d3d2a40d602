/** The same as `manyQueues.long.test.ts`, with more queues, more jobs, and over a longer time. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { counts } from "../../local/counts.js";
import {
  every,
  p95,
  startManyWorld,
  times,
  type ManyOptions,
  type ManyWorld,
} from "./manyWorld.js";

/** In CI `manyQueues.long.test.ts` has these cases, with fewer queues. */
const IS_SHORT = counts(true, false);

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** The longest wait of a short job for its handler while the deployment has room. */
const P95_MS = 500;
const MAX_MS = 1_000;

vi.setConfig({ testTimeout: 240_000 });

let many: ManyWorld;
afterEach(async () => await many.world.close());

async function start(options: ManyOptions): Promise<void> {
  many = await startManyWorld(options);
}

/** The longest waits are checked first: a job that never began says most. */
function expectPrompt(jobs: readonly number[]): void {
  const waits = many.waits(jobs);
  expect(Math.max(...waits)).toBeLessThanOrEqual(MAX_MS);
  expect(p95(waits)).toBeLessThanOrEqual(P95_MS);
}

describe("a short job per second begins within 500 ms", () => {
  test("while a long job enters the same queue every 35 s, as none waits for another job's end", async () => {
    await start({ queues: 1 });
    const long = every(35 * SECOND, 6, { queue: 0, ms: 8 * MINUTE });
    // By then three long jobs run, and two more come.
    const short = every(SECOND, 75, { queue: 0, ms: 50 }, 100 * SECOND);
    const jobs = await many.enqueue([...long, ...short]);
    await many.world.advance(5 * SECOND);
    expectPrompt(jobs);
  });

  test.skipIf(IS_SHORT).each([4])(
    "while %i other queues run a job of five minutes each, as a queue at work holds no slot that another needs",
    async (queues) => {
      await start({ queues: queues + 1 });
      const long = Array.from({ length: queues }, (_, queue) => ({ queue, ms: 5 * MINUTE }));
      const short = every(SECOND, 30, { queue: queues, ms: 50 }, 2 * SECOND);
      const jobs = await many.enqueue([...long, ...short]);
      await many.world.advance(5 * SECOND);
      expectPrompt(jobs);
    },
  );
});

test.skipIf(IS_SHORT).each([8, 12, 24])(
  "jobs of one second begin within 500 ms in %i queues that each get one per second",
  async (queues) => {
    await start({ queues });
    const phases = Array.from({ length: queues }, (_, queue) =>
      every(SECOND, 8, { queue, ms: SECOND }, (queue * SECOND) / queues),
    );
    const jobs = await many.enqueue(phases.flat());
    await many.world.advance(5 * SECOND);
    expectPrompt(jobs);
  },
);

// --- Queues that wait for room ------------------------------------------------------------------

const LONG_MS = 20 * SECOND;

/** The first instant from which on so many of these jobs have ended. */
function endedAt(jobs: readonly number[], count: number): number {
  const ends = jobs.map((n) => many.ended.get(n) ?? Infinity).sort((a, b) => a - b);
  return ends[count - 1]!;
}

/** Of a job that has not begun the wait so far counts: the figure of a failure is the least that it waited. */
function beganAfter(job: number, instant: number): number {
  return (many.began.get(job) ?? many.world.now()) - instant;
}

describe.skipIf(IS_SHORT).each([["65 queues", 65]])(
  "%s wait beside four queues of long jobs, and all of them but the last are paused",
  (_, count) => {
    /** So many long jobs in each of four queues, and then one short job in each of the remaining queues. */
    async function wait(jobsEach: number): Promise<{ long: number[]; last: number }> {
      await start({ queues: 4 + count, maxParallelism: 15 });
      const busy = [0, 1, 2, 3].flatMap((queue) => times(jobsEach, { queue, ms: LONG_MS }));
      const long = await many.enqueue(busy);
      await many.world.advance(2 * SECOND);
      const queues = Array.from({ length: count }, (_, i) => 4 + i);
      const short = await many.enqueue(queues.map((queue, i) => ({ queue, ms: 50, at: 20 * i })));
      await many.world.run(many.call("pause", { queues: queues.slice(0, -1) }));
      await many.world.advance(LONG_MS + 10 * SECOND);
      return { long, last: short.at(-1)! };
    }

    test("its job begins at once, as four jobs leave room for more", async () => {
      const { last } = await wait(1);
      expectPrompt([last]);
    });

    test("its job begins within two seconds of the first free place, as a paused queue does not keep it", async () => {
      const { long, last } = await wait(15);
      expect(beganAfter(last, endedAt(long, 1))).toBeLessThanOrEqual(2 * SECOND);
    });
  },
);

describe("a job begins within a second of room for it, while long jobs of other queues run on", () => {
  test("where a queue runs 35 jobs that came one by one, as it keeps no room that it does not use", async () => {
    await start({ queues: 2, maxParallelism: 50 });
    const busy = [
      ...times(20, { queue: 0, ms: LONG_MS }),
      ...every(50, 15, { queue: 0, ms: LONG_MS }),
    ];
    const others = [400, 760, 1_000].map((at) => ({ queue: 1, ms: 50, at }));
    const jobs = await many.enqueue([...busy, ...others]);
    await many.world.advance(10 * SECOND);
    expect(Math.max(...many.waits(jobs))).toBeLessThanOrEqual(SECOND);
  });

  test("where three queues run twelve jobs each that came within half a second", async () => {
    await start({ queues: 4, maxParallelism: 50 });
    const busy = [0, 1, 2].flatMap((queue) => [
      ...times(5, { queue, ms: LONG_MS }),
      ...times(5, { queue, ms: LONG_MS, at: 300 }),
      ...times(2, { queue, ms: LONG_MS, at: 400 }),
    ]);
    const others = [600, 1_000].map((at) => ({ queue: 3, ms: 50, at }));
    const jobs = await many.enqueue([...busy, ...others]);
    await many.world.advance(10 * SECOND);
    expect(Math.max(...many.waits(jobs))).toBeLessThanOrEqual(SECOND);
  });
});
