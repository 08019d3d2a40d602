/** Jobs that come one by one, in a push queue: their upkeep and their conflicts. */
import { afterEach, expect, test } from "vitest";
import { checkRest, COMPONENT, enqueue, startPushWorld, type PushWorld } from "./pushWorld.js";

/** Longer than a sweep, a roll-up and lanes' scans take, and than a queue must rest for its next job to be rare. */
const REST_MS = 60_000;
const ROLL_UP_MS = 11 * 60_000;

let pushed: PushWorld;
afterEach(async () => {
  await pushed.world.close();
});

async function start(seed: number): Promise<void> {
  pushed = await startPushWorld(seed);
  await pushed.world.advance(ROLL_UP_MS);
  pushed.world.stats.reset();
}

/** How often each function of the component was called. */
function calls(): Record<string, number> {
  const { functions } = pushed.world.stats.snapshot();
  return Object.fromEntries(
    Object.entries(functions)
      .filter(([name]) => name.startsWith(`${COMPONENT}/`))
      .map(([name, { calls: count }]) => [name.slice(COMPONENT.length + 1), count]),
  );
}

const conflicts = () =>
  Object.values(pushed.world.stats.snapshot().functions).reduce(
    (sum, one) => sum + one.conflicts,
    0,
  );

test("a rare job is followed by no sweep, and by its roll-up ten minutes later", async () => {
  await start(1);
  await enqueue(pushed.world, "acted", [{ n: 10, ms: 10 }]);
  await pushed.world.advance(REST_MS);
  expect(calls()).toEqual({
    "push/wake:wake": 1,
    "push/laneAction:laneProcess": 1,
    "push/laneStep:stepLane": 1,
  });
  await pushed.world.advance(ROLL_UP_MS);
  expect(calls()).toMatchObject({ "count/rollUp:countEnds": 1 });
  expect(calls()).not.toHaveProperty("tend/janitor:sweep");
  await checkRest(pushed);
});

test("jobs that come by the minute are counted together, by one roll-up that comes once and counts new ones too", async () => {
  await start(2);
  for (let n = 10; n < 20; n += 1) {
    await enqueue(pushed.world, "acted", [{ n, ms: 10 }]);
    await pushed.world.advance(REST_MS);
  }
  // A sweep brings one forward: of six seeds one had one sweep, and one two.
  const { "tend/janitor:sweep": sweeps = 0, "count/rollUp:countEnds": rollUps } = calls();
  expect(sweeps).toBeLessThanOrEqual(2);
  expect(rollUps).toBe(1 + sweeps);
  expect(calls()).not.toHaveProperty("count/arrivals:countNewJobs");
  await pushed.world.advance(ROLL_UP_MS);
  await checkRest(pushed);
});

test("a sweep on which another queue's job relies is not called off", async () => {
  await start(2);
  await enqueue(pushed.world, "acted", [{ n: 10, ms: 200 }]);
  await enqueue(pushed.world, "acted", [{ n: 11, ms: 90_000 }]);
  await pushed.world.advance(REST_MS);
  expect(calls()["tend/janitor:sweep"]).toBeGreaterThan(0);
  await pushed.world.advance(REST_MS);
  await checkRest(pushed);
});

test("a sweep is left to come where another lane has worked since it was armed: the last of them counts on it", async () => {
  await start(3);
  await Promise.all([
    enqueue(pushed.world, "acted", [{ n: 10, ms: 300 }]),
    enqueue(pushed.world, "written", [{ n: 11, ms: 0 }]),
  ]);
  await pushed.world.advance(REST_MS);
  expect(calls()["tend/janitor:sweep"]).toBe(1);
  await pushed.world.advance(ROLL_UP_MS);
  const counted = pushed.store.docs<{ queue: string; upTo: unknown[] }>("counted");
  expect(counted.map(({ queue }) => queue).sort()).toEqual(["acted", "written"]);
  await checkRest(pushed);
});

const lanes = () => pushed.store.docs("lanes").filter(({ queue }) => queue === "acted");

/** Two jobs at the same moment, each in a call of its own. */
async function enqueueTwo(n: number): Promise<void> {
  await Promise.all(
    [n, n + 1].map((each) => enqueue(pushed.world, "acted", [{ n: each, ms: 500 }])),
  );
  await pushed.world.advance(2_000);
}

test("a queue with jobs that never come at the same moment has one lane", async () => {
  await start(6);
  for (let n = 10; n < 18; n += 1) {
    await enqueue(pushed.world, "acted", [{ n, ms: 10 }]);
    await pushed.world.advance(2_000);
  }
  expect(lanes()).toMatchObject([{ cap: 1 }]);
});

test("jobs that come at the same moment make lanes with which later ones begin: no more than one of them retries", async () => {
  await start(6);
  await enqueueTwo(10);
  // All at once, beside room for one more of the five that the queue may run.
  const kept = [{ cap: 1 }, { cap: 1 }, { cap: 1 }, { cap: 1 }];
  expect(lanes()).toMatchObject(kept);
  for (let n = 20; n < 30; n += 2) {
    pushed.world.stats.reset();
    await enqueueTwo(n);
    // Each takes a lane and a slot by lot.
    expect(conflicts()).toBeLessThanOrEqual(1);
    expect(calls()).toEqual({
      "push/wake:wake": 2,
      "push/laneAction:laneProcess": 2,
      "push/laneStep:stepLane": 2,
    });
  }
  expect(lanes()).toMatchObject(kept);
});

test("the room of spares is there for a burst", async () => {
  await start(5);
  for (let n = 10; n < 18; n += 1) {
    await enqueue(pushed.world, "acted", [{ n, ms: 10 }]);
    await pushed.world.advance(2_000);
  }
  const jobs = Array.from({ length: 20 }, (_, i) => ({ n: 20 + i, ms: 200 }));
  await enqueue(pushed.world, "acted", jobs);
  await pushed.world.advance(REST_MS);
  expect(pushed.store.most).toBe(5);
  await checkRest(pushed);
});
