/**
 * Fleets on call, call by call and in virtual time: the calls of idle workers, the calls of one job, how soon it begins, and
 * how soon a fleet is awake: that of the last size, with four jobs per worker. `FLEET_SIZES=256` plays the burst of 1,000, in five
 * minutes of one core; `FLEET_IDLE=256` has so many idle for long.
 */
import { expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import { ON_CALL, STANDBY_EACH_MS, STANDBY_FIRST } from "../../src/shared/index.js";
import { startFleet, type Fleet } from "./onCallWorld.js";

/** In small fleets all follow the queue. */
const SIZES = (process.env["FLEET_SIZES"] ?? counts("1,8,48", "1,8,256,64")).split(",").map(Number);
const SMALL = 8;
const JOBS = 6;
const SETTLES_MS = 20_000;
/** A fleet of which all follow the queue begins a job alone so late, the median of these and each of them. */
const BEGINS_MS = { median: 110, max: 200 };

test.each(SIZES)(
  "%i workers: each call of an idle minute, of jobs alone, and of a burst",
  { timeout: 900_000 },
  async (size) => {
    const fleet = await startFleet({ size, isPlain: process.env["FLEET_PLAIN"] === "1" });
    try {
      const { advance } = fleet.app.world;
      // The first job of a queue gives it its first floor.
      await fleet.waits(1);
      await advance(60_000);
      fleet.count();
      await advance(60_000);
      const inMinute = fleet.count();
      const jobs = [];
      for (let i = 0; i < JOBS; i += 1) {
        const [wait] = await fleet.waits(1);
        await advance(SETTLES_MS);
        jobs.push({ wait: wait!, calls: fleet.count() });
      }
      print({ size, inMinute, jobs });
      expect(sum(inMinute)).toBeLessThanOrEqual(60);
      const idle = (sum(inMinute) * SETTLES_MS) / 60_000;
      for (const { wait, calls } of jobs) {
        expect(wait).toBeLessThanOrEqual(BEGINS_MS.max);
        const { "work:watch": watch = 0, "work:complete": completes } = calls;
        expect(completes).toBe(1);
        expect(watch).toBeLessThanOrEqual(2 * (size > SMALL ? 2 : size));
      }
      // Besides its enqueue, completion and subscriptions: its claim, and the upkeep that any job has, a sweep and a roll-up. A mean:
      // the beats of idle workers come together.
      const others = jobs.map(({ calls }) => sum(calls) - 2 - (calls["work:watch"] ?? 0));
      expect(others.reduce((all, one) => all + one, 0) / JOBS - idle).toBeLessThanOrEqual(3 + 2);
      const waits = jobs.map(({ wait }) => wait).sort((a, b) => a - b);
      expect(waits[JOBS / 2 - 1]).toBeLessThanOrEqual(BEGINS_MS.median);
      if (size > SMALL && size === SIZES.at(-1)) await burst(fleet, size);
    } finally {
      await fleet.app.world.close();
    }
  },
);

const IDLE_MINUTES = counts(20, 60);
/** In the deep run a thousand. */
const IDLE_WORKERS = Number(process.env["FLEET_IDLE"] ?? counts(16, 1_000));

test(
  `a fleet idle for ${IDLE_MINUTES} minutes: at most 60 calls per minute, 6 for a job then, and a burst then wakes it within a second`,
  { timeout: 3_600_000 },
  async () => {
    const size = IDLE_WORKERS;
    const fleet = await startFleet({ size, together: Math.max(50, size / 5) });
    try {
      const { advance } = fleet.app.world;
      await fleet.waits(1);
      await advance(60_000);
      fleet.count();
      await advance(IDLE_MINUTES * 60_000);
      const whileIdle = fleet.count();
      const [wait] = await fleet.waits(1);
      await advance(SETTLES_MS);
      const alone = fleet.count();
      const waits = await fleet.waits(4 * Math.min(size, 250), { workMs: 1_000 });
      // The last one or two are called up late in a third of such bursts, and begin after 1.3 s.
      const awake = waits[Math.floor(0.95 * Math.min(size, 256)) - 1];
      print({ size, aMinute: sum(whileIdle) / IDLE_MINUTES, whileIdle, wait, alone });
      print({ size, awake, all: waits.at(-1), burst: fleet.count() });
      expect(sum(whileIdle) / IDLE_MINUTES).toBeLessThanOrEqual(60);
      expect(wait).toBeLessThanOrEqual(BEGINS_MS.max);
      // The one that watches claims every ten seconds, and idle workers beat, whether a job comes or not.
      const { "work:claim": claims = 0, "work:watch": watch = 0 } = alone;
      expect(claims - SETTLES_MS / 10_000 + watch).toBeLessThanOrEqual(6);
      expect(awake).toBeLessThanOrEqual(1_000);
      expect(waits).toHaveLength(4 * Math.min(size, 250));
    } finally {
      await fleet.app.world.close();
    }
  },
);

/** All of the fleet begin a job. The last one or two are called up late in a third of such bursts, and begin after 1.3 s. */
async function burst(fleet: Fleet, size: number): Promise<void> {
  await fleet.app.world.advance(60_000);
  fleet.count();
  const waits = await fleet.waits(Math.min(1_000, 4 * size), { workMs: 1_000 });
  print({ size, all: waits[size - 1], last: waits.at(-1), burst: fleet.count() });
  expect(waits[Math.floor(0.95 * size) - 1]).toBeLessThanOrEqual(1_000);
  expect(waits[size - 1]).toBeLessThanOrEqual(1_500);
}

// Shows LF-06.
// Rules out D17.
test(
  "of workers on call one that dies delays no job by 500 ms, and all of them by no more than 12 s",
  { timeout: 300_000 },
  async () => {
    const fleet = await startFleet({ size: 12, together: 1 });
    try {
      const { advance } = fleet.app.world;
      const [alone] = await fleet.waits(1);
      await advance(SETTLES_MS);
      const [first] = fleet.with("onCall");
      expect(fleet.with("onCall")).toHaveLength(2);
      first!.kill();
      const [afterOne] = await fleet.waits(1);
      await advance(60_000);
      const rest = fleet.with("onCall").filter((program) => program !== first);
      expect(rest).toHaveLength(2);
      for (const program of rest) program.kill();
      const [afterAll] = await fleet.waits(1);
      print({ alone, afterOne, afterAll });
      expect(afterOne! - alone!).toBeLessThanOrEqual(500);
      expect(afterAll).toBeLessThanOrEqual(12_000);
    } finally {
      await fleet.app.world.close();
    }
  },
);

test(
  "a host dies with the workers on call, the one that watches and the first that stand by: another notices within its presence",
  { timeout: 300_000 },
  async () => {
    const size = 20;
    const fleet = await startFleet({ size, together: 1 });
    try {
      const { advance } = fleet.app.world;
      await fleet.waits(1);
      // All have said by now that they live, and know how many they are.
      await advance(1.5 * size * STANDBY_EACH_MS);
      const duties = new Set([...fleet.with("onCall"), ...fleet.with("watch")]);
      expect(duties.size).toBe(ON_CALL + 1);
      const standby = fleet.programs.filter((program) => !duties.has(program));
      for (const program of [...duties, ...standby.slice(0, STANDBY_FIRST + 1)]) program.kill();
      const [wait] = await fleet.waits(1, { withinMs: 1.5 * size * STANDBY_EACH_MS });
      print({ hostDied: wait });
      expect(wait).toBeLessThanOrEqual(size * STANDBY_EACH_MS);
      await advance(60_000);
      const [again] = await fleet.waits(1);
      expect(again).toBeLessThanOrEqual(BEGINS_MS.max);
    } finally {
      await fleet.app.world.close();
    }
  },
);

function sum(calls: Record<string, number>): number {
  return Object.values(calls).reduce((all, one) => all + one, 0);
}

function print(figures: object): void {
  if (process.env["FLEET_SIZES"] !== undefined)
    process.stdout.write(`${JSON.stringify(figures)}\n`);
}
