/** What a worker knows of waiting jobs, and when it comes for them, on a manual clock. */
import { describe, expect, test } from "vitest";
import { LEASES_MAX } from "../shared/index.js";
import { FakeClock } from "./fakes.test.js";
import {
  EMPTY_WAIT_MIN_MS,
  NAMED_GAP_MS,
  NAMED_TAKEN_MS,
  PATIENCE_MS,
  PLACES_SURE_MAX_MS,
  PLACES_SURE_MIN_MS,
} from "./limits.js";
import { Waiting } from "./waiting.js";

const QUEUES = ["tiles", "walls"];
const few = (...ids: string[]) => ({ jobs: ids.map((id) => ({ id })), more: false });
const MORE = { jobs: [], more: true };

/** Workers that know their places. */
function fleetOf(size: number, clock: FakeClock): Waiting[] {
  return Array.from({ length: size }, (_, rank) => {
    const waiting = new Waiting(clock, QUEUES, `worker ${rank}`);
    waiting.placed([{ size, rank, queues: QUEUES }]);
    return waiting;
  });
}

function alone(clock = new FakeClock()): Waiting {
  return fleetOf(1, clock)[0]!;
}

describe("a job that is named", () => {
  test("is claimed at once by a worker that is alone, and by one that knows of no other", () => {
    const clock = new FakeClock();
    for (const waiting of [alone(clock), new Waiting(clock, QUEUES, "a")]) {
      waiting.subscriptionAnswered("tiles", few("x", "y"));
      expect(waiting.nextDueAt()).toBe(clock.now());
      expect(waiting.due(64)).toEqual({ named: ["x", "y"], lookIn: [] });
      expect(waiting.due(1).named).toEqual(["x"]);
    }
  });

  test.each([2, 5, 8])("has one of %i that comes at once, and the rest in turn", (size) => {
    const firsts = new Set<number>();
    for (let n = 0; n < 40; n += 1) {
      const clock = new FakeClock();
      const fleet = fleetOf(size, clock);
      for (const waiting of fleet) waiting.subscriptionAnswered("tiles", few(`job ${n}`));
      const comes = fleet.map((waiting) => waiting.nextDueAt()!);
      const sorted = [...comes].sort((a, b) => a - b);
      expect(sorted.slice(0, 2)).toEqual([0, NAMED_GAP_MS]);
      expect(new Set(sorted).size).toBe(size);
      firsts.add(comes.indexOf(0));
    }
    expect(firsts.size).toBe(size);
  });

  test("waits for none of a large fleet longer than its patience", () => {
    const clock = new FakeClock();
    const fleet = fleetOf(500, clock);
    for (const waiting of fleet) waiting.subscriptionAnswered("tiles", few("x"));
    const latest = Math.max(...fleet.map((waiting) => waiting.nextDueAt()!));
    expect(latest).toBeLessThanOrEqual(PATIENCE_MS);
  });

  test("is claimed at once by a worker that has found the rest away, until one of them takes a job", async () => {
    const clock = new FakeClock();
    const waiting = new Waiting(clock, QUEUES, "mine");
    waiting.placed([{ size: 500, rank: 7, queues: QUEUES }]);
    const comesFor = (id: string): number => {
      waiting.subscriptionAnswered("tiles", few(id));
      return waiting.nextDueAt()! - clock.now();
    };
    for (const id of ["x", "y"]) {
      expect(comesFor(id)).toBeGreaterThanOrEqual(NAMED_GAP_MS);
      await clock.advance(PATIENCE_MS);
      waiting.claimed(waiting.due(1).named, [{ id }]);
    }
    expect(comesFor("z")).toBe(0);
    waiting.claimed(waiting.due(1).named, []);
    waiting.subscriptionAnswered("tiles", few());
    expect(comesFor("u")).toBeGreaterThanOrEqual(NAMED_GAP_MS);
  });

  test("is left to all other workers first by one that has failed it, unless that one is alone", () => {
    const clock = new FakeClock();
    const failed = { jobs: [{ id: "x", failedBy: ["worker 0"] }], more: false };
    const [mine, theirs] = fleetOf(2, clock) as [Waiting, Waiting];
    for (const waiting of [mine, theirs]) waiting.subscriptionAnswered("tiles", failed);
    expect(mine.nextDueAt()!).toBeGreaterThanOrEqual(2 * NAMED_GAP_MS);
    expect(theirs.nextDueAt()!).toBeLessThanOrEqual(NAMED_GAP_MS);
    const single = alone(clock);
    single.subscriptionAnswered("tiles", failed);
    expect(single.nextDueAt()).toBe(clock.now());
  });

  test("is forgotten when its subscription names it no more", () => {
    const waiting = alone();
    waiting.subscriptionAnswered("tiles", few("x"));
    waiting.subscriptionAnswered("walls", few("y"));
    waiting.subscriptionAnswered("tiles", few());
    expect(waiting.due(64).named).toEqual(["y"]);
    waiting.subscriptionFailed("walls");
    expect(waiting.nextDueAt()).toBeNull();
  });

  test("is not asked for again by the worker that got it, unless it goes on to be named", async () => {
    const clock = new FakeClock();
    const waiting = alone(clock);
    waiting.subscriptionAnswered("tiles", few("x"));
    waiting.claimed(["x"], [{ id: "x" }]);
    waiting.subscriptionAnswered("tiles", few("x", "y"));
    expect(waiting.due(64).named).toEqual(["y"]);
    await clock.advance(NAMED_TAKEN_MS);
    expect(waiting.due(64).named).toEqual(["x", "y"]);
  });

  test("that a worker came for in vain it asks for ever more seldom, and then also scans", async () => {
    const clock = new FakeClock();
    const waiting = alone(clock);
    waiting.subscriptionAnswered("tiles", few("x"));
    const waits: number[] = [];
    const looks: string[][] = [];
    for (let n = 0; n < 4; n += 1) {
      looks.push(waiting.due(1).lookIn);
      waiting.claimed(["x"], []);
      waits.push(waiting.nextDueAt()! - clock.now());
      await clock.advance(waits.at(-1)!);
    }
    expect(waits).toEqual([0, 1, 2, 3].map((n) => EMPTY_WAIT_MIN_MS * 2 ** n));
    expect(looks).toEqual([[], [], ["tiles"], ["tiles"]]);
  });
});

describe("a backlog", () => {
  test("is known only once every subscription has spoken, or one has said so", () => {
    const waiting = alone();
    expect(waiting.isBacklog).toBeUndefined();
    waiting.subscriptionAnswered("tiles", few());
    expect(waiting.isBacklog).toBeUndefined();
    waiting.subscriptionAnswered("walls", few());
    expect(waiting.isBacklog).toBe(false);
    waiting.subscriptionAnswered("walls", MORE);
    expect([waiting.isBacklog, waiting.backlogs()]).toEqual([true, ["walls"]]);
    waiting.subscriptionFailed("walls");
    expect(waiting.isBacklog).toBeUndefined();
  });

  test("is all that an older deployment tells of", () => {
    const waiting = alone();
    for (const queue of QUEUES) waiting.subscriptionAnswered(queue, false);
    expect(waiting.isBacklog).toBe(false);
    waiting.subscriptionAnswered("tiles", true);
    expect([waiting.isBacklog, waiting.nextDueAt()]).toEqual([true, null]);
  });
});

describe("its places", () => {
  test("are sure until they are old, or another worker has the job that it came for at once", async () => {
    const clock = new FakeClock();
    const waiting = alone(clock);
    waiting.subscriptionAnswered("tiles", few("x", "y"));
    expect(waiting.isPlaced(["x"])).toBe(true);
    waiting.claimed(waiting.due(1).named, []);
    expect(waiting.isPlaced(["y"])).toBe(false);
    waiting.placed([{ size: 1, rank: 0, queues: ["tiles"] }]);
    expect([waiting.isPlaced(["y"]), waiting.isPlaced(["x"])]).toEqual([true, false]);
    await clock.advance(2 * PLACES_SURE_MIN_MS);
    expect(waiting.isPlaced(["y"])).toBe(false);
  });

  test("are sure for longer each time that they are found to be the same, up to a bound", async () => {
    const clock = new FakeClock();
    const waiting = alone(clock);
    waiting.subscriptionAnswered("tiles", few("x"));
    for (let n = 0; n < 10; n += 1) waiting.placed([{ size: 1, rank: 0, queues: ["tiles"] }]);
    await clock.advance(PLACES_SURE_MAX_MS - 1);
    expect(waiting.isPlaced(["x"])).toBe(true);
    await clock.advance(1);
    expect(waiting.isPlaced(["x"])).toBe(false);
  });

  test("are in doubt also where the news that the job is gone came before the answer", () => {
    const waiting = alone();
    waiting.subscriptionAnswered("tiles", few("x", "y"));
    const { named } = waiting.due(1);
    waiting.subscriptionAnswered("tiles", few("y"));
    waiting.claimed(named, []);
    expect(waiting.isPlaced(["y"])).toBe(false);
  });

  test("are in doubt where a job is claimed in a later turn: its first worker has not come", () => {
    const clock = new FakeClock();
    const fleet = fleetOf(2, clock);
    for (const waiting of fleet) waiting.subscriptionAnswered("tiles", few("x"));
    expect(fleet.filter((waiting) => waiting.isPlaced(["x"]))).toHaveLength(1);
  });
});

test("jobs that come and go while it claims nothing, for weeks, are not all kept", () => {
  const waiting = new Waiting(new FakeClock(), ["tiles"], "me");
  for (let job = 0; job < 1_000; job += 1) {
    waiting.subscriptionAnswered("tiles", { jobs: [{ id: `job${job}` }], more: false });
    waiting.subscriptionAnswered("tiles", { jobs: [], more: false });
  }
  const { gone } = waiting as unknown as { gone: Map<string, Set<string>> };
  expect(gone.get("tiles")!.size).toBe(LEASES_MAX + 1);
});
