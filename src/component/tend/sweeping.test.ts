/** One sweep of the janitor is bounded, in a deployment of any size: it must not fail, or leases never end. */
import { describe, expect, test } from "vitest";
import { EXPIRED_MAX, PUBLISHED_BOUNDS_MAX, routeKey } from "../../shared/index.js";
import { api, internal } from "../_generated/api.js";
import type { Id } from "../_generated/dataModel.js";
import { newWorld, refusal, succeeded, Worker, type World } from "../setup.test.js";

/** Routes of a queue, as so many jobs with labels of their own leave behind. */
async function addRoutes(world: World, queue: string, count: number, priorities = [0]) {
  await world.t.run(async (ctx) => {
    for (let number = 1; number <= count; number += 1) {
      const labels = [`l${number}`];
      const route = { queue, key: routeKey({ labels }), labels, costClass: 0, number, priorities };
      await ctx.db.insert("routes", route);
    }
  });
}

async function claimFrom(world: World, names: readonly string[], max = 1) {
  const queues = names.map((name) => ({ ...world.queue, name }));
  for (const queue of queues) {
    await world.t.mutation(api.lib.enqueue, { queue, jobs: [{ payload: {} }] });
  }
  await world.t.mutation(api.lib.claim, {
    ...{ token: world.token, sessionKey: "s", callSeq: 1, name: "a", queues, max },
  });
}

const find = async (world: World) =>
  await world.t.query(internal.tend.sweepPlan.planSweep, { now: Date.now() });

describe("cursors", () => {
  test("of queues with many places are published in turn: all of them at once are more than a sweep may read", async () => {
    const world = await newWorld({ shards: 8 });
    const names = ["one", "two", "three"];
    await claimFrom(world, names);
    for (const name of names) await addRoutes(world, name, 60);
    const seen = new Set<string>();
    for (let sweep = 0; sweep < names.length; sweep += 1) {
      const { published } = await find(world);
      expect(published).toHaveLength(1);
      seen.add(published[0]!.queue);
      await world.sweep();
    }
    expect(seen).toEqual(new Set(names));
  });

  test("of a busy queue are published beside quiet ones that keep theirs, however old these are", async () => {
    const world = await newWorld({ shards: 8 });
    const names = ["tiles", "one", "two", "three"];
    await claimFrom(world, names, names.length);
    for (const name of names) await addRoutes(world, name, 12);
    for (let sweep = 0; sweep < names.length; sweep += 1) await world.sweep();
    expect(await world.all("cursors")).toHaveLength(names.length);
    const worker = new Worker(world, "busy", "busy");
    worker.n = 1;
    await world.enqueueBatch(Array.from({ length: 9 }, (_, n) => n));
    const { jobs } = await world.t.mutation(api.lib.claim, {
      ...{ token: world.token, sessionKey: "busy", callSeq: 1, name: "busy", woken: true },
      ...{ queues: [world.queue], max: 9 },
    });
    expect(jobs).toHaveLength(9);
    await worker.complete(jobs.map((job) => succeeded(job)));
    // The quiet ones are older.
    await world.t.run(async ({ db }) => {
      for (const { _id, queue } of await db.query("cursors").collect())
        await db.patch("cursors", _id, {
          publishedAt: Date.now() - (queue === "tiles" ? 6e3 : 9e3),
        });
    });
    expect((await find(world)).published.map(({ queue }) => queue)).toEqual(["tiles"]);
  });

  test("of one queue name so many places and no more, however often they are published", async () => {
    const world = await newWorld({ shards: 64, leaseMs: 600_000 });
    await claimFrom(world, ["tiles"]);
    await addRoutes(world, "tiles", 20, [0, 1]);
    for (let sweep = 0; sweep < 4; sweep += 1) {
      await world.sweep();
      await world.skipTo(Date.now() + 6_000);
    }
    const [cursor] = await world.all("cursors");
    expect(cursor!.bounds).toHaveLength(PUBLISHED_BOUNDS_MAX);
  });
});

describe("sessions", () => {
  test("name jobs by short ids only: the answers are kept in their rows, which every sweep reads", async () => {
    const world = await newWorld();
    const { token } = world;
    const lease = { id: "x".repeat(65), attempt: 1 };
    const finished = [{ ...lease, outcome: { kind: "released" as const } }];
    const call = { token, sessionKey: "s", callSeq: 1, finished };
    expect((await refusal(world.t.mutation(api.lib.complete, call))).code).toBe("invalidArgument");
    const beat = world.t.mutation(api.lib.heartbeat, { token, sessionKey: "s", leases: [lease] });
    expect((await refusal(beat)).message).toContain("65");
    expect(await world.all("sessions")).toEqual([]);
  });

  test("that were forgotten are deleted as fast as they come, by a fleet of processes that live for one job", async () => {
    const world = await newWorld();
    const day = 24 * 60 * 60_000;
    await world.t.run(async (ctx) => {
      const [token] = await ctx.db.query("tokens").collect();
      for (let i = 0; i < 40; i += 1) {
        const long = Date.now() - day - 60_000;
        await ctx.db.insert("sessions", {
          ...{
            sessionKey: `old${i}`,
            token: token!._id,
            name: "a",
            state: "idle",
            expiresAt: long,
          },
          ...{ lastSeenAt: long, queues: ["tiles"], leases: [], callSeq: 1, acknowledged: true },
          reply: { answers: [] },
        });
      }
    });
    await claimFrom(world, ["tiles"]);
    await world.sweep();
    await world.advance(6_000);
    const sessions: Id<"sessions">[] = (await world.all("sessions")).map(({ _id }) => _id);
    expect(sessions).toHaveLength(1);
  });
});

/** Sessions of each token, and some of none as lanes are, with expired leases. */
async function abandon(world: World, each: number): Promise<(Id<"tokens"> | null)[]> {
  for (const name of ["second", "third"])
    await world.t.mutation(api.operate.createToken, { name, queues: null });
  const tokens = (await world.all("tokens")).map(({ _id }) => _id).sort();
  await world.t.run(async ({ db }) => {
    for (const token of [...tokens, undefined])
      for (let i = 0; i < each; i += 1)
        await db.insert("sessions", {
          ...{
            sessionKey: `${token}${i}`,
            name: "a",
            state: "active",
            queues: ["tiles"],
            leases: [],
          },
          ...{ expiresAt: Date.now() - 1_000, lastSeenAt: 0, callSeq: 1, acknowledged: true },
          ...{ reply: { answers: [] }, ...(token === undefined ? {} : { token }) },
        });
  });
  return [null, ...tokens];
}

/** Such sessions hold nothing, which no call leaves behind. */
async function forget(world: World): Promise<void> {
  const planted = (await world.all("sessions")).filter(({ lastSeenAt }) => lastSeenAt === 0);
  await world.t.run(async ({ db }) => {
    for (const { _id } of planted) await db.delete("sessions", _id);
  });
}

describe("leases that have run out, more than one sweep ends", () => {
  test("are ended of each token in turn, and of lanes", async () => {
    const world = await newWorld();
    const groups = await abandon(world, 20);
    const sessions = new Map((await world.all("sessions")).map((one) => [one._id, one]));
    const now = Date.now();
    const turns: (Id<"tokens"> | null)[] = [];
    for (let sweep = 0; sweep <= groups.length; sweep += 1) {
      const after = turns.at(-1);
      const args = { now, ...(after === undefined ? {} : { after }) };
      const { turn, expired } = await world.t.query(internal.tend.sweepPlan.findLostLeases, args);
      turns.push(turn);
      expect(expired).toHaveLength(EXPIRED_MAX);
      expect(new Set(expired).size).toBe(EXPIRED_MAX);
      const its = expired.filter((id) => (sessions.get(id)!.token ?? null) === turn);
      expect(its.length).toBeGreaterThanOrEqual(EXPIRED_MAX / 2);
    }
    expect(turns).toEqual([...groups, null]);
    await forget(world);
  });

  test("are ended from that turn on also where the timer is armed anew, lest it be taken for dead", async () => {
    const world = await newWorld();
    await world.enqueue();
    await world.worker("a").claim();
    const [, first] = await abandon(world, 20);
    const [timer] = await world.all("timers");
    await world.t.run(({ db }) => db.patch("timers", timer!._id, { dueAt: Date.now() - 4_000 }));
    await world.t.mutation(internal.tend.janitor.sweep, { timer: timer!._id, after: null });
    const scheduled = await world.t.run(({ db }) =>
      db.system.query("_scheduled_functions").collect(),
    );
    const args = scheduled.map((one) => one.args[0] as { timer?: string; after?: string });
    expect(args.filter(({ after }) => after === first)).toHaveLength(1);
    expect((await world.all("timers"))[0]!.dueAt).toBeGreaterThanOrEqual(Date.now() - 100);
    await forget(world);
  });
});
