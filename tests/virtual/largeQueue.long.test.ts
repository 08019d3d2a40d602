/** A queue's `maxParallelism` holds however many processes run its jobs, on the largest class. */
import { afterEach, expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import { startManyWorld, times, type ManyWorld } from "./manyWorld.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** In the deep run more than one transaction reads as all of anything. */
const MAX_PARALLELISM = counts(17, 257);
const JOBS = MAX_PARALLELISM + 40;
/** A limit that is raised takes effect within this time. */
const RAISED_MS = 40;

let many: ManyWorld;
afterEach(async () => await many.world.close());

/** Raised one by one, so that as many processes as possible run one job each. */
test(`a queue with a maxParallelism that is raised one by one to ${MAX_PARALLELISM} runs as many handlers at once, and never more`, async () => {
  many = await startManyWorld({ queues: 1, maxParallelism: 1, class: "d2048" });
  await many.enqueue(times(JOBS, { queue: 0, ms: 2 * MINUTE }));
  for (let maxParallelism = 2; maxParallelism <= MAX_PARALLELISM; maxParallelism += 1) {
    await many.world.run(many.call("configure", { queue: 0, maxParallelism }));
    await many.world.advance(RAISED_MS);
  }
  await many.world.advance(5 * SECOND);
  expect(many.most).toBe(MAX_PARALLELISM);
}, 240_000);
