/** The snapshot reads of a sweep: the rows that they pick, how many, and where the next one goes on. */
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  EXPIRED_LEASES_MAX,
  SESSION_RETENTION_MS,
  JANITOR_FORGET_MAX,
  LEASES_MAX,
  QUEUES_MAX,
} from "../../shared/index.js";
import { api, internal } from "../_generated/api.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import { patrol, type IdleFrom } from "./sweepPlan.js";
import { failed, newToldWorld, newWorld, app, type World } from "../setup.test.js";

afterEach(() => {
  vi.restoreAllMocks();
});

type Planted = Partial<Pick<Doc<"sessions">, "state" | "queues" | "token" | "expiresAt">> & {
  leases?: number;
};

/** Sessions as they may stand in the table. Their leases are of no job that runs, so that a test forgets them. */
async function plant(world: World, sessions: readonly Planted[]): Promise<Id<"sessions">[]> {
  const job = await world.enqueue();
  return await world.t.run(async ({ db }) => {
    const ids: Id<"sessions">[] = [];
    for (const { leases = 0, ...session } of sessions) {
      const lease = { id: job, queue: "tiles", attempt: 1, callSeq: 1, leaseMs: 10_000 };
      ids.push(
        await db.insert("sessions", {
          ...{ sessionKey: `s${ids.length}`, name: "a", state: "active", queues: ["tiles"] },
          ...{ expiresAt: Date.now() - 1_000, lastSeenAt: 0, callSeq: 1, acknowledged: true },
          ...{ reply: { answers: [] }, leases: Array(leases).fill(lease), ...session },
        }),
      );
    }
    return ids;
  });
}

async function forget(world: World): Promise<void> {
  const planted = (await world.all("sessions")).filter(({ lastSeenAt }) => lastSeenAt === 0);
  await world.t.run(async ({ db }) => {
    for (const { _id } of planted) await db.delete("sessions", _id);
  });
}

async function tokens(world: World): Promise<Id<"tokens">[]> {
  await world.t.mutation(api.operate.createToken, { name: "second", queues: null });
  return (await world.all("tokens")).map(({ _id }) => _id).sort();
}

const find = async (world: World, idleFrom?: IdleFrom | null) =>
  await world.t.query(internal.tend.sweepPlan.planSweep, {
    now: Date.now(),
    ...(idleFrom == null ? {} : { idleFrom }),
  });

const times = <Item>(count: number, item: Item): Item[] => Array<Item>(count).fill(item);

describe("leases that have run out", () => {
  test("of full sessions are picked as far as one sweep ends them, of one token or of several", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const world = await newWorld();
    const [token, second] = await tokens(world);
    const full = { leases: LEASES_MAX };
    await plant(world, times(6, { ...full, token: token! }));
    const look = async () =>
      await world.t.query(internal.tend.sweepPlan.findLostLeases, { now: Date.now(), after: null });
    const one = await look();
    expect([one.expired.length, one.more]).toEqual([EXPIRED_LEASES_MAX / LEASES_MAX, true]);
    await plant(world, times(6, { ...full, token: second! }));
    const both = await look();
    expect(new Set(both.expired).size).toBe(EXPIRED_LEASES_MAX / LEASES_MAX);
    await forget(world);
  });

  test("are picked each once, and none of a session that lives, at any token's turn", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const world = await newWorld();
    const [token, second] = await tokens(world);
    const alive = { token: token!, expiresAt: Date.now() + 10_000 };
    const over = [...times(3, { token: token! }), ...times(20, { token: second! })];
    await plant(world, over);
    const living = await plant(world, times(5, alive));
    const { expired, turn, nextExpiry } = await world.t.query(
      internal.tend.sweepPlan.findLostLeases,
      {
        ...{ now: Date.now(), after: null },
      },
    );
    expect(turn).toBe(token);
    expect(expired).toHaveLength(new Set(expired).size);
    expect(expired).toHaveLength(8);
    expect(expired.filter((id) => living.includes(id))).toEqual([]);
    expect(nextExpiry).toBe(alive.expiresAt);
    await forget(world);
  });

  test("that all fit one sweep are no one's turn", async () => {
    const world = await newWorld();
    vi.spyOn(Math, "random").mockReturnValue(0);
    await plant(world, times(3, {}));
    const lost = await world.t.query(internal.tend.sweepPlan.findLostLeases, {
      now: Date.now(),
      after: null,
    });
    expect([lost.expired.length, lost.more, lost.turn, lost.nextExpiry]).toEqual([
      3,
      false,
      null,
      null,
    ]);
    await forget(world);
  });
});

describe("queues of idle sessions", () => {
  /** The queues of all reads, one after another; in each no more than fit. */
  async function allOf(world: World): Promise<{ queues: Set<string>; looks: number }> {
    const queues = new Set<string>();
    let from: IdleFrom | null = null;
    for (let looks = 1; ; looks += 1) {
      const { served, idleFrom } = await find(world, from);
      for (const queue of served) queues.add(queue);
      if (idleFrom === null || looks === 20) return { queues, looks };
      from = idleFrom;
    }
  }

  const idle = (queues: string[]) => ({ state: "idle" as const, queues, expiresAt: Date.now() });

  test("are read in turn where the sessions are many, though all were seen at once", async () => {
    const world = await newWorld();
    const sessions = Array.from({ length: 150 }, (_, n) => idle([`q${n % 3}`]));
    const last = idle(["last"]);
    await plant(world, [...sessions, last]);
    const { queues, looks } = await allOf(world);
    expect([queues.has("last"), looks]).toEqual([true, 3]);
    await forget(world);
  });

  test("are read in turn where the queues are many", async () => {
    const world = await newWorld();
    const names = (n: number) => Array.from({ length: QUEUES_MAX }, (_, i) => `q${n}-${i}`);
    await plant(
      world,
      Array.from({ length: 5 }, (_, n) => idle(names(n))),
    );
    const first = await find(world);
    expect(first.served.filter((name) => name !== "tiles")).toHaveLength(2 * QUEUES_MAX);
    const { queues, looks } = await allOf(world);
    expect([queues.has("q4-31"), looks]).toEqual([true, 3]);
    await forget(world);
  });

  test("of few sessions are read at once, and the next sweep begins anew", async () => {
    const world = await newWorld();
    await plant(world, [idle(["one"]), idle(["two"])]);
    const { served, watched, idleFrom } = await find(world);
    expect(served).toEqual(expect.arrayContaining(["one", "two"]));
    expect(watched).toEqual(expect.arrayContaining(["one", "two", "tiles"]));
    expect(idleFrom).toBeNull();
    await forget(world);
  });

  test("that nothing was ever enqueued in hold up no sweep", async () => {
    const world = await newWorld();
    await plant(world, [idle(["nowhere"])]);
    const { published } = await find(world);
    expect(published.map(({ queue }) => queue)).not.toContain("nowhere");
    await forget(world);
  });
});

describe("all queues by name", () => {
  async function named(world: World, count: number): Promise<string[]> {
    const names = Array.from({ length: count }, (_, n) => `q${String(n).padStart(2, "0")}`);
    for (const name of names) {
      world.queue.name = name;
      await world.enqueue();
    }
    return names;
  }
  const look = async (world: World, after?: string) =>
    await world.t.run(async (ctx) => {
      for (const { _id } of await ctx.db.query("patrols").collect())
        await ctx.db.delete("patrols", _id);
      if (after !== undefined) await ctx.db.insert("patrols", { after });
      return await patrol(ctx);
    });

  test("are read a page at a time, and behind the last come the first", async () => {
    const world = await newWorld();
    const names = await named(world, 10);
    expect(await look(world)).toEqual({ queues: names.slice(0, 8), last: "q07" });
    expect(await look(world, "q07")).toEqual({
      queues: [...names.slice(8), ...names.slice(0, 6)],
      last: "q05",
    });
  });

  test("have no next page where one page has them all", async () => {
    const world = await newWorld();
    const names = await named(world, 3);
    expect(await look(world)).toEqual({ queues: names, last: null });
    const wrapped = await look(world, "q01");
    expect([wrapped.queues.sort(), wrapped.last]).toEqual([names, null]);
  });

  test("more than a page of them at work are watched in part, another part each time", async () => {
    const world = await newWorld();
    const names = await named(world, 20);
    await plant(world, [{ queues: names, expiresAt: Date.now() + 10_000 }]);
    const random = vi.spyOn(Math, "random");
    const watched = new Set<string>();
    for (const value of [0, 0.4, 0.7]) {
      random.mockReturnValue(value);
      const found = await find(world);
      expect(found.watched.length).toBeLessThanOrEqual(16);
      expect(found.served).toEqual(expect.arrayContaining(names));
      for (const name of found.watched) watched.add(name);
    }
    expect(watched.size).toBe(20);
    await forget(world);
  });
});

describe("further findings", () => {
  test("sessions are forgotten that have been silent for a day, so many a sweep", async () => {
    const world = await newWorld();
    const long = Date.now() - SESSION_RETENTION_MS - 1;
    const old = await plant(world, times(40, { state: "idle", expiresAt: long }));
    await plant(world, times(3, { state: "idle", expiresAt: Date.now() - 1_000 }));
    const { forgotten } = await find(world);
    expect(forgotten).toHaveLength(JANITOR_FORGET_MAX / 2);
    expect(forgotten.filter((id) => !old.includes(id))).toEqual([]);
    await forget(world);
  });

  test("callbacks are overdue a minute after their plan, and not before", async () => {
    const world = await newToldWorld();
    app.onComplete = () => {
      throw new Error("not yet");
    };
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.complete([failed(job!)]);
    const [row] = await world.all("callbacks");
    expect((await find(world)).overdue).toEqual([]);
    await world.t.run(({ db }) => db.patch("callbacks", row!._id, { dueAt: Date.now() - 61_000 }));
    expect((await find(world)).overdue).toEqual([row!._id]);
  });

  test("cursors are not published again within five seconds, and then are", async () => {
    const world = await newWorld({ leaseMs: 600_000 });
    await world.enqueueBatch([1, 2]);
    await world.worker("a").claim();
    await world.sweep();
    const published = async () => (await find(world)).published.map(({ queue }) => queue);
    const [cursor] = await world.all("cursors");
    const since = async (ms: number) =>
      await world.t.run(({ db }) =>
        db.patch("cursors", cursor!._id, { publishedAt: Date.now() - ms }),
      );
    await since(4_999);
    expect(await published()).toEqual([]);
    await since(5_000);
    expect(await published()).toEqual(["tiles"]);
  });
});
