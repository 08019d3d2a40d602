/** Which workers of a large fleet are on call, which stand by, and when these are called up. */
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  CALL_UP_AGAIN_MS,
  CALL_UPS_KEPT_MS,
  DUTY_BEAT_MS,
  DUTY_SILENT_MS,
  IDLE_LIVE_MS,
  ON_CALL,
  STANDBY_FIRST,
  STANDBY_MS,
  WATCH_MS,
} from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { refusal } from "../setup.test.js";
import { called, expectSoon, grown, Member, newFleet, PEERS, reached } from "./fleets.test.js";

afterEach(() => void vi.restoreAllMocks());

describe("a large fleet", () => {
  // Shows LF-06.
  test("has two workers on call, with places of their own, one that watches, and the rest on standby", async () => {
    const { on, standby, watcher, members } = await newFleet();
    expect(on).toHaveLength(ON_CALL);
    expect(watcher).toBeDefined();
    expect(standby).toHaveLength(members.length - ON_CALL - 1);
    const duties = [await on[0]!.beats(), await on[1]!.beats()];
    const nextMs = DUTY_BEAT_MS;
    expect(duties).toEqual([0, 1].map((rank) => ({ kind: "onCall", size: 2, rank, nextMs })));
    expect(await called(members)).toEqual([]);
  });

  test("hears of the rest every half hour, or as the app says, and of the one that watches every ten seconds", async () => {
    const fleet = await newFleet();
    const { world, standby, watcher } = fleet;
    await grown(fleet);
    const last = standby.at(-1)!;
    expect(await last.beats()).toMatchObject({ kind: "standby", nextMs: STANDBY_MS });
    const rows = await world.all("sessions");
    const row = rows.find(({ name }) => name === last.name)!;
    expect(row.expiresAt).toBeGreaterThanOrEqual(row.lastSeenAt + STANDBY_MS);
    expect(await last.beats({ presenceMs: 5_000 })).toMatchObject({ nextMs: 5_000 });
    expect(await watcher.claims()).toMatchObject({ kind: "watch", nextMs: WATCH_MS });
  });

  test("that crashes and starts again is on call as soon as its dead workers have been silent for long", async () => {
    const { world } = await newFleet();
    const again = Array.from({ length: 12 }, (_, i) => new Member(world, `again-${i}`));
    for (const member of again) expectSoon(await member.claims());
    vi.setSystemTime(Date.now() + DUTY_SILENT_MS + 1);
    for (const member of again) if ((await member.beats())?.kind === "off") await member.claims();
    const kinds = again.map(({ kind }) => kind);
    expect(kinds.slice(0, 3)).toEqual(["onCall", "onCall", "watch"]);
    expect(new Set(kinds.slice(3))).toEqual(new Set(["standby"]));
  });

  test("sees within a minute that the host of the workers on call is gone: its first places beat as often", async () => {
    const fleet = await newFleet(14);
    const { standby } = fleet;
    await grown(fleet);
    for (const [i, one] of standby.entries())
      if (i < STANDBY_FIRST) expectSoon(await one.beats());
      else expect(await one.beats()).toMatchObject({ kind: "standby", nextMs: STANDBY_MS });
    vi.setSystemTime(Date.now() + DUTY_SILENT_MS + 1);
    expect(await standby[STANDBY_FIRST - 1]!.beats()).toMatchObject({ kind: "off" });
    expect(await standby[STANDBY_FIRST - 1]!.claims()).toMatchObject({ kind: "onCall" });
  });

  test("hears as seldom as before of a worker that has ended a job on standby, and calls it up", async () => {
    const fleet = await newFleet(14);
    const { world, standby } = fleet;
    await grown(fleet);
    const last = standby.at(-1)!;
    await world.enqueue(1);
    expect(await last.claims(2)).toMatchObject({ kind: "standby", nextMs: STANDBY_MS });
    expect(last.jobs).toHaveLength(1);
    await last.completes();
    const row = (await world.all("sessions")).find(({ name }) => name === last.name)!;
    expect(row.expiresAt).toBeGreaterThanOrEqual(Date.now() + STANDBY_MS);
  });

  test("keeps the place of a worker that stands by from beat to beat", async () => {
    const { standby } = await newFleet();
    const { since } = standby[0]!;
    vi.setSystemTime(Date.now() + 5_000);
    expect(await standby[0]!.beats()).toMatchObject({ kind: "standby", since });
  });

  test("is of one token: the same name of peers with another token is another set", async () => {
    const { world, standby } = await newFleet();
    const { token } = await world.t.mutation(api.operate.createToken, { name: "b", queues: null });
    const args = { token, peers: PEERS, since: standby[0]!.since };
    await world.t.run(async (ctx) => {
      const [row] = await ctx.db.query("sessions").collect();
      const [peers, upTo] = [row!.peers ?? standby[0]!.name, Date.now() + 1e9];
      await ctx.db.insert("callUps", { peers, upTo, count: 2, at: 0 });
    });
    expect(await world.t.query(api.lib.standby, args)).toBe(false);
  });

  test.each([
    ["", /peers/i],
    ["x".repeat(300), /peers/i],
  ])("refuses peers called %o", async (peers, why) => {
    const { world } = await newFleet();
    const code = await refusal(new Member(world, "new", peers).claims());
    expect(JSON.stringify(code)).toMatch(why);
  });
});

describe("a claim", () => {
  // Rules out D17.
  test("of an isolated job calls no worker up: the other one on call has room", async () => {
    const { world, on, members } = await newFleet();
    await world.enqueue(1);
    expect(await on[0]!.claims()).toMatchObject({ kind: "onCall" });
    expect(on[0]!.jobs).toHaveLength(1);
    expect(await called(members)).toEqual([]);
    // It has room again.
    await on[0]!.completes();
    await world.enqueue(2);
    await on[1]!.claims();
    expect(await called(members)).toEqual([]);
  });

  test("that fills the last worker on call calls up two, and relieves it", async () => {
    const { world, on, standby } = await newFleet();
    await world.enqueueBatch([1, 2]);
    await on[0]!.claims();
    expect(await on[1]!.claims()).toMatchObject({ kind: "off" });
    expect(await called(standby)).toEqual([standby[0]!.name, standby[1]!.name]);
    expect(await standby[0]!.claims()).toMatchObject({ kind: "onCall" });
    expect(await standby[1]!.claims()).toMatchObject({ kind: "onCall" });
    // Its place is after all that stand by.
    await on[1]!.completes();
    expect(await on[1]!.claims()).toMatchObject({ kind: "standby" });
    expect(on[1]!.since).toBeGreaterThan(standby.at(-1)!.since);
  });

  test("that leaves jobs calls up two, then twice as many, in one write each", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const { world, on, standby } = await newFleet(24);
    await world.enqueueBatch(Array.from({ length: 100 }, (_, n) => n));
    await on[0]!.claims();
    await on[1]!.claims();
    expect(await reached(standby)).toBe(2);
    await standby[0]!.claims();
    expect(await reached(standby)).toBe(2 + 4);
    await standby[1]!.claims();
    expect(await reached(standby)).toBe(2 + 4 + 8);
    expect(await world.all("callUps")).toHaveLength(1);
    vi.setSystemTime(Date.now() + CALL_UP_AGAIN_MS + 1);
    await standby[2]!.claims();
    expect(await reached(standby)).toBe(2 + 4 + 8 + 2);
  });

  test("that is said to leave more jobs calls up as many as are lacking for these", async () => {
    const { world, on, standby } = await newFleet(24);
    await world.enqueueBatch(Array.from({ length: 100 }, (_, n) => n));
    await on[0]!.claims(1, { more: 9 });
    expect(await reached(standby)).toBe(9 - 1);
  });

  test("that sees a burst in its own shard calls up a worker for each job of all shards, in one write", async () => {
    const { world, on, standby } = await newFleet(40, 8);
    await world.enqueueBatch(Array.from({ length: 400 }, (_, n) => n));
    await on[0]!.claims();
    expect(standby.length).toBeGreaterThan(30);
    expect(await reached(standby)).toBe(standby.length);
    expect(await world.all("callUps")).toHaveLength(1);
  });

  test("of a burst that has called up all calls up none again", async () => {
    const { world, on, watcher, standby } = await newFleet(12);
    await world.enqueueBatch(Array.from({ length: 100 }, (_, n) => n));
    await on[0]!.claims(1, { more: 100 });
    expect(await reached([...standby, watcher])).toBe(standby.length + 1);
    const [row] = await world.all("callUps");
    for (const one of standby) await one.claims();
    expect(await world.all("callUps")).toEqual([row]);
  });

  test("of a called worker that finds nothing sends it back, and later call-ups reach it again", async () => {
    const { world, on, members, standby } = await newFleet();
    await world.enqueueBatch([1, 2]);
    await on[0]!.claims();
    await on[1]!.claims();
    const [first, second, third] = standby;
    for (const one of [first!, second!]) await one.claims();
    await on[0]!.completes();
    await on[1]!.completes();
    vi.setSystemTime(Date.now() + 1_000);
    expect(await on[0]!.claims()).toMatchObject({ kind: "standby" });
    expect(await called([on[0]!, third!])).toEqual([]);
    await world.enqueueBatch([3, 4]);
    await first!.claims();
    await second!.claims();
    expect(await called(members)).toContain(third!.name);
    expect(await called([on[0]!])).toEqual([]);
  });

  test("of rows of the app's table calls up others, where more rows wait than it takes", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const { world, on, standby } = await newFleet(14);
    await world.enqueueBatch([1, 2]);
    await on[0]!.claims();
    await on[1]!.claims();
    expect(await reached(standby)).toBe(2);
    await standby[0]!.claims(1, {}, { ids: ["a"], all: true });
    expect(standby[0]!.jobs).toHaveLength(1);
    expect(await reached(standby)).toBe(2);
    await standby[1]!.claims(1, {}, { ids: ["b"], all: false });
    expect(standby[1]!.jobs).toHaveLength(1);
    expect(await reached(standby)).toBe(2 + 4);
  });

  test("of the one that watches calls up two for a job that none on call took, and stays on call until they come", async () => {
    const { world, watcher, standby } = await newFleet();
    await world.enqueue(1);
    expect(await watcher.claims()).toMatchObject({ kind: "onCall" });
    expect(watcher.jobs).toHaveLength(1);
    expect(await called(standby)).toEqual([standby[0]!.name, standby[1]!.name]);
    await watcher.beats({ room: 0, more: 1 });
    expect(await reached(standby)).toBe(2 + 4);
  });

  test("of a worker that an operator has quieted leaves it no duty for which it needs room", async () => {
    const { world, on, watcher, standby } = await newFleet();
    const rowOf = async ({ name }: Member) =>
      (await world.all("sessions")).find((row) => row.name === name)!;
    for (const member of on) await member.leaves();
    for (const one of [watcher, standby[0]!]) {
      await world.t.mutation(api.operate.quietWorker, { id: (await rowOf(one))._id });
      await one.claims();
      const { peers, standbySince } = await rowOf(one);
      expect(peers !== undefined && standbySince === undefined).toBe(false);
      expect((await one.beats({ room: 0 }))?.kind).toBe("off");
    }
  });

  test("that repeats gets no duty: its worker asks again", async () => {
    const { on } = await newFleet();
    on[0]!.n -= 1;
    expect(await on[0]!.claims()).toBeUndefined();
  });

  test("calls up the one that watches, where no other stands by", async () => {
    const { world, on, standby, watcher } = await newFleet(9);
    for (const one of standby) await one.leaves();
    await world.enqueueBatch([1, 2]);
    await on[0]!.claims();
    await on[1]!.claims();
    expect(await watcher.isCalled()).toBe(true);
  });

  test("calls up a worker that stands by alone, though its place was ahead of the clock", async () => {
    const { world, on, standby, watcher } = await newFleet(9);
    const [preferred, ...others] = standby;
    await watcher.leaves();
    await on[0]!.beats({ prefers: [preferred!.name] });
    expect((await preferred!.claims())?.since).toBeGreaterThan(Date.now());
    for (const one of others) await one.leaves();
    expect(await preferred!.isCalled()).toBe(false);
    vi.setSystemTime(Date.now() + 100);
    await world.enqueueBatch([1, 2]);
    await on[0]!.claims();
    await on[1]!.claims();
    expect(await preferred!.isCalled()).toBe(true);
  });

  test("forgets the oldest call-ups of others, however long those of the first peers are in use", async () => {
    const { world, on } = await newFleet();
    const old = Date.now() - CALL_UPS_KEPT_MS - 10;
    await world.t.run(async ({ db }) => {
      for (const [i, at] of [Date.now(), Date.now(), old, old + 1].entries())
        await db.insert("callUps", { peers: `others-${i}`, upTo: at, count: 2, at });
    });
    await world.enqueueBatch([1, 2]);
    await on[0]!.claims();
    await on[1]!.claims();
    const kept = (await world.all("callUps")).map(({ peers }) => peers);
    expect(kept).toEqual(["others-0", "others-1", expect.stringContaining(PEERS)]);
  });

  test("passes by workers that are gone", async () => {
    const { world, on, standby } = await newFleet();
    const [gone, next, third] = standby;
    await world.t.run(async (ctx) => {
      const rows = await ctx.db.query("sessions").collect();
      const row = rows.find(({ name }) => name === gone!.name)!;
      await ctx.db.patch("sessions", row._id, { expiresAt: Date.now() - IDLE_LIVE_MS - 1 });
    });
    await world.enqueueBatch([1, 2]);
    await on[0]!.claims();
    await on[1]!.claims();
    expect(await called([next!, third!])).toEqual([next!.name, third!.name]);
  });
});

describe("a beat", () => {
  test("of a worker on call that is full says which jobs none takes, and others are called up", async () => {
    const { world, on, standby } = await newFleet();
    await world.enqueue(1);
    await on[0]!.claims();
    await on[0]!.beats({ room: 0, more: 1 });
    expect(await called(standby)).toHaveLength(2);
  });

  test("of a worker on call that is full calls twice as many each time, past workers that are dead", async () => {
    const { world, on, standby, watcher } = await newFleet(14);
    await watcher.leaves();
    await world.enqueue(1);
    await on[0]!.claims();
    for (const count of [2, 2 + 4, standby.length]) {
      expect(await on[0]!.beats({ room: 0, more: 1 })).toMatchObject({ kind: "onCall" });
      expect(await reached(standby)).toBe(count);
      vi.setSystemTime(Date.now() + 5_000);
    }
    // There is none left to call.
    expect(await on[0]!.beats({ room: 0, more: 1 })).toMatchObject({ kind: "off" });
  });

  test("calls up one for a worker on call that is gone, and forgets it in time", async () => {
    const { world, on, standby } = await newFleet();
    vi.setSystemTime(Date.now() + DUTY_SILENT_MS + 1);
    expect(await on[0]!.beats()).toMatchObject({ kind: "onCall", size: 1 });
    // One for it, and one for the silent one that watched.
    expect(await called(standby)).toHaveLength(2);
    expect(await standby[0]!.claims()).toMatchObject({ kind: "onCall", size: 2 });
    expect(await standby[1]!.claims()).toMatchObject({ kind: "watch" });
    vi.setSystemTime(Date.now() + IDLE_LIVE_MS + 1);
    await standby[0]!.beats();
    const rows = await world.all("sessions");
    expect(rows.find(({ name }) => name === on[1]!.name)!.peers).toBeUndefined();
  });

  test("of many that a burst has left on call has its worker stand by, or watch where none does, and calls up none", async () => {
    const { world, members, standby } = await newFleet();
    const rest = standby.slice(-2).map(({ name }) => name);
    const left = members.filter(({ name }) => !rest.includes(name));
    await world.t.run(async (ctx) => {
      for (const { _id, name } of await ctx.db.query("sessions").collect())
        if (!rest.includes(name)) await ctx.db.patch("sessions", _id, { standbySince: undefined });
    });
    const before = await world.all("callUps");
    const kinds = [];
    for (const one of left) {
      vi.setSystemTime(Date.now() + 1);
      kinds.push((await one.beats())?.kind);
    }
    const standsBy = left.slice(1, -ON_CALL).map(() => "standby");
    expect(kinds).toEqual(["watch", ...standsBy, "onCall", "onCall"]);
    expect(await world.all("callUps")).toEqual(before);
  });

  test("on standby has its worker claim, where none is on call any more", async () => {
    const { standby } = await newFleet();
    vi.setSystemTime(Date.now() + DUTY_SILENT_MS + 1);
    expect(await standby[4]!.beats()).toMatchObject({ kind: "off" });
    expect(await standby[4]!.claims()).toMatchObject({ kind: "onCall" });
  });

  test("of the one that watches ends that where it has no room, and another comes", async () => {
    const { on, standby, watcher } = await newFleet();
    expect(await watcher.beats()).toMatchObject({ kind: "watch" });
    expect(await watcher.beats({ room: 0 })).toMatchObject({ kind: "off" });
    await on[0]!.beats();
    expect(await called(standby)).toEqual([standby[0]!.name]);
    expect(await standby[0]!.claims()).toMatchObject({ kind: "watch" });
  });

  test("that comes late puts no worker on call", async () => {
    const { world, on } = await newFleet();
    await world.enqueueBatch([1, 2]);
    await on[0]!.claims();
    await on[1]!.claims();
    const row = async () => (await world.all("sessions")).find(({ name }) => name === on[1]!.name)!;
    expect((await row()).peers).toBeUndefined();
    await on[1]!.beats({ room: 1 });
    expect((await row()).peers).toBeUndefined();
  });

  test("of a worker that leaves calls up another in its place", async () => {
    const { on, standby } = await newFleet();
    await on[0]!.leaves();
    expect(await called(standby)).toEqual([standby[0]!.name]);
  });
});
