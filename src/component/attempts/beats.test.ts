/** Words that renew leases: beats, and calls of `complete` that carry one. */
import { describe, expect, test, vi } from "vitest";
import { FLEET_WAIT_MS, RANKED_SESSIONS_MAX } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { findSessions } from "../claim/assignment.js";
import { leaseOf, newWorld, succeeded, type World } from "../setup.test.js";

const HOUR = 3_600_000;

test("complete is a beat too: it answers for the leases that it names besides", async () => {
  const world = await newWorld();
  await world.enqueueBatch([1, 2, 3]);
  const worker = world.worker("a");
  const [one, two, three] = await worker.claim(3);
  await world.cancel(three!.id);
  const { token, sessionKey } = worker;
  const held = [two!, three!, { id: one!.id, attempt: 9 }].map(leaseOf);
  const args = { token, sessionKey, callSeq: 2, finished: [succeeded(one!)], held };
  await world.advance(5_000);
  const reply = await world.t.mutation(api.lib.complete, args);
  expect(reply.held!.map(({ answer }) => answer)).toEqual(["ok", "canceled", "leaseLost"]);
  await world.advance(5_000);
  const again = await world.t.mutation(api.lib.complete, args);
  expect(again, "repeated, it beats again").toEqual(reply);
  await world.advance(9_000);
  expect(await world.status(two!.id)).toMatchObject({ status: "running" });
});

test("a completion that no longer names a job which its worker was asked to end renews that job's lease once", async () => {
  for (const payloads of [["dropped"], ["dropped", "named"]]) {
    const world = await newWorld();
    const [dropped, named] = await world.enqueueBatch(payloads);
    const worker = world.worker("a");
    const [, kept] = await worker.claim(2);
    await world.cancel(dropped!);
    const { token, sessionKey } = worker;
    const held = kept === undefined ? [] : [leaseOf(kept)];
    for (let callSeq = 3; callSeq < 20; callSeq += 2) {
      await world.enqueue();
      const [job] = await worker.claim(1, { n: callSeq - 1 });
      const args = { token, sessionKey, callSeq, finished: [succeeded(job!)], held };
      await world.t.mutation(api.lib.complete, args);
      await world.advance(3_000);
    }
    expect(await world.status(dropped!)).toMatchObject({ status: "canceled" });
    expect(await world.all("cancels")).toEqual([]);
    if (named !== undefined) expect(await world.status(named)).toMatchObject({ status: "running" });
    await world.checkInvariants();
  }
});

test("a beat, and a completion that claims nothing, do not depend on the janitor's timer", async () => {
  const world = await newWorld();
  await world.enqueueBatch([1, 2]);
  const worker = world.worker("a");
  const [one, two] = await worker.claim(2);
  const timers = await world.all("timers");
  await world.t.run(async (ctx) => {
    // A write of the same transaction is in no snapshot query, and in every real read, which would now find none.
    for (const timer of await ctx.db.query("timers").collect())
      await ctx.db.delete("timers", timer._id);
    const { token, sessionKey } = worker;
    const leases = [one!, two!].map(leaseOf);
    await ctx.runMutation(api.lib.heartbeat, { token, sessionKey, leases });
    await ctx.runMutation(api.lib.complete, {
      token,
      sessionKey,
      callSeq: 2,
      finished: [succeeded(one!)],
    });
    const added = (await ctx.db.query("timers").collect()).filter(({ kind }) => kind === "janitor");
    expect(added).toEqual([]);
    for (const { _id, _creationTime, ...timer } of timers) await ctx.db.insert("timers", timer);
  });
});

test("the calls of a session that name no queue are allowed to a token of some queues", async () => {
  const world = await newWorld();
  const of = { name: "restricted", queues: ["tiles"] };
  const { token } = await world.t.mutation(api.operate.createToken, of);
  await world.enqueueBatch([1, 2]);
  const { sessionKey } = world.worker("a");
  const request = { token, sessionKey, callSeq: 1, name: "a", queues: [world.queue], max: 2 };
  const { jobs } = await world.t.mutation(api.lib.claim, request);
  const [one, two] = jobs;
  const beat = { token, sessionKey, leases: jobs.map(leaseOf) };
  expect((await world.t.mutation(api.lib.heartbeat, beat)).answers).toHaveLength(2);
  expect(await world.t.query(api.lib.cancellations, { token, sessionKey })).toEqual([]);
  const done = await world.t.mutation(api.lib.complete, {
    ...{ token, sessionKey, callSeq: 2, finished: [succeeded(one!)] },
  });
  expect(done.answers.map(({ answer }) => answer)).toEqual(["ok"]);
  const back = { token, sessionKey, finished: [succeeded(two!)] };
  const { answers } = await world.t.mutation(api.lib.takeBack, back);
  expect(answers.map(({ answer }) => answer)).toEqual(["ok"]);
});

test("a beat makes sure of a sweep where something is leased, and only there", async () => {
  const world = await newWorld();
  const janitors = async () =>
    (await world.all("timers")).filter(({ kind }) => kind === "janitor").length;
  const idle = world.worker("idle");
  await idle.heartbeat([]);
  expect((await idle.session()).queues, "it has named none").toEqual([]);
  expect(await janitors()).toBe(0);
  await world.enqueue();
  const worker = world.worker("a");
  const [job] = await worker.claim();
  await world.t.run(async (ctx) => {
    for (const timer of await ctx.db.query("timers").collect())
      await ctx.db.delete("timers", timer._id);
  });
  await idle.heartbeat([]);
  expect(idle.isLate).toBe(false);
  await worker.heartbeat([job!]);
  expect(worker.isLate).toBe(true);
  expect(await janitors()).toBe(1);
});

describe("the last word of a session", () => {
  async function leave(world: World, sessionKey: string, callSeq: number, token = world.token) {
    return await world.t.mutation(api.lib.leave, { token, sessionKey, leases: [], callSeq });
  }
  const isLive = async (world: World, sessionKey: string): Promise<boolean> =>
    await world.t.run(async (ctx) => {
      const { live } = await findSessions(ctx, { now: Date.now(), queues: [] });
      return live.some((session) => session.sessionKey === sessionKey);
    });

  test("takes one that holds nothing from the live, and a copy of an earlier call claims nothing any more", async () => {
    const world = await newWorld();
    const worker = world.worker("a");
    await worker.claim();
    expect(await isLive(world, worker.sessionKey)).toBe(true);
    await leave(world, worker.sessionKey, 3);
    expect(await isLive(world, worker.sessionKey)).toBe(false);
    expect((await worker.session()).state).toBe("gone");
    await world.enqueue();
    const { token, queue } = world;
    const copy = {
      token,
      sessionKey: worker.sessionKey,
      callSeq: 2,
      name: "a",
      queues: [queue],
      max: 1,
    };
    await expect(world.t.mutation(api.lib.claim, copy)).rejects.toThrow(/staleCall/);
    await leave(world, worker.sessionKey, 3);
    expect(await world.all("sessions")).toHaveLength(1);
  });

  test("is not taken back by a beat that comes late, with leases or a duty or without; a later claim begins anew", async () => {
    const world = await newWorld();
    const worker = world.worker("a");
    await world.enqueue();
    const [job] = await worker.claim();
    await worker.complete([succeeded(job!)]);
    const { token, sessionKey } = worker;
    await leave(world, sessionKey, 9);
    const left = await worker.session();
    await world.advance(1_000);
    const lease = leaseOf(job!);
    const about = { slots: 4, mode: "quiet" as const, startedAt: 1, version: "1" };
    for (const late of [
      { leases: [] },
      { leases: [lease] },
      { leases: [], about },
      { leases: [], onCall: { peers: "alike", room: 1, more: 3, prefers: ["b"] } },
    ]) {
      const beat = await world.t.mutation(api.lib.heartbeat, { token, sessionKey, ...late });
      const answers = late.leases.map((one) => ({ ...one, answer: "leaseLost" }));
      expect(beat).toEqual({ answers });
    }
    expect(await worker.session()).toEqual(left);
    expect(await isLive(world, sessionKey)).toBe(false);
    expect(await world.all("callUps")).toEqual([]);
    await leave(world, sessionKey, 9);
    expect(await worker.session()).toEqual(left);
    worker.n = 9;
    await worker.claim();
    await worker.heartbeat([]);
    expect(await isLive(world, sessionKey)).toBe(true);
    expect((await worker.session()).hasDeparted).toBeUndefined();
  });

  test("is forgotten a day later, also where no other call comes: a sweep is sure to come for its row", async () => {
    const world = await newWorld();
    const worker = world.worker("a");
    await world.enqueue();
    const [job] = await worker.claim();
    await worker.complete([succeeded(job!)]);
    await world.advance(60_000);
    const sweeps = async () =>
      (await world.all("timers")).filter(({ kind }) => kind === "janitor").length;
    expect(await sweeps()).toBe(0);
    await leave(world, worker.sessionKey, 9);
    await leave(world, worker.sessionKey, 9);
    expect(await sweeps()).toBe(1);
    await world.skipTo(Date.now() + 23 * HOUR);
    expect(await world.all("sessions")).toHaveLength(1);
    await world.skipTo(Date.now() + 2 * HOUR);
    expect(await world.all("sessions")).toEqual([]);
    expect(await world.all("tokenSessions")).toEqual([]);
    expect(await sweeps()).toBe(0);
  });

  test("is forgotten where the sweep on which it relies comes before the day is over", async () => {
    const world = await newWorld();
    const [worker, other] = [world.worker("a"), world.worker("b")];
    await worker.claim();
    await world.enqueue();
    const [job] = await other.claim();
    await leave(world, worker.sessionKey, 9);
    await other.complete([succeeded(job!)]);
    await world.advance(60_000);
    await world.skipTo(Date.now() + 25 * HOUR);
    const left = (await world.all("sessions")).map(({ sessionKey }) => sessionKey);
    expect(left).not.toContain(worker.sessionKey);
  });

  test("and the rows of many are forgotten together: a quiet mount is not called once for each", async () => {
    const world = await newWorld();
    for (let n = 0; n < 20; n += 1) {
      const worker = world.worker(`w${n}`);
      await worker.claim();
      await leave(world, worker.sessionKey, 9);
      await world.advance(5_000);
    }
    const sweeps = async () =>
      await world.t.run(async ({ db }) => {
        const all = await db.system.query("_scheduled_functions").collect();
        return all.filter(({ name }) => name.includes("janitor")).length;
      });
    const before = await sweeps();
    await world.skipTo(Date.now() + 24 * HOUR - 110_000);
    for (let n = 0; n < 24; n += 1) await world.advance(5_000);
    for (let hours = 0; hours < 3; hours += 1) {
      await world.skipTo(Date.now() + HOUR);
      await world.advance(5_000);
    }
    expect(await world.all("sessions")).toEqual([]);
    expect((await sweeps()) - before).toBeLessThan(6);
  });

  test("ends no lease, and puts off the end of none: the job may still run", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    const worker = world.worker("a");
    await worker.claim();
    const before = await worker.session();
    await world.advance(2_000);
    await leave(world, worker.sessionKey, 9);
    expect(await worker.session()).toEqual(before);
    expect(await world.status(id)).toMatchObject({ status: "running" });
  });

  test("is answered for the leases that it names: standing ones, and lost ones", async () => {
    const world = await newWorld();
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    const { token, sessionKey } = worker;
    const leases = [leaseOf(job!), { ...leaseOf(job!), attempt: 2 }];
    const { answers } = await world.t.mutation(api.lib.leave, {
      ...{ token, sessionKey, leases, callSeq: 9 },
    });
    expect(answers.map(({ answer }) => answer)).toEqual(["ok", "leaseLost"]);
  });

  describe("leaves to Convex the jobs that were left to it", () => {
    const wakes = async (world: World) =>
      await world.t.run(async (ctx) => {
        const rows = await ctx.db.system.query("_scheduled_functions").collect();
        return rows
          .filter(({ name, state }) => name.startsWith("push/wake") && state.kind === "pending")
          .map(({ args }) => (args[0] as { queue: string }).queue);
      });
    const shared = { push: true, fallbackAfterMs: 60_000 };

    test.each<[string, object, number]>([
      ["a queue that both serve is looked at", shared, 1],
      ["one that Convex serves as well as workers is not: nothing was left", { push: true }, 0],
      ["one of workers alone is not", { fallbackAfterMs: 60_000 }, 0],
    ])("%s", async (_, config, count) => {
      const world = await newWorld(config);
      const worker = world.worker("a");
      await worker.claim();
      expect(await wakes(world)).toEqual([]);
      await leave(world, worker.sessionKey, 9);
      expect(await wakes(world)).toEqual(Array(count).fill("tiles"));
    });

    test("but not a queue that it has named and never searched, which need not exist", async () => {
      const world = await newWorld(shared);
      const { token, queue } = world;
      const { sessionKey, name } = world.worker("a");
      const call = { token, sessionKey, name, callSeq: 1, max: 1, queues: [queue], lookIn: [] };
      await world.t.mutation(api.lib.claim, call);
      await leave(world, sessionKey, 9);
      expect([await wakes(world), await world.all("queues")]).toEqual([[], []]);
    });

    test("but not a queue that is paused, or that another worker serves", async () => {
      const world = await newWorld(shared);
      const [one, two] = [world.worker("a"), world.worker("b")];
      await one.claim();
      await two.claim();
      await leave(world, one.sessionKey, 9);
      expect(await wakes(world)).toEqual([]);
      await world.t.mutation(api.operate.pauseQueue, { queue: "tiles" });
      await leave(world, two.sessionKey, 9);
      expect(await wakes(world)).toEqual([]);
    });
  });

  test("is another's to say with no other token, and of a session that is not known makes no row", async () => {
    const world = await newWorld();
    const worker = world.worker("a");
    await worker.claim();
    const { token } = await world.t.mutation(api.operate.createToken, {
      name: "other",
      queues: null,
    });
    await expect(leave(world, worker.sessionKey, 9, token)).rejects.toThrow(/sessionForbidden/);
    await expect(leave(world, worker.sessionKey, 0)).rejects.toThrow(/invalidArgument/);
    expect(await isLive(world, worker.sessionKey)).toBe(true);
    await leave(world, "unknown", 1);
    expect(await world.all("sessions")).toHaveLength(1);
  });

  test("has the jobs counted that it ended: the last sweep sees queues of live sessions", async () => {
    const world = await newWorld();
    const worker = world.worker("a");
    const rollUps = async () =>
      (await world.all("timers")).filter(({ kind }) => kind === "rollUp").length;
    await worker.claim();
    await leave(world, worker.sessionKey, 9);
    expect(await rollUps(), "where nothing has ended").toBe(0);
    await world.enqueue();
    const other = world.worker("b");
    await other.complete((await other.claim()).map((job) => succeeded(job)));
    expect(await rollUps()).toBe(0);
    await leave(world, other.sessionKey, 9);
    expect(await rollUps()).toBe(1);
  });

  test("said again and again wakes nothing more, and a copy of a call still claims nothing", async () => {
    const world = await newWorld({ push: true, fallbackAfterMs: 60_000 });
    const worker = world.worker("a");
    await worker.claim();
    const scheduled = async () =>
      (await world.t.run((ctx) => ctx.db.system.query("_scheduled_functions").collect())).map(
        ({ name }) => name,
      );
    await leave(world, worker.sessionKey, 2);
    const once = await scheduled();
    for (let n = 3; n < 9; n += 1) await leave(world, worker.sessionKey, n);
    expect(once).toEqual(["tend/janitor:sweep", "push/wake:wake"]);
    expect(await scheduled()).toEqual(once);
    await expect(worker.claim()).rejects.toThrow(/staleCall/);
  });

  test("of many of a large fleet has it counted without them", async () => {
    const world = await newWorld({ shards: 8 });
    const workers = Array.from({ length: RANKED_SESSIONS_MAX + 12 }, (_, i) =>
      world.worker(`worker-${i}`),
    );
    // A few of them ask for a count, as the dice fall: here all do.
    vi.spyOn(Math, "random").mockReturnValue(0);
    for (let times = 0; times < 2; times += 1) {
      for (const worker of workers) await worker.claim();
      await world.skipTo(Date.now() + FLEET_WAIT_MS);
    }
    const counted = async () => (await world.all("fleets"))[0]!.members.byteLength / 4;
    expect(await counted()).toBe(workers.length);
    await world.advance(1);
    for (const { sessionKey } of workers.slice(1)) await leave(world, sessionKey, 99);
    await world.skipTo(Date.now() + FLEET_WAIT_MS);
    expect(await counted()).toBe(1);
  });
});
