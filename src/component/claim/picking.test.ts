/** Which pending jobs a claimer picks beside others: turns, other shards, guarded ones, priorities, and how much it reads. */
import { describe, expect, test } from "vitest";
import { hasTurn, placeOf, STEAL_AFTER_MS, type Turn } from "../../shared/index.js";
import { newWorld, type World } from "../setup.test.js";
import { chance, enqueue, LANE, look, meet, picked, TILES, wait } from "./looking.test.js";

/** A queue of so many shards, and this worker among others that have just called: it is the first of them. */
async function beside(others: number, shards: number) {
  const world = await newWorld({ shards });
  await meet(world, "me");
  for (let i = 0; i < others; i += 1) await meet(world, `other-${i}`);
  return { world, queues: [{ ...TILES, shards }] };
}

/** So many jobs of names that begin so, in this shard. */
const named = (letter: string, count: number, shard = 0) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${letter}${i}`, shard]));

/** The names of jobs in their order, of this turn or of others. */
async function ofTurn(world: World, turn: Turn, is = true) {
  const jobs = await world.all("jobs");
  return jobs.filter(({ _id }) => hasTurn(_id, turn) === is).map(({ name }) => name!);
}

/** How many rows a search reads in each place. */
async function rowsRead(world: World, args: object) {
  const { scans } = await look(world, args);
  return scans.filter(({ order }) => order === 21).map(({ rows }) => rows.length);
}

describe("a job in another's shard", () => {
  test("waits for its owner, which has just called, and no longer than until a worker may steal", async () => {
    const { world, queues } = await beside(3, 4);
    chance(0.99);
    await enqueue(world, { own: 0, theirs: 1 });
    wait(STEAL_AFTER_MS - 1);
    expect(await picked(world, { queues })).toEqual(["own"]);
    wait(10_000);
    // Their owners are silent by now.
    expect(await picked(world, { queues })).toEqual(["own", "theirs"]);
  });

  test("is stolen by about two of the workers at work, once it has waited", async () => {
    const { world, queues } = await beside(3, 4);
    await enqueue(world, { theirs: 1 });
    wait(STEAL_AFTER_MS);
    chance(0.6);
    expect(await picked(world, { queues })).toEqual([]);
    expect(await picked(world, { queues, isWoken: true })).toEqual(["theirs"]);
    wait(1);
    expect(await picked(world, { queues })).toEqual(["theirs"]);
    chance(0.7);
    expect(await picked(world, { queues })).toEqual([]);
    // It comes in its turn, when no other does.
    expect(await picked(world, { queues, isWoken: true })).toEqual(["theirs"]);
  });

  test("is one of a quarter that a thief takes, of any that are there", async () => {
    const { world, queues } = await beside(3, 4);
    for (const [i, letter] of ["j", "k", "l"].entries())
      await enqueue(world, named(letter, 4, i + 1));
    wait(STEAL_AFTER_MS + 1);
    chance(0);
    expect(await picked(world, { queues })).toEqual(["j0", "j1", "j2"]);
    expect(await picked(world, { queues, max: 2 })).toEqual(["j0"]);
    // From a random shard on, and there from a random row on.
    chance(0.5);
    expect(await picked(world, { queues })).toEqual(["l1", "l2", "l3"]);
    chance(0.66);
    expect(await picked(world, { queues })).toEqual(["l2", "l3", "j0"]);
  });
});

describe("jobs of which a thief may have one", () => {
  test("hide that one behind none of the others", async () => {
    const { world, queues } = await beside(3, 4);
    await enqueue(world, named("j", 4, 1), { group: "theirs" });
    await enqueue(world, { fits: 1 }, { group: "mine" });
    wait(STEAL_AFTER_MS + 1);
    for (const value of [0, 0.3, 0.6]) {
      chance(value);
      const args = { queues, conditions: { groups: ["mine"] } };
      expect(await picked(world, args)).toEqual(["fits"]);
    }
  });
});

describe("a queue of one shard", () => {
  test("keeps the order of commits over jobs of all labels", async () => {
    const world = await newWorld();
    await enqueue(world, named("j", 8));
    for (const label of ["x", "y"]) await enqueue(world, { [label]: 0 }, { labels: [label] });
    // Jobs of a label lie in a place of their own.
    const jobs = await world.all("jobs");
    for (const { labels, number } of await world.all("routes")) {
      const { _id } = jobs.find(({ name }) => name === labels[0])!;
      await world.t.run((ctx) => ctx.db.patch("jobs", _id, { shard: placeOf(number, 0) }));
    }
    const conditions = { labels: ["x", "y"] };
    expect(await picked(world, { conditions, max: 8 })).toEqual(Object.keys(named("j", 8)));
    expect(await picked(world, { conditions, max: 10 })).toHaveLength(10);
  });
});

describe("a worker that shares its shard", () => {
  const turn = { index: 0, sharers: 2 };

  test("takes the jobs of its turn first, and others' when it helps: as likely as they are many", async () => {
    const { world, queues } = await beside(3, 2);
    chance(0.99);
    await enqueue(world, named("j", 8));
    const mine = await ofTurn(world, turn);
    const theirs = await ofTurn(world, turn, false);
    expect([mine.length > 0, theirs.length > 0]).toEqual([true, true]);
    // None has waited.
    expect(await picked(world, { queues })).toEqual(mine);
    wait(STEAL_AFTER_MS + 10);
    chance((theirs.length - 0.1) / 4 < 1 ? (theirs.length - 0.1) / 4 : 0.99);
    const helped = await picked(world, { queues });
    expect(helped.slice(0, mine.length)).toEqual(mine);
    expect(helped).toHaveLength(mine.length + 1);
    expect(theirs).toContain(helped.at(-1));
  });

  test("helps with no job of others where they are few", async () => {
    const { world, queues } = await beside(3, 2);
    chance(0.99);
    await enqueue(world, named("j", 3));
    expect(await ofTurn(world, turn, false)).not.toEqual([]);
    wait(STEAL_AFTER_MS + 1);
    expect(await picked(world, { queues })).toEqual(await ofTurn(world, turn));
  });

  test("reads enough rows to find one of its turn, and 128 at most", async () => {
    const { world, queues } = await beside(7, 4);
    chance(0.99);
    await enqueue(world, named("j", 140));
    expect(await rowsRead(world, { queues, max: 1 })).toEqual([16]);
    expect(await picked(world, { queues, max: 1 })).toEqual([
      (await ofTurn(world, { index: 0, sharers: 2 }))[0],
    ]);
    expect(await rowsRead(world, { queues, max: 3 })).toEqual([48]);
    expect(await rowsRead(world, { queues, max: 64 })).toEqual([128]);
  });
});

describe("a job of a higher priority", () => {
  test("goes first wherever it lies, though it is young and its owner has just called", async () => {
    const { world, queues } = await beside(3, 4);
    chance(0.99);
    await enqueue(world, { none: 0 }, { priority: 10 });
    await world.cancel((await world.all("jobs"))[0]!._id);
    await enqueue(world, { low: 0 });
    await enqueue(world, { high: 1 }, { priority: 5 });
    expect(await picked(world, { queues, max: 1 })).toEqual(["high"]);
    expect(await picked(world, { queues })).toEqual(["high", "low"]);
  });

  test("is left to its owner by a worker that has no job of a lower one", async () => {
    const { world, queues } = await beside(3, 4);
    chance(0.99);
    await enqueue(world, { low: 0 });
    await world.cancel((await world.all("jobs"))[0]!._id);
    await enqueue(world, { high: 1 }, { priority: 5 });
    wait(STEAL_AFTER_MS + 1);
    expect(await picked(world, { queues })).toEqual([]);
  });

  test("is left to its owner while it is young, though that one is silent", async () => {
    const { world, queues } = await beside(3, 4);
    await enqueue(world, { low: 0 });
    await world.cancel((await world.all("jobs"))[0]!._id);
    wait(4_000);
    await enqueue(world, { high: 1 }, { priority: 5 });
    expect(await picked(world, { queues })).toEqual([]);
    wait(STEAL_AFTER_MS + 1);
    expect(await picked(world, { queues })).toEqual(["high"]);
  });

  test("is not passed over where the budget ends before all its places are read", async () => {
    const { world, queues } = await beside(3, 4);
    await enqueue(world, { low: 0 });
    await enqueue(world, { high: 1 }, { priority: 5 });
    for (let ranges = 1; ranges < 20; ranges += 1)
      expect((await picked(world, { queues, max: 1, ranges }))[0] ?? "high").toBe("high");
  });
});

describe("a budget of cost", () => {
  test("is never exceeded, and a job that fits the remainder is picked behind one that does not", async () => {
    const world = await newWorld();
    for (const [name, cost] of Object.entries({ a: 3, b: 3, c: 2, d: 1 }))
      await enqueue(world, { [name]: 0 }, { cost });
    const costs = async (maxCost: number, max = 8) =>
      (await picked(world, { conditions: { maxCost }, max })).join("");
    expect(await costs(5)).toBe("ac");
    expect(await costs(3)).toBe("a");
    expect(await costs(2)).toBe("c");
    expect(await costs(9)).toBe("abcd");
    expect(await costs(9, 3)).toBe("abc");
  });
});

describe("a search for all", () => {
  test("is complete only where its budget has sufficed for every priority", async () => {
    const world = await newWorld();
    await enqueue(world, { low: 0 });
    await enqueue(world, { high: 0 }, { priority: 5 });
    const found = new Set<string>();
    for (let ranges = 1; ranges < 12; ranges += 1) {
      const { picks, snapshot } = await look(world, { ...LANE, ranges });
      expect(snapshot !== null && picks.length < 2, `${ranges} ranges`).toBe(false);
      found.add(`${picks.length} ${snapshot !== null}`);
    }
    expect(found).toContain("1 false");
    expect(found).toContain("2 true");
  });

  test("hides no job of a shard that has more than its share of the backlog", async () => {
    const world = await newWorld();
    await enqueue(world, named("j", 12));
    const names = Object.keys(named("j", 12)).sort();
    const queues = [{ ...TILES, shards: 4 }];
    for (const value of [0, 0.5, 0.99]) {
      chance(value);
      expect((await picked(world, { ...LANE, queues, max: 20 })).sort()).toEqual(names);
      expect(await picked(world, { ...LANE, queues, max: 11 })).toHaveLength(11);
    }
  });

  test("in a crowd reads a part more than it needs of each lane's jobs", async () => {
    const { world, queues } = await beside(0, 4);
    await meet(world, "busy", { state: "active" });
    await enqueue(world, named("j", 60));
    const args = { ...LANE, isCrowded: true, queues };
    expect(Math.max(...(await rowsRead(world, { ...args, max: 8 })))).toBe(12);
  });
});
