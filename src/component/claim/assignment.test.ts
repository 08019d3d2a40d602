import { afterEach, describe, expect, test, vi } from "vitest";
import { api } from "../_generated/api.js";
import type { Doc } from "../_generated/dataModel.js";
import { RANKED_SESSIONS_MAX } from "../../shared/index.js";
import {
  assignmentAmong,
  assignmentInCrowd,
  assignmentInFleet,
  countAtWork,
  findSessions,
} from "./assignment.js";
import { newWorld } from "../setup.test.js";

const NOW = 1_000_000;
const queue = { name: "tiles", shards: 8 };

/** A live session that serves the queue; only the fields that a stand reads. */
function session(
  sessionKey: string,
  { state = "idle", silentMs = 0, queues = ["tiles"] }: Partial<Options> = {},
): Doc<"sessions"> {
  const looked = { sessionKey, state, queues, lastSeenAt: NOW - silentMs };
  return looked as unknown as Doc<"sessions">;
}
interface Options {
  state: "idle" | "active";
  silentMs: number;
  queues: string[];
}

const fleet = (size: number, options: Partial<Options> = {}) =>
  Array.from({ length: size }, (_, i) => session(`other-${i}`, options));

const chance = (value: number) => vi.spyOn(Math, "random").mockReturnValue(value);
afterEach(() => void vi.restoreAllMocks());

describe("the shards that a stand guards", () => {
  test("are the shards of sessions that have called a moment ago, and will be back", () => {
    const assignment = assignmentAmong("me", queue, [session("me"), session("you")], NOW);
    expect([...assignment.guarded].sort()).toEqual([1, 3, 5, 7]);
    expect(assignment.own).toEqual([0, 2, 4, 6]);
  });

  test("are not the shards of silent sessions: any worker takes from dead sessions and from sessions busy with long jobs", () => {
    const live = [session("me"), session("you", { state: "active", silentMs: 3_000 })];
    expect(assignmentAmong("me", queue, live, NOW).guarded.size).toBe(0);
  });

  test("nor one's own, though one has just called oneself", () => {
    expect(assignmentAmong("me", queue, [session("me")], NOW).guarded.size).toBe(0);
  });
});

describe("whether a claim takes from guarded shards", () => {
  // Shows C21.
  test("the idle compete with the idle only: a single one among the busy always does", () => {
    chance(0.99);
    const live = [session("me"), ...fleet(10, { state: "active" })];
    expect(assignmentAmong("me", queue, live, NOW).maySteal).toBe(true);
  });

  test("of many idle ones about two do", () => {
    const live = [session("me"), ...fleet(10)];
    chance(0.19);
    expect(assignmentAmong("me", queue, live, NOW).maySteal).toBe(true);
    chance(0.2);
    expect(assignmentAmong("me", queue, live, NOW).maySteal).toBe(false);
  });

  test("sessions that are silent compete with none: beside them one always does", () => {
    chance(0.99);
    const live = [session("me"), ...fleet(10, { silentMs: 500 })];
    expect(assignmentAmong("me", queue, live, NOW).maySteal).toBe(true);
  });

  test("a session that only has room competes with every other", () => {
    const live = [session("me", { state: "active" }), ...fleet(10, { state: "active" })];
    chance(0.99);
    expect(assignmentAmong("me", queue, live, NOW).maySteal).toBe(false);
  });
});

describe("the turn", () => {
  test("of a session that is not yet among the live is unknown: it cannot see other newcomers", () => {
    expect(assignmentAmong("new", queue, fleet(3), NOW).turn).toBe("unknown");
  });

  test("leaves out sessions that serve other queues", () => {
    const live = [session("me"), ...fleet(9, { queues: ["videos"] })];
    expect(assignmentAmong("me", queue, live, NOW)).toMatchObject({
      isAlone: true,
      own: [0, 1, 2, 3, 4, 5, 6, 7],
    });
  });
});

describe("sessions of one queue agree without a word between them", () => {
  const everyShard = Array.from({ length: 8 }, (_, shard) => shard);

  test("on their shards: each reads its own first, and no shard is read first by two or by none", () => {
    const live = [session("b"), session("c"), session("a")];
    const stands = ["a", "b", "c"].map((one) => assignmentAmong(one, queue, live, NOW));
    expect(stands.flatMap(({ own }) => own).sort()).toEqual(everyShard);
    for (const { turn } of stands) expect(turn).toEqual({ index: 0, sharers: 1 });
  });

  test("on their turns in a crowd of lanes at work, each from the head of every shard; idle ones have none", () => {
    const busy = [session("b", { state: "active" }), session("a", { state: "active" })];
    const live = [...busy, session("idle")];
    const stands = ["a", "b"].map((one) => assignmentInCrowd(one, queue, live));
    for (const stand of stands) expect(stand).toMatchObject({ own: everyShard, isAlone: true });
    expect(stands.map(({ turn }) => turn)).toEqual([0, 1].map((index) => ({ index, sharers: 2 })));
  });

  test("on nothing before a fleet is counted: a newcomer has a shard, and no turn", () => {
    const unknown = { size: 200, rank: null, isMiscounted: true };
    const none = { active: 0, idle: 0 };
    const stand = assignmentInFleet("new", 8, unknown, none);
    expect(stand).toMatchObject({ turn: "unknown", isAlone: false });
    expect(everyShard).toContain(stand.own[0]);
    const ranked = assignmentInFleet("new", 8, { ...unknown, rank: 9 }, none);
    expect(ranked).toMatchObject({ own: [1], turn: { index: 1, sharers: 25 } });
  });
});

test("a claim takes all of the others' old jobs where none of them is at work, and else a quarter", () => {
  const stand = (silentMs: number) =>
    assignmentAmong("me", queue, [session("me"), session("you", { silentMs })], NOW);
  expect(stand(500).part).toBe(1);
  expect(stand(499).part).toBe(4);
});

describe("the sessions read by a claim", () => {
  test("are live while their leases run or they called a moment ago; one with leases that ran out has expired", async () => {
    const world = await newWorld();
    await world.enqueueBatch([1, 2]);
    await world.worker("lost").claim();
    vi.setSystemTime(Date.now() + 60_000);
    await world.worker("busy").claim();
    await world.worker("idle").claim();
    const names = async (after: number) => {
      const { live, expired } = await world.t.run((ctx) =>
        findSessions(ctx, { now: Date.now() + after, queues: [] }),
      );
      return [live, expired!].map((some) => some.map(({ name }) => name));
    };
    expect(await names(0)).toEqual([["busy", "idle"], ["lost"]]);
    expect(await names(60_000)).toEqual([["idle"], ["busy", "lost"]]);
    expect(await names(100_000)).toEqual([[], ["busy", "lost"]]);
  });

  test("are the active ones alone in a fleet that is at work on all its queues", async () => {
    const world = await newWorld();
    await world.worker("idle").claim();
    await world.enqueueBatch(Array.from({ length: RANKED_SESSIONS_MAX + 1 }, (_, n) => n));
    for (let n = 0; n <= RANKED_SESSIONS_MAX; n += 1) await world.worker(`w${n}`).claim(1);
    const seesIdle = async (args: object, queues = [world.queue]) => {
      const find = { now: Date.now(), isFleet: true, queues, ...args };
      const { live } = await world.t.run((ctx) => findSessions(ctx, find));
      return live.some(({ state }) => state === "idle");
    };
    expect(await seesIdle({})).toBe(false);
    expect(await seesIdle({ isFleet: false })).toBe(true);
    expect(await seesIdle({}, [world.queue, { ...world.queue, name: "other" }])).toBe(true);
    expect(await seesIdle({ now: Date.now() + 500 })).toBe(true);
    expect(await seesIdle({ now: Date.now() + 500, silentMs: 300 })).toBe(false);
  });

  test("are the idle ones, too, where some of the active have run out of time: the rest is no fleet", async () => {
    const world = await newWorld();
    await world.worker("idle").claim();
    await world.enqueueBatch(Array.from({ length: RANKED_SESSIONS_MAX + 1 }, (_, n) => n));
    for (let n = 0; n <= RANKED_SESSIONS_MAX; n += 1) await world.worker(`w${n}`).claim(1);
    await world.t.run(async ({ db }) => {
      const late = (await db.query("sessions").collect()).filter(({ name }) => /w[01]/.test(name));
      for (const { _id } of late) await db.patch("sessions", _id, { expiresAt: Date.now() - 1 });
    });
    const onCall = { peers: "alike" };
    const { fleet } = await world.t.mutation(api.lib.claim, {
      ...{ token: world.token, sessionKey: "new", callSeq: 1, name: "new", max: 1 },
      ...{ queues: [world.queue], onCall },
    });
    expect(fleet?.size).toBeGreaterThan(RANKED_SESSIONS_MAX);
  });

  test("do not say which have expired where more are active than were read", async () => {
    const world = await newWorld();
    const see = () => world.t.run((ctx) => findSessions(ctx, { now: Date.now(), queues: [] }));
    const enqueueAndClaim = async (n: number) => {
      await world.enqueue(n);
      await world.worker(`w${n}`).claim();
    };
    for (let n = 0; n < RANKED_SESSIONS_MAX; n += 1) await enqueueAndClaim(n);
    expect((await see()).expired).toEqual([]);
    await enqueueAndClaim(RANKED_SESSIONS_MAX);
    const { live, expired } = await see();
    expect(expired).toBeNull();
    expect(live).toHaveLength(RANKED_SESSIONS_MAX + 1);
  });
});

test("in a crowd too large to be ranked each session has one shard, and all shards are guarded", () => {
  const assignment = assignmentAmong("me", queue, [session("me"), ...fleet(33)], NOW);
  expect(assignment.own).toHaveLength(1);
  expect(assignment.isAlone).toBe(false);
  expect(assignment.guarded.size).toBe(8);
});

describe("of a fleet too large to be read, the sessions at work", () => {
  const size = 200;
  const seen = (count: number, options: Partial<Options> = {}) => fleet(count, options);

  test("are the ones that called a moment ago, where one of the latest has not", () => {
    const others = [...seen(3, { state: "active" }), ...seen(2), ...seen(7, { silentMs: 500 })];
    expect(countAtWork(others, size, NOW)).toEqual({ active: 3, idle: 2 });
  });

  test("are none where all are silent, however large it is", () => {
    expect(countAtWork(seen(9, { silentMs: 500 }), size, NOW)).toEqual({ active: 0, idle: 0 });
  });

  test("are all of it where all idle ones read have called", () => {
    expect(countAtWork(seen(9), size, NOW)).toEqual({ active: 0, idle: size });
    expect(countAtWork(seen(8), size, NOW)).toEqual({ active: 0, idle: 8 });
  });

  test("are a part of it where as many have jobs in hand as are read: some have called", () => {
    const busy = { state: "active" } as const;
    const some = (calling: number, silent: number) => [
      ...seen(calling, busy),
      ...seen(silent, { ...busy, silentMs: 500 }),
    ];
    expect(countAtWork(some(8, 0), size, NOW)).toEqual({ active: size, idle: 0 });
    expect(countAtWork(some(2, 6), size, NOW)).toEqual({ active: size / 4, idle: 0 });
    // Of fewer none was left out.
    expect(countAtWork(some(7, 0), size, NOW)).toEqual({ active: 7, idle: 0 });
  });

  test("have called within two of its own cycles, where the deployment is slow, and within three seconds", () => {
    const others = [500, 1_999, 2_000, 2_999, 3_000].map((silentMs) => session("x", { silentMs }));
    const idle = (silentMs: number) => countAtWork(others, size, NOW, silentMs).idle;
    expect([0, 250, 1_000, 60_000].map(idle)).toEqual([0, 0, 2, 4]);
  });
});
