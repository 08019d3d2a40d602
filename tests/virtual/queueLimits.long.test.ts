/** Limits hold however many jobs run: a queue's `maxParallelism`, and the share of the scheduler that mounts may take. */
import { afterEach, expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import { startManyWorld, times, type ManyWorld } from "./manyWorld.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

let many: ManyWorld;
afterEach(async () => await many.world.close());

const QUEUES = 6;

// In CI `pushSlots.long.test.ts` has one mount that is as full.
test.skipIf(counts(true, false))(
  "the app's own functions start within a second beside two mounts full of long jobs, as each has its share of the slots",
  async () => {
    many = await startManyWorld({ queues: QUEUES, schedulerShare: 0.25 });
    const queues = Array.from({ length: QUEUES }, (_, queue) => queue);
    const long = [0, 1].flatMap((mount) =>
      queues.flatMap((queue) => times(4, { mount, queue, ms: 5 * MINUTE })),
    );
    await many.enqueue(long);
    await many.world.advance(SECOND);
    await many.scheduleOwn(SECOND, 10 * SECOND);
    await many.world.advance(5 * MINUTE);
    const waits = many.ownWaits();
    expect(waits.length).toBe(10);
    expect(Math.max(...waits)).toBeLessThanOrEqual(SECOND);
  },
);
