/**
 * Long jobs keep no other job waiting, on the smallest class: neither their own queue's nor other queues'. The tests bound the
 * time from a job's enqueue to its handler's first line, as the backend sees both.
 */
import { afterEach, describe, expect, test } from "vitest";
import {
  every,
  p95,
  startManyWorld,
  times,
  type ManyOptions,
  type ManyWorld,
} from "./manyWorld.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** The longest wait of a short job for its handler while the deployment has room. */
const P95_MS = 500;
const MAX_MS = 1_000;

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
  test.each([8])(
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

test.each([5])(
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

describe.each([["30 queues", 30]])(
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
  test("where most jobs of one queue end early, as their places are free from then on", async () => {
    await start({ queues: 2, maxParallelism: 50 });
    const early = times(37, { queue: 0, ms: 5 * SECOND });
    const late = times(10, { queue: 0, ms: 25 * SECOND });
    const other = { queue: 1, ms: 50, at: 2 * SECOND };
    const jobs = await many.enqueue([...early, ...late, other]);
    await many.world.advance(25 * SECOND);
    expect(beganAfter(jobs.at(-1)!, endedAt(jobs, 37))).toBeLessThanOrEqual(SECOND);
  });

  test("where two in three jobs of three queues end early", async () => {
    await start({ queues: 4, maxParallelism: 20 });
    const busy = [0, 1, 2].flatMap((queue) => [
      ...times(10, { queue, ms: 5 * SECOND }),
      ...times(5, { queue, ms: 25 * SECOND }),
    ]);
    const other = { queue: 3, ms: 50, at: 2 * SECOND };
    const jobs = await many.enqueue([...busy, other]);
    await many.world.advance(25 * SECOND);
    expect(beganAfter(jobs.at(-1)!, endedAt(jobs, 30))).toBeLessThanOrEqual(SECOND);
  });
});

test("a short job begins within 500 ms while the first jobs of 150 other queues are counted, half a minute later", async () => {
  await start({ queues: 151 });
  await many.enqueue(
    Array.from({ length: 150 }, (_, queue) => ({ queue, ms: 50, at: 20 * queue })),
  );
  await many.world.advance(20 * SECOND);
  const jobs = await many.enqueue(every(SECOND / 4, 120, { queue: 150, ms: 50 }));
  await many.world.advance(5 * SECOND);
  expectPrompt(jobs);
});
