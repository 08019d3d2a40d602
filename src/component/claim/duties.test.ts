/** Duties in a large fleet whose workers stand as a test has put them: what each call of one leaves to the others. */
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  CALL_UP_MAX,
  DUTY_BEAT_MS,
  DUTY_SILENT_MS,
  IDLE_LIVE_MS,
  RANKED_SESSIONS_MAX,
  STANDBY_FIRST,
  STANDBY_MS,
  UNTAKEN_AGAIN_MS,
  WATCH_MS,
} from "../../shared/index.js";
import { api } from "../_generated/api.js";
import type { Doc } from "../_generated/dataModel.js";
import { FIRST_PLACE, FULL, WATCHING } from "../rows/duties.js";
import { newWorld } from "../setup.test.js";
import { readPlaces } from "./callUps.js";
import { expectSoon, Member, PEERS, reached } from "./fleets.test.js";

afterEach(() => void vi.restoreAllMocks());

interface Stands {
  on?: number;
  full?: number;
  watching?: number;
  standby?: number;
  /** Idle workers of no peers. */
  other?: number;
}

type Fields = { [Field in keyof Doc<"sessions">]?: Doc<"sessions">[Field] | undefined };

/** A fleet of old workers that stand so. Places come a millisecond after one another, and before now. */
async function fleet({ on = 0, full = 0, watching = 0, standby = 0, other = 0 }: Stands) {
  const world = await newWorld({ shards: 1 });
  await world.t.mutation(api.lib.declare, { queues: [world.queue] });
  const at = Date.now() + 10 * DUTY_SILENT_MS;
  const { _id: token } = (await world.all("tokens"))[0]!;
  const peers = `${token}:${PEERS}`;
  const plant = async (name: string, standbySince: number | undefined, isPeer = true) => {
    const calls = { callSeq: 0, acknowledged: true, reply: { answers: [] }, leases: [], token };
    const row = { sessionKey: `session-${name}`, name, state: "idle" as const, queues: ["tiles"] };
    const duty = isPeer ? { peers, ...(standbySince === undefined ? {} : { standbySince }) } : {};
    await world.t.run((ctx) =>
      ctx.db.insert("sessions", { ...row, ...calls, ...duty, expiresAt: at, lastSeenAt: at }),
    );
    return Object.assign(new Member(world, name), { since: standbySince ?? 0 });
  };
  const some = async (kind: string, count: number, since: (i: number) => number | undefined) => {
    const made: Member[] = [];
    for (let i = 0; i < count; i += 1) made.push(await plant(`${kind}${i}`, since(i)));
    return made;
  };
  const members = {
    on: await some("on", on, () => undefined),
    full: await some("full", full, () => FULL),
    watching: await some("watching", watching, () => WATCHING),
    standby: await some("standby", standby, (i) => at - 1_000 + i),
  };
  for (let i = 0; i < other; i += 1) await plant(`other${i}`, undefined, false);
  vi.setSystemTime(at);
  const rowOf = async ({ name }: Member) =>
    (await world.all("sessions")).find((row) => row.name === name)!;
  const patch = async (member: Member, fields: Fields) => {
    const { _id } = await rowOf(member);
    await world.t.run((ctx) => ctx.db.patch("sessions", _id, fields as Partial<Doc<"sessions">>));
  };
  return { world, at, peers, ...members, rowOf, patch };
}

describe("a beat on call", () => {
  test.each([
    ["none, beside another and the one that watches", { on: 2, watching: 1 }, 0],
    ["one, where none watches", { on: 2 }, 1],
    ["one, where no other is on call", { on: 1, watching: 1 }, 1],
    ["two, where it is alone", { on: 1 }, 2],
    ["none, beside another without room", { on: 1, full: 1, watching: 1 }, 0],
  ])("calls up %s", async (_what, stands, count) => {
    const { on, standby, world } = await fleet({ ...stands, standby: 4 });
    expect(await on[0]!.beats()).toMatchObject({ kind: "onCall", nextMs: DUTY_BEAT_MS });
    expect(await reached(standby)).toBe(count);
    expect(await world.all("callUps")).toHaveLength(count === 0 ? 0 : 1);
  });

  test.each([
    ["two, beside none with room", { on: 1, full: 1 }, 2],
    ["one, beside one with room", { on: 2 }, 1],
    ["none, beside two with room", { on: 3 }, 0],
  ])(
    "of a worker that has filled up calls up %s, and ends its duty",
    async (_what, stands, count) => {
      const { on, standby, rowOf } = await fleet({ ...stands, watching: 1, standby: 4 });
      expect(await on[0]!.beats({ room: 0 })).toEqual({ kind: "off" });
      expect(await reached(standby)).toBe(count);
      expect((await rowOf(on[0]!)).peers).toBeUndefined();
    },
  );

  test("calls up none where none stands by: it is as seldom as that of any idle worker", async () => {
    const { on, world } = await fleet({ on: 3 });
    expect(await on[1]!.beats()).toEqual({ kind: "onCall", size: 3, rank: 1 });
    expect(await world.all("callUps")).toEqual([]);
  });

  test("of a third worker with room has it stand by, with the first place where none watches", async () => {
    const { on, watching, patch, rowOf, at } = await fleet({ on: 3, watching: 1, standby: 1 });
    expect(await on[2]!.beats()).toMatchObject({ kind: "standby", since: at });
    expect((await rowOf(on[2]!)).standbySince).toBe(at);
    await patch(on[2]!, { standbySince: undefined });
    await patch(watching[0]!, { lastSeenAt: at - DUTY_SILENT_MS });
    expect(await on[2]!.beats()).toMatchObject({ kind: "watch", nextMs: WATCH_MS });
    expect((await rowOf(on[2]!)).standbySince).toBe(WATCHING);
  });

  test("counts a silent one on call no longer where others stand by, and as long as any idle one where none does", async () => {
    const stands = { on: 2, standby: 1, watching: 1 };
    const first = await fleet(stands);
    await first.patch(first.on[1]!, { lastSeenAt: first.at - DUTY_SILENT_MS });
    expect(await first.on[0]!.beats()).toMatchObject({ size: 1 });
    const again = await fleet({ on: 2 });
    await again.patch(again.on[1]!, { lastSeenAt: again.at - DUTY_SILENT_MS });
    expect(await again.on[0]!.beats()).toMatchObject({ size: 2 });
    await again.patch(again.on[1]!, { lastSeenAt: again.at - IDLE_LIVE_MS });
    expect(await again.on[0]!.beats()).toMatchObject({ size: 1 });
    expect((await again.rowOf(again.on[1]!)).peers).toBeUndefined();
  });

  test("says of waiting jobs that none takes them: it calls twice as many each time, within a while", async () => {
    const { on, standby, at } = await fleet({ on: 2, watching: 1, standby: 14 });
    expect(await on[0]!.beats({ more: 1 })).toMatchObject({ kind: "onCall" });
    expect(await reached(standby)).toBe(2);
    vi.setSystemTime(at + UNTAKEN_AGAIN_MS);
    await on[0]!.beats({ more: 1 });
    expect(await reached(standby)).toBe(2 + 4);
    vi.setSystemTime(at + 2 * UNTAKEN_AGAIN_MS + 1);
    await on[0]!.beats({ more: 1 });
    expect(await reached(standby)).toBe(2 + 4 + 2);
  });
});

describe("a beat on standby", () => {
  test.each([
    ["beside two on call and one that watches", { on: 2, watching: 1 }, "standby"],
    ["beside two on call without room", { full: 2, watching: 1 }, "standby"],
    ["beside one on call", { on: 1, watching: 1 }, "off"],
    ["where none watches", { on: 2 }, "off"],
  ])("%s keeps it there, or has its worker claim", async (_what, stands, kind) => {
    const { standby, rowOf } = await fleet({ ...stands, standby: 2 });
    const { since } = standby[0]!;
    expect(await standby[0]!.beats({ room: 0 })).toMatchObject({ kind });
    expect(await rowOf(standby[0]!)).toMatchObject({ standbySince: since });
  });

  test("of the one that watches keeps it there, beside no other that does", async () => {
    const { watching } = await fleet({ on: 2, watching: 1, standby: 2 });
    expect(await watching[0]!.beats()).toEqual({
      kind: "watch",
      since: WATCHING,
      nextMs: WATCH_MS,
    });
    expect(await watching[0]!.beats({ room: 0 })).toMatchObject({ kind: "off" });
  });

  test("up to whose place others have been called has its worker claim", async () => {
    const { world, peers, standby } = await fleet({ on: 2, watching: 1, standby: 3 });
    const upTo = standby[1]!.since;
    await world.t.run((ctx) => ctx.db.insert("callUps", { peers, upTo, count: 2, at: 0 }));
    const kinds = [];
    for (const one of standby) kinds.push((await one.beats())!.kind);
    expect(kinds).toEqual(["off", "off", "standby"]);
    expect(await world.all("callUps")).toMatchObject([{ upTo }]);
  });

  test("of a worker of other peers, or that has no duty, has it claim", async () => {
    const { world, standby, patch } = await fleet({ on: 2, watching: 1, standby: 2 });
    const other = new Member(world, standby[0]!.name, "others");
    expect(await other.beats()).toMatchObject({ kind: "off" });
    await patch(standby[1]!, { peers: undefined, standbySince: undefined });
    expect(await standby[1]!.beats()).toMatchObject({ kind: "off" });
  });

  test("is seldom but for the first places, and for a worker that has just started", async () => {
    const { standby } = await fleet({ on: 2, watching: 1, standby: STANDBY_FIRST + 1 });
    expect(await standby[STANDBY_FIRST]!.beats()).toMatchObject({ nextMs: STANDBY_MS });
    expectSoon(await standby[STANDBY_FIRST - 1]!.beats());
    expect(await standby[0]!.beats({ presenceMs: 1_000 })).toMatchObject({ nextMs: 1_000 });
  });
});

describe("a claim with room", () => {
  test.each([
    ["goes on call beside one", { on: 2, watching: 1, standby: 9 }, "onCall"],
    ["stands by beside two", { on: 3, watching: 1, standby: 9 }, "standby"],
    ["watches beside two, where none does", { on: 3, standby: 9 }, "watch"],
    [
      "stays on call beside two without room",
      { on: 1, full: 2, watching: 1, standby: 9 },
      "onCall",
    ],
    ["stays on call beside seven, where none stands by", { on: 8, other: 2 }, "onCall"],
    ["watches beside eight, where none stands by", { on: 9 }, "watch"],
  ])("%s", async (_what, stands, kind) => {
    const { on } = await fleet(stands);
    expect(await on[0]!.claims()).toMatchObject({ kind });
  });

  test("of a fleet that has become small keeps its worker's duty, and of one that was small gives none", async () => {
    const { on, world } = await fleet({ on: 2, other: 1 });
    expect(await on[0]!.claims()).toEqual({ kind: "onCall", size: 2, rank: 0 });
    expect(await new Member(world, "other0").claims()).toBeUndefined();
    const { world: small } = await fleet({ other: RANKED_SESSIONS_MAX - 1 });
    expect(await new Member(small, "new").claims()).toBeUndefined();
    const { world: large } = await fleet({ other: RANKED_SESSIONS_MAX });
    expect(await new Member(large, "new").claims()).toMatchObject({ kind: "onCall" });
  });

  test("keeps its place beyond the last call-up, and comes after all once it was called", async () => {
    const { world, peers, standby, at } = await fleet({ on: 2, watching: 1, standby: 9 });
    const upTo = standby[1]!.since;
    await world.t.run((ctx) => ctx.db.insert("callUps", { peers, upTo, count: 2, at: 0 }));
    expect(await standby[2]!.claims()).toMatchObject({ since: standby[2]!.since });
    expect(await standby[1]!.claims()).toMatchObject({ kind: "standby", since: at });
    // The clock of the last caller was ahead.
    await world.t.run(async (ctx) => {
      const [row] = await ctx.db.query("callUps").collect();
      await ctx.db.patch("callUps", row!._id, { upTo: at + 5_000 });
    });
    expect(await standby[3]!.claims()).toMatchObject({ since: at + 5_001 });
  });
});

describe("a claim beside many on call", () => {
  const stands = { on: 64, watching: 1, standby: 12 };

  test("has its worker stand by, and not watch: one does, though more are on call than it sees", async () => {
    const { on } = await fleet(stands);
    expect(await on[0]!.claims()).toMatchObject({ kind: "standby" });
  });

  test("calls up others with a chance of one in four: the others leave jobs, too", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0.26);
    const last = await fleet(stands);
    const left = Array.from({ length: 80 }, (_, i) => i);
    await last.world.enqueueBatch(left);
    await last.on[0]!.claims(1, { more: 79 });
    expect(await reached(last.standby)).toBe(0);
    vi.spyOn(Math, "random").mockReturnValue(0.25);
    await last.on[1]!.claims(1, { more: 78 });
    expect(await reached(last.standby)).toBe(12);
  });
});

describe("a claim that leaves jobs", () => {
  test("calls up others where they are more than the ones on call have room for", async () => {
    const { world, on, standby } = await fleet({ on: 2, watching: 1, standby: 9 });
    await world.enqueueBatch([1, 2, 3, 4]);
    await on[0]!.claims(1, { more: 1 });
    expect(await reached(standby)).toBe(0);
    await on[1]!.claims(1, { more: 2 });
    expect(await reached(standby)).toBe(2);
  });

  test("of a called worker calls up others for any job that it leaves", async () => {
    const { world, standby } = await fleet({ on: 3, watching: 1, standby: 9 });
    await world.enqueueBatch([1, 2]);
    await standby[0]!.claims();
    expect(await reached(standby.slice(1))).toBe(1);
  });

  test("believes the number of jobs that it is said to leave only where it has left any", async () => {
    const { world, on, standby } = await fleet({ on: 2, watching: 1, standby: 9 });
    await world.enqueue();
    await on[0]!.claims(1, { more: 9 });
    expect(await reached(standby)).toBe(0);
  });
});

describe("a call-up", () => {
  test("in a burst is made by about four of the claims that leave jobs", async () => {
    const { world, peers, on, standby, at } = await fleet({ on: 3, watching: 1, standby: 40 });
    const row = { peers, upTo: standby[1]!.since, count: 16, at };
    await world.t.run((ctx) => ctx.db.insert("callUps", row));
    await world.enqueueBatch([1, 2, 3, 4]);
    const random = vi.spyOn(Math, "random").mockReturnValue(0.25);
    await on[0]!.claims(1, { more: 9 });
    expect(await reached(standby)).toBe(2);
    random.mockReturnValue(0.24);
    await on[1]!.claims(1, { more: 9 });
    expect(await reached(standby)).toBe(2 + 32);
  });

  test("of a called worker is made by about four of the workers called with it, however late these come", async () => {
    const { world, peers, standby, at } = await fleet({ on: 3, watching: 1, standby: 40 });
    const row = { peers, upTo: standby[15]!.since, count: 16, at: at - 60_000 };
    await world.t.run((ctx) => ctx.db.insert("callUps", row));
    await world.enqueueBatch([1, 2, 3, 4]);
    const random = vi.spyOn(Math, "random").mockReturnValue(0.25);
    await standby[0]!.claims();
    expect(await reached(standby)).toBe(16);
    random.mockReturnValue(0.24);
    await standby[1]!.claims();
    expect(await reached(standby)).toBe(16 + 2);
  });

  test("of two for certain, amid a burst, leaves the burst's count", async () => {
    const { world, peers, on, standby, at } = await fleet({ on: 1, full: 1, standby: 40 });
    const row = { peers, upTo: standby[15]!.since, count: 16, at: at - 1 };
    await world.t.run((ctx) => ctx.db.insert("callUps", row));
    await world.enqueue();
    await on[0]!.claims();
    expect(await reached(standby)).toBe(16 + 8);
    expect(await world.all("callUps")).toMatchObject([{ count: 16 }]);
  });

  test("looks no further than past so many places of workers that are gone, or so large ones", async () => {
    const { world, peers, at, standby } = await fleet({ standby: 1 });
    const { _id, _creationTime, ...plain } = (await world.all("sessions"))[0]!;
    const found = async (most: number) =>
      await world.t.run((ctx) => readPlaces(ctx.db, peers, null, most, at));
    expect(await found(1)).toEqual([standby[0]!.since]);
    const plant = async (count: number, name: string) =>
      await world.t.run(async (ctx) => {
        const gone = { ...plain, name, standbySince: FIRST_PLACE, expiresAt: 0 };
        for (let i = 0; i < count; i += 1) await ctx.db.insert("sessions", gone);
      });
    await plant(2 * CALL_UP_MAX - 1, "gone");
    expect(await found(1)).toEqual([standby[0]!.since]);
    await plant(1, "gone");
    expect(await found(1)).toEqual([]);
    await world.t.run(async (ctx) => {
      for (const one of await ctx.db.query("sessions").collect())
        if (one.name === "gone") await ctx.db.delete("sessions", one._id);
    });
    await plant(3, "x".repeat(2 ** 19));
    expect(await found(1)).toEqual([standby[0]!.since]);
    await plant(1, "x".repeat(2 ** 19));
    expect(await found(1)).toEqual([]);
  });
});

describe("a claim that fills its worker", () => {
  test.each([
    ["ends its duty beside two with room", { on: 3 }, "off", undefined, 0],
    ["stays on call without room beside one", { on: 2 }, "onCall", FULL, 0],
    ["is relieved by two beside none", { on: 1, full: 1 }, "off", undefined, 2],
  ])("%s", async (_what, stands, kind, standbySince, count) => {
    const { world, on, standby, rowOf } = await fleet({ ...stands, watching: 1, standby: 9 });
    await world.enqueue();
    expect(await on[0]!.claims()).toMatchObject({ kind });
    expect((await rowOf(on[0]!)).standbySince).toBe(standbySince);
    expect((await rowOf(on[0]!)).peers === undefined).toBe(kind === "off");
    expect(await reached(standby)).toBe(count);
  });
});

describe("a worker that leaves", () => {
  test.each([
    ["calls up one beside one with room", { on: 2 }, "on0", 1],
    ["calls up two beside none", { on: 1, full: 1 }, "on0", 2],
    ["calls up none beside two", { on: 3 }, "on0", 0],
    ["calls up two from on call without room", { full: 1 }, "full0", 2],
    ["calls up none from standby", { on: 1 }, "standby0", 0],
  ])("%s", async (_what, stands, name, count) => {
    const { world, standby } = await fleet({ ...stands, watching: 1, standby: 4 });
    await new Member(world, name).leaves();
    expect(await reached(standby)).toBe(count);
  });
});
