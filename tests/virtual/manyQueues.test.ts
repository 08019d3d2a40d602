/**
 * Long jobs keep no other job waiting, on the smallest class: neither their own queue's nor other queues'. What is held is
 * the time from a job's enqueue to its handler's first line, as the backend sees both.
 */
import { afterEach, describe, expect, test } from "vitest";
import { every, p95, startManyWorld, type ManyOptions, type ManyWorld } from "./manyWorld.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** What a short job may wait for its handler while the deployment has room. */
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
  test("while a long job enters the same queue every 35 s, as none waits for another job's end", async () => {
    await start({ queues: 1 });
    const long = every(35 * SECOND, 6, { queue: 0, ms: 8 * MINUTE });
    // By then three long jobs run, and two more come.
    const short = every(SECOND, 75, { queue: 0, ms: 50 }, 100 * SECOND);
    const jobs = await many.enqueue([...long, ...short]);
    await many.world.advance(5 * SECOND);
    expectPrompt(jobs);
  });

  test.each([4, 8])(
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

test.each([5, 8, 12, 24])(
  "jobs of one second begin within 500 ms in %i queues that each get one per second",
  async (queues) => {
    await start({ queues });
    const phases = Array.from({ length: queues }, (_, queue) =>
      every(SECOND, 12, { queue, ms: SECOND }, (queue * SECOND) / queues),
    );
    const jobs = await many.enqueue(phases.flat());
    await many.world.advance(5 * SECOND);
    expectPrompt(jobs);
  },
);
