/** A batch that one mutation enqueues, as large as the documentation says, in a queue whose jobs are left to workers outside first. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { COMPONENT, Place } from "./declaredWorld.js";

let place: Place;
beforeEach(async () => {
  place = await Place.open();
});
afterEach(() => place.world.close());

/** As many as several calls of the component take, each of which finds jobs of the one before in each of its places. */
const JOBS = 4_000;

test("with fallbackAfterMs a batch of several calls reads little of the jobs before, and all are claimable", async () => {
  await place.declared("acted");
  await place.world.advance(5_000);
  const changed = { queue: "acted", overrides: { fallbackAfterMs: 600_000 } };
  await place.world.call("operate:configureQueue", changed, COMPONENT);
  const payloads = Array.from({ length: JOBS }, (_, n) => ({ n, ms: 0 }));
  place.world.stats.reset();
  const ids = (await place.world.call("traced:enqueue", { payloads })) as string[];
  expect(new Set(place.jobs(ids).map(({ status }) => status))).toEqual(new Set(["pending"]));
  const { "traced:enqueue": cost } = place.world.stats.snapshot().functions;
  expect(cost!.io.documentsRead).toBeLessThan(100);
});
