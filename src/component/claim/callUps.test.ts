/** Workers on standby that are called up by their names, since waiting jobs prefer them. */
import { describe, expect, test, vi } from "vitest";
import { refusal } from "../setup.test.js";
import { called, Member, newFleet } from "./fleets.test.js";

describe("a beat", () => {
  test("names the workers that jobs prefer: these are called up, and no other, until they have looked", async () => {
    const { world, on, standby, members } = await newFleet();
    const [, wanted, next] = standby;
    await world.enqueue("theirs", { prefer: { worker: wanted!.name, forMs: 60_000 } });
    vi.setSystemTime(Date.now() + 1_000);
    expect(await on[0]!.beats({ prefers: [wanted!.name, "gone"] })).toMatchObject({
      kind: "onCall",
    });
    await on[1]!.beats({ prefers: [wanted!.name] });
    expect(await called(members)).toEqual([wanted!.name]);
    vi.setSystemTime(Date.now() + 1_000);
    await wanted!.claims();
    expect(wanted!.jobs).toHaveLength(1);
    await wanted!.completes();
    expect(await wanted!.claims()).toMatchObject({ kind: "standby" });
    expect(await called(members)).toEqual([]);
    // Another set of workers is none of this one.
    await new Member(world, "other", "others").beats({ prefers: [next!.name] });
    expect(await called(members)).toEqual([]);
  });

  test("calls up by its name a worker whose place is ahead of the clock, each time anew", async () => {
    const { world, on, standby, members } = await newFleet();
    const wanted = standby[1]!;
    const { name } = wanted;
    // As after a burst of call-ups within one millisecond, or on a host with a faster clock.
    vi.setSystemTime(Date.now() + 5_000);
    await world.t.run(async ({ db }) => {
      const row = (await db.query("sessions").collect()).find((one) => one.name === name)!;
      await db.insert("callUps", { peers: row.peers!, upTo: Date.now() - 1, count: 2, at: 0 });
    });
    for (const one of standby) await one.claims();
    expect(wanted.since).toBe(Date.now());
    vi.setSystemTime(Date.now() - 500);
    for (let times = 0; times < 3; times += 1) {
      await on[0]!.beats({ prefers: [name] });
      expect(await called(members)).toEqual([name]);
      // It has come in vain: the job is gone. It stands by, and is not called for the same again.
      expect(await wanted.claims()).toMatchObject({ kind: "standby" });
      expect(await called(members)).toEqual([]);
    }
    await on[0]!.beats({ prefers: [name] });
    // Its subscription is broken: its beat says so, too.
    expect(await wanted.beats()).toMatchObject({ kind: "off" });
  });

  test("calls up a worker by its name once for one beat: it comes in vain, and not again and again", async () => {
    const { world, on, standby, members } = await newFleet();
    const wanted = standby[1]!;
    vi.setSystemTime(Date.now() + 1_000);
    await on[0]!.beats({ prefers: [wanted.name] });
    expect(await called(members)).toEqual([wanted.name]);
    expect(await wanted.claims()).toMatchObject({ kind: "standby" });
    expect(await called(members)).toEqual([]);
    // It stands by after the others now: another call-up reaches these first.
    expect(wanted.since).toBeGreaterThan(standby.at(-1)!.since);
    await world.enqueueBatch([1, 2]);
    await on[0]!.claims();
    await on[1]!.claims();
    expect(await called(standby)).toEqual([standby[0]!.name, standby[2]!.name]);
  });

  test("calls up a worker by its name whose place came with the last call-up, of many in one instant", async () => {
    const { world, on, standby, members } = await newFleet();
    const wanted = standby[0]!;
    const upTo = Date.now() + 60_000;
    await world.t.run(async ({ db }) => {
      const row = (await db.query("sessions").collect()).find(({ name }) => name === wanted.name)!;
      await db.insert("callUps", { peers: row.peers!, upTo, count: 2, at: 0 });
    });
    for (const one of standby) await one.claims();
    expect(wanted.since).toBe(upTo + 1);
    await on[0]!.beats({ prefers: [wanted.name] });
    expect(await called(members)).toEqual([wanted.name]);
    await wanted.claims();
    expect(await called(members)).toEqual([]);
  });

  test("writes no row of preferred workers where its worker is not on call, and few rows of many names", async () => {
    const { world, on, standby } = await newFleet();
    const names = (from: number) => Array.from({ length: 64 }, (_, i) => `none-${from + i}`);
    await standby[0]!.beats({ prefers: names(0) });
    expect(await world.all("callUps")).toEqual([]);
    for (let from = 0; from < 6 * 64; from += 64) await on[0]!.beats({ prefers: names(from) });
    const { length } = await world.all("callUps");
    expect(length).toBeGreaterThan(64);
    expect(length).toBeLessThanOrEqual(256);
  });

  test("of one token writes few rows of names, as whatever peers its worker claims", async () => {
    const { world, on } = await newFleet();
    const { name, n } = on[0]!;
    let calls = n;
    for (let set = 0; set < 6; set += 1) {
      const hostile = Object.assign(new Member(world, name, `peers-${set}`), { n: calls });
      expect(await hostile.claims()).toMatchObject({ kind: "onCall" });
      calls = hostile.n;
      const prefers = Array.from({ length: 64 }, (_, i) => `none-${64 * set + i}`);
      await hostile.beats({ prefers });
    }
    expect((await world.all("callUps")).length).toBeLessThanOrEqual(256);
  });

  test.each([
    ["a blank name", [" "]],
    ["a long one", ["x".repeat(300)]],
    ["very many", Array.from({ length: 1_000 }, (_, i) => `w${i}`)],
  ])("that names %s of workers that jobs prefer is refused", async (_what, prefers) => {
    const { world, on } = await newFleet();
    expect(await refusal(on[0]!.beats({ prefers }))).toMatchObject({ code: "invalidArgument" });
    expect(await world.all("callUps")).toEqual([]);
  });
});
