/** Jobs that have expired stand before one that has not, in a queue that runs one at a time. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { Place, type JobRow } from "./declaredWorld.js";

let place: Place;
beforeEach(async () => {
  place = await Place.open();
});
afterEach(() => place.world.close());

const EXPIRED = 15;
/** It ends when the later jobs have expired, and before the alarm of their second rings. */
const FIRST_MS = 1_400;

test("a scan for one job passes over the expired jobs before it, and the job begins; their alarm ends them", async () => {
  const config = { ...(await place.declared("acted")), maxParallelism: 1, shards: 1 };
  const queue = { name: "deployed", config };
  // A second has just begun: a job enqueued now expires early in the next.
  const { world } = place;
  await world.advance(1_050 - (world.now() % 1_000));
  await place.enqueue(queue, [{ ms: FIRST_MS }]);
  await world.advance(20);
  const options = { expiresAfterMs: 1_000 };
  const expired = await place.enqueue(
    queue,
    Array.from({ length: EXPIRED }, () => ({ options })),
  );
  const [last] = await place.enqueue(queue, [{}]);
  world.stats.reset();
  await world.advance(1_950 - (world.now() % 1_000));
  const rings =
    world.stats.snapshot().functions["conveyor/edges/startDeadlines:endExpired"]?.calls ?? 0;
  expect({ rings, ...endsOf(place.jobs([last!, ...expired])) }).toEqual({
    rings: 0,
    succeeded: 1,
    pending: EXPIRED,
  });
  await world.advance(1_100);
  expect(endsOf(place.jobs([last!, ...expired]))).toEqual({ succeeded: 1, failed: EXPIRED });
});

function endsOf(jobs: readonly JobRow[]): Record<string, number> {
  const ends: Record<string, number> = {};
  for (const { status } of jobs) ends[status] = (ends[status] ?? 0) + 1;
  return ends;
}
