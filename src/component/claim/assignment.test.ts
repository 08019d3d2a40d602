import { afterEach, describe, expect, test, vi } from "vitest";
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

  test("in a queue of one shard is every session's, a newcomer's too: it has asked for strict order", () => {
    const strict = { name: "tiles", shards: 1 };
    expect(assignmentAmong("new", strict, fleet(3), NOW)).toMatchObject({
      own: [0],
      turn: { index: 0, sharers: 1 },
    });
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

  test("on no turns in a crowd at one shard: it has asked for strict order", () => {
    const live = [session("b", { state: "active" }), session("a", { state: "active" })];
    const stand = assignmentInCrowd("b", { ...queue, shards: 1 }, live);
    expect(stand).toMatchObject({ own: [0], turn: { index: 0, sharers: 1 } });
  });

  test("on nothing before a fleet is counted, but for one shard: a newcomer has a shard, and no turn", () => {
    const unknown = { size: 200, rank: null, isMiscounted: true };
    const stand = assignmentInFleet("new", 8, unknown, 0);
    expect(stand).toMatchObject({ turn: "unknown", isAlone: false });
    expect(everyShard).toContain(stand.own[0]);
    expect(assignmentInFleet("new", 1, unknown, 0).turn).toEqual({ index: 0, sharers: 1 });
    const ranked = assignmentInFleet("new", 8, { ...unknown, rank: 9 }, 0);
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
      const { live, expired } = await world.t.run((ctx) => findSessions(ctx, Date.now() + after));
      return [live, expired!].map((some) => some.map(({ name }) => name));
    };
    expect(await names(0)).toEqual([["busy", "idle"], ["lost"]]);
    expect(await names(60_000)).toEqual([["idle"], ["busy", "lost"]]);
    expect(await names(100_000)).toEqual([[], ["busy", "lost"]]);
  });

  test("do not say which have expired where more are active than were read", async () => {
    const world = await newWorld();
    const see = () => world.t.run((ctx) => findSessions(ctx, Date.now()));
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
    expect(countAtWork(others, size, NOW)).toBe(5);
  });

  test("are none where all are silent, however large it is", () => {
    expect(countAtWork(seen(9, { silentMs: 500 }), size, NOW)).toBe(0);
  });

  test("are all of it where all sessions read have called", () => {
    expect(countAtWork(seen(9), size, NOW)).toBe(size);
    expect(countAtWork(seen(9, { state: "active" }), size, NOW)).toBe(size);
    // Of one state, and more than are ranked: of fewer none was left out.
    const both = [...seen(8), ...seen(8, { state: "active" })];
    expect(countAtWork(both, size, NOW)).toBe(16);
  });
});
