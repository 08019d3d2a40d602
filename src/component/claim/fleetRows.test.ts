/** A fleet's row: the session that asks for a count, the sessions that are counted, and the place that the row gives. */
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  FLEET_OLD_MS,
  FLEET_WAIT_MS,
  IDLE_LIVE_MS,
  RANKED_SESSIONS_MAX,
  stableHash,
} from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc } from "../_generated/dataModel.js";
import type { MutationCtx } from "../_generated/server.js";
import { newWorld, type World } from "../setup.test.js";
import { countedFleet, fleetOf, larger, leaveFleets, liveFleet, placeAmong } from "./fleet.js";

const NOW = Date.UTC(2026, 0, 1);
const live = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ sessionKey: `s${i}` })) as Doc<"sessions">[];
const MANY = live(RANKED_SESSIONS_MAX + 1);

afterEach(() => void vi.restoreAllMocks());

/** The dice of a session: it asks for a count where this share of the fleet's size is below four. */
const dice = (share: number) => vi.spyOn(Math, "random").mockReturnValue(share);

const membersOf = (sessionKeys: readonly string[]) =>
  Uint32Array.from(sessionKeys.map(stableHash)).sort().buffer;

/** Two buffers are equal to `toEqual` whatever is in them. */
const listOf = (members: ArrayBuffer) => [...new Uint32Array(members)];

const counted = async (world: World, sessionKeys: readonly string[], at = NOW, queue = "tiles") =>
  void (await world.t.run((ctx) =>
    ctx.db.insert("fleets", { queue, members: membersOf(sessionKeys), at }),
  ));

const seenBy = async (world: World, sessionKey: string, of = MANY) =>
  await world.t.run((ctx) => fleetOf(ctx.db, "tiles", sessionKey, of, NOW));

const countsAhead = async (world: World) =>
  await world.t.run(async (ctx) => {
    const all = await ctx.db.system.query("_scheduled_functions").collect();
    return all.filter(({ name }) => name.includes("countFleet")).length;
  });

describe("a fleet as a session sees it", () => {
  test("is none where all of its sessions can be read", async () => {
    const world = await newWorld();
    expect(await seenBy(world, "s0", live(RANKED_SESSIONS_MAX))).toBeNull();
    expect(await seenBy(world, "s0", MANY)).not.toBeNull();
  });

  test("without a row has the size of the sessions that were read, no rank, and is to be counted", async () => {
    const world = await newWorld();
    dice(0);
    expect(await seenBy(world, "s0")).toEqual({ size: 9, rank: null, isMiscounted: true });
  });

  test("is to be counted by four of its sessions on average", async () => {
    const world = await newWorld();
    dice(4 / 9);
    expect((await seenBy(world, "s0"))?.isMiscounted).toBe(false);
    dice(4 / 9 - 0.001);
    expect((await seenBy(world, "s0"))?.isMiscounted).toBe(true);
  });

  test("with a row has the row's size, and each member the rank of its hash", async () => {
    const world = await newWorld();
    dice(0);
    const keys = Array.from({ length: 20 }, (_, i) => `s${i}`);
    await counted(world, keys);
    const sorted = [...keys].sort((a, b) => stableHash(a) - stableHash(b));
    const seen = await Promise.all(sorted.map((key) => seenBy(world, key)));
    expect(seen).toEqual(sorted.map((_, rank) => ({ size: 20, rank, isMiscounted: false })));
  });

  test("that a session is missing from is to be counted, and has no fewer members than the row", async () => {
    const world = await newWorld();
    dice(0);
    await counted(world, ["a", "b"]);
    expect(await seenBy(world, "s0")).toEqual({ size: 9, rank: null, isMiscounted: true });
    const keys = Array.from({ length: 12 }, (_, i) => `other${i}`);
    await counted(world, keys, NOW, "more");
    const more = await world.t.run((ctx) => fleetOf(ctx.db, "more", "s0", MANY, NOW));
    expect(more).toEqual({ size: 12, rank: null, isMiscounted: true });
  });

  test("is to be counted again once the count is older than a minute", async () => {
    dice(0);
    const ages = [
      [FLEET_OLD_MS, false],
      [FLEET_OLD_MS + 1, true],
    ] as const;
    for (const [age, isMiscounted] of ages) {
      const world = await newWorld();
      await counted(world, ["s0"], NOW - age);
      expect(await seenBy(world, "s0")).toEqual({ size: 1, rank: 0, isMiscounted });
    }
  });
});

test("a session's place among few is behind the ones with smaller keys", () => {
  const others = live(3);
  expect(placeAmong("r", others)).toEqual({ size: 4, rank: 0 });
  expect(placeAmong("s1", others)).toEqual({ size: 4, rank: 1 });
  expect(placeAmong("t", others)).toEqual({ size: 4, rank: 3 });
});

test("of two places the one in the larger fleet counts, and of equal ones the first", () => {
  const fleet = { size: 3, rank: 2, isMiscounted: true };
  expect(larger({ size: 2, rank: 1 }, fleet)).toEqual({ size: 3, rank: 2 });
  expect(larger({ size: 3, rank: 1 }, fleet)).toEqual({ size: 3, rank: 1 });
  expect(larger({ size: 4, rank: 1 }, fleet)).toEqual({ size: 4, rank: 1 });
});

describe("a session that is over", () => {
  async function leaving(sessionKey: string, share: number, keys: readonly string[]) {
    const world = await newWorld();
    if (keys.length > 0) await counted(world, keys);
    dice(share);
    await world.t.run((ctx) =>
      leaveFleets(
        ctx as unknown as MutationCtx,
        { sessionKey, queues: ["tiles"] } as Doc<"sessions">,
        NOW,
      ),
    );
    return await countsAhead(world);
  }
  const eight = live(8).map(({ sessionKey }) => sessionKey);

  test("has its fleet counted, as four of a fleet do", async () => {
    expect(await leaving("s3", 0.49, eight)).toBe(1);
    expect(await leaving("s3", 0.5, eight)).toBe(0);
  });

  test("has no fleet counted of which it is no member, or that has no row", async () => {
    expect(await leaving("stranger", 0, eight)).toBe(0);
    expect(await leaving("s3", 0, [])).toBe(0);
  });
});

describe("a count", () => {
  const count = async (world: World, askedAt: number) =>
    void (await world.t.mutation(internal.claim.fleet.countFleet, { queue: "tiles", askedAt }));
  const row = async (world: World) => (await world.all("fleets"))[0]!;

  test("leaves a row that is as young as the request, and counts one that is older", async () => {
    const world = await newWorld();
    await world.worker("w").claim();
    await counted(world, ["a", "b"], Date.now());
    await count(world, Date.now());
    expect((await row(world)).members.byteLength).toBe(8);
    await count(world, Date.now() + 1);
    const { members, at } = await row(world);
    expect([at, ...listOf(members)]).toEqual([Date.now(), stableHash("session-w")]);
  });

  test("that finds more members than before is made again, and one that does not is the last", async () => {
    const world = await newWorld();
    await world.worker("w").claim();
    await count(world, Date.now());
    expect(await countsAhead(world)).toBe(1);
    await world.skipTo(Date.now() + FLEET_WAIT_MS);
    expect(await countsAhead(world)).toBe(1);
    expect((await row(world)).members.byteLength).toBe(4);
  });

  test("has the sessions that are live and serve the queue", async () => {
    const world = await newWorld();
    const worker = world.worker("idle");
    await worker.claim();
    const { _id, _creationTime, ...fields } = await worker.session();
    for (const name of ["active", "silent"]) {
      await world.enqueue();
      await world.worker(name).claim();
    }
    const now = Date.now();
    await world.t.run(async ({ db }) => {
      const add = (sessionKey: string, given: Partial<Doc<"sessions">>) =>
        db.insert("sessions", { ...fields, sessionKey, ...given });
      await add("elsewhere", { queues: ["other"] });
      await add("both", { queues: ["other", "tiles"] });
      await add("old", { expiresAt: now - IDLE_LIVE_MS });
      await add("tooOld", { expiresAt: now - IDLE_LIVE_MS - 1 });
      for (const session of await db.query("sessions").collect()) {
        if (session.sessionKey === "session-active")
          await db.patch("sessions", session._id, { expiresAt: now });
        if (session.sessionKey === "session-silent")
          await db.patch("sessions", session._id, { expiresAt: now - 1 });
      }
    });
    const members = await world.t.query(internal.claim.fleet.fleetMembers, { queue: "tiles", now });
    const expected = membersOf(["session-idle", "both", "old", "session-active"]);
    expect(listOf(members)).toEqual(listOf(expected));
  });
});

describe("how many idle sessions are live", () => {
  async function liveWith(idle: number, given: Partial<Doc<"sessions">> = {}): Promise<World> {
    const world = await newWorld();
    const worker = world.worker("w");
    await worker.claim();
    const { _id, _creationTime, ...fields } = await worker.session();
    await world.t.run(async ({ db }) => {
      await db.delete("sessions", _id);
      for (let i = 0; i < idle; i += 1) {
        const times = { state: "idle" as const, expiresAt: Date.now() };
        await db.insert("sessions", { ...fields, ...times, sessionKey: `i${i}`, ...given });
      }
    });
    return world;
  }
  const size = async (world: World, queues = ["tiles", "more"]) =>
    await world.t.run((ctx) => liveFleet(ctx.db, queues, Date.now()));

  test("is counted where they can be read, without sessions that are long silent", async () => {
    expect(await size(await liveWith(0))).toBe(0);
    expect(await size(await liveWith(RANKED_SESSIONS_MAX))).toBe(RANKED_SESSIONS_MAX);
    expect(await size(await liveWith(3, { expiresAt: Date.now() - IDLE_LIVE_MS }))).toBe(3);
    expect(await size(await liveWith(3, { expiresAt: Date.now() - IDLE_LIVE_MS - 1 }))).toBe(0);
    const busy = await liveWith(3);
    await busy.enqueue();
    await busy.worker("busy").claim();
    expect(await size(busy)).toBe(3);
  });

  test("is, where they are more, the largest count of its queues, and one where none was counted", async () => {
    const world = await liveWith(RANKED_SESSIONS_MAX + 1);
    expect(await size(world)).toBe(1);
    await counted(world, ["a", "b"]);
    await counted(world, ["a", "b", "c"], NOW, "more");
    expect(await size(world)).toBe(3);
    expect(await size(world, ["tiles"])).toBe(2);
    expect(await world.t.run((ctx) => countedFleet(ctx.db, "more"))).toBe(3);
    expect(await world.t.run((ctx) => countedFleet(ctx.db, "none"))).toBe(0);
  });
});
