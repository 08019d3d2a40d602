/** The search of a claim: which jobs it picks for a worker and for a lane, how far it looks, and what it says besides. */
import { describe, expect, test } from "vitest";
import {
  AVOID_MS,
  commitTimeOf,
  hasTurn,
  JANITOR_OVERDUE_MS,
  JANITOR_SLACK_MS,
  LOOK_BYTES_MAX,
  RANKED_SESSIONS_MAX,
  TEND_LATE_MS,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import { newWorld } from "../setup.test.js";
import { chance, enqueue, LANE, look, meet, picked, TILES, wait } from "./looking.test.js";

describe("a lane", () => {
  test("gets no job that prefers a worker, though it has that worker's name", async () => {
    const world = await newWorld();
    await enqueue(world, { preferring: 0 }, { prefer: { worker: "me", forMs: 60_000 } });
    expect(await picked(world)).toEqual(["preferring"]);
    expect(await picked(world, LANE)).toEqual([]);
  });

  test("leaves a young job to a worker outside that may take it, and takes what none there may", async () => {
    const world = await newWorld();
    await enqueue(world, { old: 0 });
    await enqueue(world, { oldest: 0 }, { group: "g" });
    const upTo = commitTimeOf(Date.now() + 1);
    wait(10);
    await enqueue(world, { young: 0 });
    await enqueue(world, { theirs: 0 }, { group: "g" });
    const args = { ...LANE, queues: [{ ...TILES, upTo }] };
    expect(await picked(world, args)).toEqual(["old", "oldest", "young", "theirs"]);
    await meet(world, "grouped", { groups: ["g"] });
    expect(await picked(world, args)).toEqual(["old", "oldest", "young"]);
    await meet(world, "any");
    expect(await picked(world, args)).toEqual(["old", "oldest"]);
    // Another commit from which on jobs are not for it stands beside that one: the earlier counts.
    expect(await picked(world, { ...args, upTo: upTo - 10_000_000n })).toEqual([]);
    expect(await picked(world, { ...args, upTo: upTo + 100_000_000n })).toEqual(["old", "oldest"]);
  });

  test("leaves a failed job to no other: it has no name of its own", async () => {
    const world = await newWorld();
    await enqueue(world, { failed: 0 });
    const [job] = await world.all("jobs");
    await world.t.run((ctx) => ctx.db.patch("jobs", job!._id, { order: 20, failedBy: ["me"] }));
    await meet(world, "other");
    expect(await picked(world)).toEqual([]);
    expect(await picked(world, { isLane: true })).toEqual(["failed"]);
    const over = Date.now() + AVOID_MS;
    expect(await picked(world, { now: over - 1 })).toEqual([]);
    expect(await picked(world, { now: over + 1 })).toEqual(["failed"]);
    // In a circular queue it is at the end of the ring, and any worker's.
    await world.t.run((ctx) => ctx.db.patch("jobs", job!._id, { order: 21 }));
    expect(await picked(world)).toEqual(["failed"]);
  });

  test("gets from a queue without a handler the jobs that bring one", async () => {
    const world = await newWorld();
    await enqueue(world, { plain: 0, bringing: 0 });
    const handler = { kind: "action", handle: "function://send", takes: "payload" } as const;
    const { _id } = (await world.all("jobs")).find(({ name }) => name === "bringing")!;
    await world.t.run(async (ctx) => {
      const rules = await ctx.db.insert("jobRules", { key: "k", rules: { handler } });
      await ctx.db.patch("jobs", _id, { rules });
    });
    expect(await picked(world, LANE)).toEqual(["plain", "bringing"]);
    const queues = [{ ...TILES, needsHandler: true }];
    expect(await picked(world, { ...LANE, queues })).toEqual(["bringing"]);
  });

  test("leaves young jobs in others' shards to them, where it searches for itself alone", async () => {
    const world = await newWorld();
    await enqueue(world, { a: 0, b: 1 });
    await meet(world, "you");
    const queues = [{ ...TILES, shards: 2 }];
    expect(await picked(world, { isLane: true, queues, sessionKey: "z" })).toEqual(["b"]);
    expect((await picked(world, { ...LANE, queues })).sort()).toEqual(["a", "b"]);
  });

  test("beside other lanes at work takes its turn first", async () => {
    const world = await newWorld();
    const names = Array.from({ length: 12 }, (_, i) => `j${i}`);
    await enqueue(world, Object.fromEntries(names.map((name) => [name, 0])));
    await meet(world, "before", { state: "active" });
    await meet(world, "idle");
    chance(0);
    const args = { ...LANE, isCrowded: true, queues: [{ ...TILES, shards: 8 }], max: 2 };
    const { picks } = await look(world, args);
    expect(picks).toHaveLength(2);
    for (const { id } of picks) expect(hasTurn(id, { index: 1, sharers: 2 })).toBe(true);
    // One that searches for all has every turn.
    expect(await picked(world, { ...args, isCrowded: false })).toEqual(["j0", "j1"]);
  });
});

describe("a search", () => {
  test("passes a queue by whose jobs it names, and no other", async () => {
    const world = await newWorld();
    await enqueue(world, { there: 0 });
    const passed = { ...TILES, isPassedBy: true };
    expect(await picked(world, { queues: [passed] })).toEqual([]);
    expect(await picked(world, { queues: [{ ...passed, name: "other" }, TILES] })).toEqual([
      "there",
    ]);
  });

  test("leaves later jobs, which have a wake of their own", async () => {
    const world = await newWorld();
    await enqueue(world, { early: 0 });
    const upTo = commitTimeOf(Date.now() + 1);
    wait(10);
    await enqueue(world, { late: 0 });
    for (const more of [{}, LANE])
      expect(await picked(world, { ...more, upTo })).toEqual(["early"]);
  });

  test("on which others rely picks jobs of every shard, and another leaves young ones to their owners", async () => {
    const world = await newWorld();
    await enqueue(world, { a: 0, b: 1, c: 2 });
    await meet(world, "me");
    await meet(world, "you");
    const queues = [{ ...TILES, shards: 8 }];
    expect(await picked(world, { queues })).toEqual(["a", "c"]);
    expect((await picked(world, { queues, ...LANE })).sort()).toEqual(["a", "b", "c"]);
  });

  test("says up to which commit it is complete, where others rely on it, if it is", async () => {
    const world = await newWorld();
    await enqueue(world, { a: 0, b: 0 });
    const queues = [TILES, { ...TILES, name: "other" }, { ...TILES, name: "third" }];
    const isWhole = async (args: object) => (await look(world, args)).snapshot !== null;
    expect(await isWhole({ ...LANE, queues })).toBe(true);
    // The budget is spent before the last queue, or within one.
    for (const ranges of [1, 2]) expect(await isWhole({ ...LANE, queues, ranges })).toBe(false);
    expect(await isWhole({ ...LANE, ranges: 1 })).toBe(false);
    // It has all that it may take: the claim says whether that was to be had.
    expect(await isWhole({ ...LANE, queues, ranges: 1, max: 0 })).toBe(true);
    expect(await isWhole({ queues, ranges: 1 })).toBe(true);
  });

  test("ends where the queue's routes are as large as all that it may read", async () => {
    const world = await newWorld();
    await enqueue(world, { there: 0 });
    const most = LOOK_BYTES_MAX / 2 ** 19;
    for (let number = 1; number <= most; number += 1) {
      if (number === most) expect(await picked(world, LANE)).toEqual(["there"]);
      const needs = { key: `${number}`, labels: ["x".repeat(2 ** 19)], costClass: 0 };
      const row = { queue: "tiles", number, priorities: [0], ...needs };
      await world.t.run((ctx) => ctx.db.insert("routes", row));
    }
    expect(await picked(world, LANE)).toEqual([]);
    expect((await look(world, LANE)).snapshot).toBeNull();
  });

  test("counts among the workers of all queues that it serves, searched or passed by, and tells its place in each", async () => {
    const world = await newWorld();
    await meet(world, "a");
    for (const key of ["b", "c", "z"]) await meet(world, key, { queues: ["other"] });
    const session = await meet(world, "lane");
    await world.t.run(async (ctx) => {
      const lane = await ctx.db.insert("lanes", { queue: "tiles", session, cap: 1 });
      await ctx.db.patch("sessions", session, { lane });
    });
    const other = { ...TILES, name: "other", isPassedBy: true };
    const args = { queues: [TILES, other], served: ["tiles", "other", "third"] };
    expect(await look(world, args)).toMatchObject({
      fleet: { size: 4, rank: 2 },
      places: [
        { size: 4, rank: 2, queues: ["other"] },
        { size: 2, rank: 1, queues: ["tiles"] },
        { size: 1, rank: 0, queues: ["third"] },
      ],
    });
    expect((await look(world, { queues: [other] })).fleet).toEqual({ size: 4, rank: 2 });
    // A worker that knows its places hears of none.
    for (const queues of [[TILES], [other]])
      expect((await look(world, { queues, isPlaced: true })).places).toEqual([]);
  });

  test("of a worker has a large fleet counted in which it is missing, also where it searches no queue", async () => {
    const world = await newWorld();
    for (let i = 0; i <= RANKED_SESSIONS_MAX; i += 1)
      await meet(world, `s${i}`, { queues: ["tiles", "other"] });
    chance(0);
    const queues = [TILES, { ...TILES, name: "other", isPassedBy: true }];
    expect((await look(world, { queues })).miscounted.sort()).toEqual(["other", "tiles"]);
    expect((await look(world, { isLane: true })).miscounted).toEqual([]);
    const size = RANKED_SESSIONS_MAX + 1;
    const { places } = await look(world, { served: ["tiles"] });
    expect(places).toEqual([{ size, rank: null, queues: ["tiles"] }]);
    // Queues that it does not come to are not read.
    expect((await look(world, { max: 0 })).miscounted).toEqual([]);
    const two = [TILES, { ...TILES, name: "other" }];
    expect((await look(world, { queues: two, ranges: 1 })).miscounted).toEqual(["tiles"]);
    chance(0.99);
    expect((await look(world, { queues })).miscounted).toEqual([]);
  });
});

describe("a search says that work is late", () => {
  /** A lease whose sweep does not come, or an alarm that does not ring. */
  async function unswept(timer?: Partial<Doc<"timers">>) {
    const world = await newWorld();
    const at = Date.now();
    if (timer !== undefined)
      await world.t.run((ctx) =>
        ctx.db.insert("timers", { kind: "janitor", generation: 1, dueAt: at, ...timer } as never),
      );
    return { world, at };
  }

  test("of a sweep, but for a search that is full, and none of a claim that reads no session", async () => {
    const { world } = await unswept({});
    wait(TEND_LATE_MS);
    expect((await look(world)).isLate).toBe(false);
    wait(1);
    expect((await look(world)).isLate).toBe(true);
    expect((await look(world, LANE)).isLate).toBe(true);
    expect((await look(world, { max: 0 })).isLate).toBe(false);
    const queues = [{ ...TILES, isPassedBy: true }];
    expect((await look(world, { queues, isPlaced: true })).isLate).toBe(false);
    expect((await look(world, { isPlaced: true })).isLate).toBe(true);
  });

  test("of leases that are over without a sweep, which a lane that searches for all leaves to others", async () => {
    const { world, at } = await unswept();
    const lease = { id: await world.enqueue(), attempt: 1, callSeq: 1 };
    await meet(world, "dead", { state: "active", expiresAt: at, leases: [lease] as never });
    wait(TEND_LATE_MS + JANITOR_SLACK_MS + 1);
    expect((await look(world, { max: 2 })).isLate).toBe(true);
    expect((await look(world, { ...LANE, isCrowded: true, max: 2 })).isLate).toBe(true);
    expect((await look(world, LANE)).isLate).toBe(false);
  });

  test("of another alarm, to a claimer that finds no job", async () => {
    const { world } = await unswept({ kind: "rollUp" });
    wait(JANITOR_OVERDUE_MS);
    expect((await look(world)).isLate).toBe(false);
    wait(1);
    expect((await look(world)).isLate).toBe(true);
    await world.enqueue();
    expect((await look(world)).isLate).toBe(false);
  });

  test("to few of a large fleet", async () => {
    const { world } = await unswept({});
    for (const key of ["a", "b", "c", "d"]) await meet(world, key);
    wait(TEND_LATE_MS + 1);
    chance(0.8);
    expect((await look(world)).isLate).toBe(false);
    chance(0.79);
    expect((await look(world)).isLate).toBe(true);
  });
});

describe("a search finds a timer", () => {
  test("that sweeps by the end of the shortest lease, or before an attempt that is overdue sooner", async () => {
    const world = await newWorld();
    const now = Date.now();
    const timer = await world.t.run((ctx) =>
      ctx.db.insert("timers", { kind: "janitor", generation: 1, dueAt: now + 8_000 } as never),
    );
    const brief = { ...TILES, name: "brief", leaseMs: 4_000 };
    expect((await look(world)).timer).toBe(timer);
    expect((await look(world, { queues: [TILES, brief] })).timer).toBeNull();
    expect((await look(world, { endsBy: now + 4_000 })).timer).toBeNull();
    expect((await look(world, { queues: [brief], isLane: true })).timer).toBe(timer);
  });
});
