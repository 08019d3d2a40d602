/** Ranks of sessions that are too many to be read with every claim. */
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  FLEET_OLD_MS,
  FLEET_WAIT_MS,
  RANKED_SESSIONS_MAX,
  STEAL_AFTER_MS,
} from "../../shared/index.js";
import { api } from "../_generated/api.js";
import type { Doc } from "../_generated/dataModel.js";
import { fleetOf, PlacesByQueue, type Fleet } from "./fleet.js";
import { WATCHING } from "../rows/duties.js";
import { newWorld, succeeded, type World } from "../setup.test.js";
import { findSessions, assignmentInFleet } from "./assignment.js";

const MANY = RANKED_SESSIONS_MAX + 12;
const sessions = Array.from({ length: MANY }, (_, i) => `session-${i}`);

afterEach(() => void vi.restoreAllMocks());

/** With the chances of `ask` the only job lies in another's shard. */
const NOT_ITS = [sessions[0]!, sessions[1]!];

/** Every session that may request a count does, or none. */
const ask = (does: boolean) => vi.spyOn(Math, "random").mockReturnValue(does ? 0 : 0.99);

const atWork = { active: MANY, idle: 0 };

async function claim(world: World, sessionKey: string, n: number) {
  const { token, queue } = world;
  return await world.t.mutation(api.lib.claim, {
    ...{ token, sessionKey, callSeq: n, name: sessionKey, queues: [queue], max: 1 },
  });
}

async function claimAll(world: World, n: number, who: readonly string[] = sessions) {
  for (const sessionKey of who) await claim(world, sessionKey, n);
}

async function fleetAsSeenBy(world: World, sessionKey: string): Promise<Fleet | null> {
  return await world.t.run(async (ctx) => {
    const { live } = await findSessions(ctx, { now: Date.now(), queues: [] });
    return await fleetOf(ctx.db, "tiles", sessionKey, live, Date.now());
  });
}

/** When it has been counted, and once more, since it has grown. */
async function counted(world: World) {
  for (let times = 0; times < 2; times += 1) await world.skipTo(Date.now() + FLEET_WAIT_MS);
  return await world.all("fleets");
}

describe("a fleet", () => {
  test("has no row where a claim can read every session", async () => {
    ask(true);
    const world = await newWorld({ shards: 8 });
    await claimAll(world, 1, sessions.slice(0, RANKED_SESSIONS_MAX));
    expect(await counted(world)).toEqual([]);
  });

  test("is counted when a session is missing from it, and then gives every session a rank of its own", async () => {
    ask(true);
    const world = await newWorld({ shards: 8 });
    await claimAll(world, 1);
    expect(await counted(world)).toHaveLength(1);
    const fleets = await Promise.all(sessions.map((one) => fleetAsSeenBy(world, one)));
    expect(fleets.map((fleet) => fleet!.size)).toEqual(sessions.map(() => MANY));
    const ranks = fleets.map((fleet) => fleet!.rank!).sort((a, b) => a - b);
    expect(ranks).toEqual(sessions.map((_, i) => i));
    // Each of the sessions that share a shard has a turn of its own.
    const turns = fleets.map((fleet, i) => {
      const { own, turn } = assignmentInFleet(sessions[i]!, 8, fleet!, atWork);
      return JSON.stringify([own, turn === "unknown" ? turn : turn.index]);
    });
    expect(new Set(turns).size).toBe(MANY);
  });

  test("is none without a requested count: sessions claim by chance, and still get jobs", async () => {
    ask(false);
    const world = await newWorld({ shards: 8 });
    await claimAll(world, 1);
    expect(await counted(world)).toEqual([]);
    const fleet = (await fleetAsSeenBy(world, sessions[0]!))!;
    expect(fleet).toMatchObject({ rank: null, isMiscounted: false });
    expect(assignmentInFleet(sessions[0]!, 8, fleet, atWork).turn).toBe("unknown");
    await world.enqueue();
    const { jobs } = await world.t.mutation(api.lib.claim, {
      ...{
        token: world.token,
        sessionKey: sessions[0]!,
        callSeq: 2,
        name: "a",
        max: 1,
        woken: true,
      },
      queues: [world.queue],
    });
    expect(jobs).toHaveLength(1);
  });

  test("is not counted again for a request made before the count, and again when the count is old", async () => {
    ask(true);
    const world = await newWorld({ shards: 8 });
    await claimAll(world, 1);
    const [first] = await counted(world);
    await world.skipTo(Date.now() + FLEET_WAIT_MS);
    expect((await world.all("fleets"))[0]).toEqual(first);
    await world.skipTo(Date.now() + FLEET_OLD_MS + 1);
    await claimAll(world, 2, sessions.slice(1));
    const [again] = await counted(world);
    expect(again!.at).toBeGreaterThan(first!.at);
  });

  test("returns with every claim its size and the place in it, so that each of many comes in its turn", async () => {
    ask(true);
    const world = await newWorld({ shards: 8 });
    expect((await claim(world, sessions[0]!, 1)).fleet).toEqual({ size: 1, rank: 0 });
    await claim(world, sessions[1]!, 1);
    expect((await claim(world, sessions[1]!, 2)).fleet).toEqual({ size: 2, rank: 1 });
    await claimAll(world, 3);
    await counted(world);
    const places = [];
    for (const sessionKey of sessions) places.push((await claim(world, sessionKey, 4)).fleet!);
    expect(places.map(({ size }) => size)).toEqual(sessions.map(() => MANY));
    expect(new Set(places.map(({ rank }) => rank)).size).toBe(MANY);
  });

  test("that grows is counted until it has grown, by any request", async () => {
    ask(true);
    const world = await newWorld({ shards: 8 });
    await claimAll(world, 1, sessions.slice(0, -2));
    ask(false);
    await world.skipTo(Date.now() + FLEET_WAIT_MS);
    expect((await world.all("fleets"))[0]!.members.byteLength).toBe(4 * (MANY - 2));
    await claimAll(world, 1, sessions.slice(-2));
    expect((await counted(world))[0]!.members.byteLength).toBe(4 * MANY);
  });

  test("has members that now and then help with a job in their shard that is another member's turn", async () => {
    ask(true);
    const world = await newWorld({ shards: 8 });
    await claimAll(world, 1);
    await counted(world);
    await claimAll(world, 2);
    let drawn = 0;
    vi.spyOn(Math, "random").mockImplementation(() => ((drawn += 1) * 0.618) % 1);
    await world.enqueueBatch(Array.from({ length: 64 }, () => null));
    await world.skipTo(Date.now() + STEAL_AFTER_MS + 20);
    const fleets = await Promise.all(sessions.map((one) => fleetAsSeenBy(world, one)));
    const owner = sessions[fleets.findIndex((fleet) => fleet!.rank === 0)]!;
    const { token, queue } = world;
    const take = async (n: number, chance: number) => {
      vi.spyOn(Math, "random").mockReturnValue(chance);
      const args = { token, sessionKey: owner, callSeq: n, name: "a", queues: [queue], max: 64 };
      return (await world.t.mutation(api.lib.claim, args)).jobs.length;
    };
    const its = await take(3, 0.99);
    expect(its).toBeGreaterThan(0);
    expect(its).toBeLessThan(64);
    expect(await take(4, 0.99)).toBe(0);
    // Too seldom to be a thief: one of ten. Of the three that share the shard about one in nine helps for each job
    // there.
    expect(await take(5, 0.2)).toBeGreaterThan(0);
    // The others' calls may take as long as its own, which has jobs in hand.
    await world.skipTo(Date.now() + 1_000);
    expect(await take(6, 0.99)).toBe(0);
    // Now all other sessions are silent, and may be gone.
    await world.skipTo(Date.now() + 3_000);
    expect(await take(7, 0.99)).toBeGreaterThan(its);
  });
});

describe("a worker that was called up", () => {
  /** All others have a job in hand, and have just called; its shard is another. */
  async function besideBusy(waiting: number) {
    ask(true);
    const world = await newWorld({ shards: 8 });
    await claimAll(world, 1);
    await counted(world);
    const fleets = await Promise.all(sessions.map((one) => fleetAsSeenBy(world, one)));
    vi.spyOn(Math, "random").mockReturnValue(0.99);
    const busy = await world.enqueueBatch(Array.from({ length: MANY }, () => null));
    await world.skipTo(Date.now() + STEAL_AFTER_MS + 20);
    for (const [i, id] of busy.entries()) {
      const args = { token: world.token, sessionKey: sessions[i]!, callSeq: 2, name: "a", max: 1 };
      await world.t.mutation(api.lib.claim, { ...args, queues: [world.queue], named: [id] });
    }
    let drawn = 0;
    vi.spyOn(Math, "random").mockImplementation(() => (0.99 + (drawn += 1) * 0.618) % 1);
    await world.enqueueBatch(Array.from({ length: waiting }, () => null));
    vi.spyOn(Math, "random").mockReturnValue(0.99);
    const rank = fleets.findIndex((fleet) => fleet!.rank === 0);
    const args = { token: world.token, sessionKey: sessions[rank]! };
    const [session] = (await world.all("sessions")).filter(
      ({ sessionKey }) => sessionKey === args.sessionKey,
    );
    const { id, attempt } = session!.leases[0]!;
    await world.t.mutation(api.lib.complete, {
      ...args,
      callSeq: 3,
      finished: [succeeded({ id, attempt })],
    });
    let callSeq = 3;
    const take = async (afterMs = 0, how: object = { woken: true }) => {
      vi.setSystemTime(Date.now() + afterMs);
      const request = { ...args, name: "a", max: 1, queues: [world.queue], ...how };
      return (await world.t.mutation(api.lib.claim, { ...request, callSeq: (callSeq += 1) })).jobs
        .length;
    };
    /** The others beat, as with long jobs of short leases. */
    const others = async (afterMs: number) => {
      vi.setSystemTime(Date.now() + afterMs);
      for (const { sessionKey, leases } of await world.all("sessions")) {
        const held = leases.map(({ id: job, attempt: of }) => ({ id: job, attempt: of }));
        if (held.length > 0)
          await world.t.mutation(api.lib.heartbeat, { ...args, sessionKey, leases: held });
      }
    };
    /** It stands by as the one that watches. */
    const watches = async () =>
      await world.t.run(async ({ db }) => {
        const [row] = (await db.query("sessions").collect()).filter(
          ({ sessionKey }) => sessionKey === args.sessionKey,
        );
        await db.patch("sessions", row!._id, { peers: "alike", standbySince: WATCHING });
      });
    return Object.assign(take, { others, watches });
  }

  test("leaves a job in another's shard to as many as are at work, and takes it once these are silent", async () => {
    const take = await besideBusy(1);
    expect(await take()).toBe(0);
    expect(await take(500)).toBe(1);
  });

  test("takes it once it has waited for long, though these call on and on", async () => {
    const take = await besideBusy(1);
    await take.others(1_900);
    expect(await take()).toBe(0);
    await take.others(200);
    expect(await take()).toBe(1);
  });

  test("takes it, too, where it is the one that watches", async () => {
    const take = await besideBusy(1);
    await take.others(2_100);
    await take.watches();
    expect(await take(0, {})).toBe(1);
  });

  test("takes one of more jobs than they are", async () => {
    const take = await besideBusy(8 * MANY);
    expect(await take()).toBe(1);
  });
});

describe("a fleet that loses members", () => {
  async function fleetAndLeave(does: boolean, sessionKey: string) {
    ask(true);
    const world = await newWorld({ shards: 8 });
    await claimAll(world, 1);
    await counted(world);
    ask(does);
    await world.skipTo(Date.now() + 1_000);
    const args = { token: world.token, sessionKey, leases: [], callSeq: 2 };
    await world.t.mutation(api.lib.leave, args);
    return (await counted(world))[0]!.members.byteLength / 4;
  }

  test("is counted without them, when one of the few that request a count leaves", async () => {
    expect(await fleetAndLeave(true, sessions[3]!)).toBe(MANY - 1);
    expect(await fleetAndLeave(false, sessions[3]!)).toBe(MANY);
  });
});

describe("the places of a session by queue", () => {
  const session = (sessionKey: string, queues: string[], lane?: string) =>
    ({ sessionKey, queues, lane }) as unknown as Doc<"sessions">;

  test("are among workers, and no lanes, that serve the queue; queues of the same place share an entry", () => {
    const workers = [session("a", ["x", "y"]), session("b", ["x", "y", "z"])];
    const live = [...workers, session("a-lane", ["x"], "lane"), session("c", ["other"])];
    expect(new PlacesByQueue("b", live).known(["x", "y", "z"])).toEqual([
      { size: 2, rank: 1, queues: ["x", "y"] },
      { size: 1, rank: 0, queues: ["z"] },
    ]);
  });

  test("are known of counted queues alone where more sessions are live than a claim reads", () => {
    const live = sessions.slice(0, RANKED_SESSIONS_MAX + 1).map((one) => session(one, ["x", "y"]));
    const places = new PlacesByQueue(sessions[0]!, live);
    places.note("x", { size: 40, rank: 7 });
    expect(places.known(["x", "y"])).toEqual([{ size: 40, rank: 7, queues: ["x"] }]);
    const few = new PlacesByQueue(sessions[0]!, live.slice(1));
    expect(few.known(["x", "y"])).toMatchObject([{ size: 9, queues: ["x", "y"] }]);
  });
});

describe("an answer to a wake", () => {
  test("takes a new job in another session's shard", async () => {
    ask(false);
    const world = await newWorld({ shards: 8 });
    await claimAll(world, 1, sessions.slice(0, 4));
    await world.enqueue();
    // The two of the four that do not own its shard are asked.
    for (const sessionKey of NOT_ITS) expect((await claim(world, sessionKey, 2)).jobs).toEqual([]);
    const { token, queue } = world;
    const woken = await world.t.mutation(api.lib.claim, {
      ...{
        token,
        sessionKey: NOT_ITS[0]!,
        callSeq: 3,
        name: "a",
        queues: [queue],
        max: 1,
        woken: true,
      },
    });
    expect(woken.jobs).toHaveLength(1);
  });
});
