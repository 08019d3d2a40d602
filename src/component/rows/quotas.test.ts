/** Quotas of one token's workers: sessions, writes and scheduled jobs. */
import { afterEach, describe, expect, test, vi, onTestFinished } from "vitest";
import { SESSION_RETENTION_MS, IDLE_LIVE_MS } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { newWorld, refusal, succeeded, T0, Worker, type World } from "../setup.test.js";

vi.mock("../../shared/tokenLimits.js", async (original) => ({
  ...(await original<object>()),
  ...{ SESSIONS_MAX: 20, TOKEN_COUNT_BYTES: 1_000, TOKEN_HOUR_BYTES: 10_000 },
}));
vi.hoisted(() => vi.resetModules());
const HOUR_MS = 3_600_000;

afterEach(() => vi.restoreAllMocks());

async function fleet(world: World, size: number, { from = 0, token = world.token } = {}) {
  const workers = Array.from(
    { length: size },
    (_, i) => new Worker(world, "w", `session-${token.slice(-4)}-${from + i}`, token),
  );
  for (const worker of workers) await worker.heartbeat([]);
  return workers;
}

async function another(world: World): Promise<string> {
  const made = { name: "another", queues: null };
  return (await world.t.mutation(api.operate.createToken, made)).token;
}

describe("sessions of one token", () => {
  test("are so many at most; each goes on, and another token's begin", async () => {
    const world = await newWorld();
    const [first] = await fleet(world, 20);
    const stranger = world.worker("late");
    for (const call of [
      () => stranger.claim(),
      () => stranger.heartbeat([]),
      () => stranger.complete([NOTHING]),
    ]) {
      const refused = await refusal(call());
      expect(refused).toMatchObject({ code: "tooManySessions", max: 20 });
      expect(refused.message).toContain("Start fewer workers");
    }
    await first!.claim();
    await fleet(world, 1, { token: await another(world) });
    expect(await world.all("sessions")).toHaveLength(21);
  });

  test("make room once they have been silent, and are no more than that however many come and go", async () => {
    const world = await newWorld();
    // The first sessions are read, which are the oldest: with other draws, two that are silent may be missed.
    onTestFinished(() => void vi.restoreAllMocks());
    vi.spyOn(Math, "random").mockReturnValue(0);
    for (let round = 0; round < 4; round += 1) {
      await fleet(world, 20, { from: 20 * round });
      vi.setSystemTime(Date.now() + IDLE_LIVE_MS + 1);
    }
    await fleet(world, 1, { from: 100 });
    const kept = await world.all("sessions");
    expect(kept.length).toBeLessThanOrEqual(20);
    expect((await world.all("tokenSessions")).map(({ session }) => session).sort()).toEqual(
      kept.map(({ _id }) => _id).sort(),
    );
  });

  test("that stand by, silent as they have said, make room where nothing else does, and come back with a beat", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const world = await newWorld();
    const workers = await fleet(world, 20);
    const now = Date.now();
    const peers = `${(await world.all("sessions"))[0]!.token}:alike`;
    await world.t.run(async ({ db }) => {
      for (const [i, { _id }] of (await db.query("sessions").collect()).entries())
        await db.patch("sessions", _id, {
          ...{ peers, standbySince: now + i, silentMs: HOUR_MS, expiresAt: now + HOUR_MS },
          // The longest silent one is not the first one.
          lastSeenAt: now - (i === 7 ? 1_000 : 0),
        });
    });
    expect(await refusal(world.worker("next").claim())).toMatchObject({ code: "tooManySessions" });
    vi.setSystemTime(now + IDLE_LIVE_MS + 1);
    await world.worker("next").claim();
    const kept = (await world.all("sessions")).map(({ sessionKey }) => sessionKey);
    expect(kept).toHaveLength(20);
    expect(kept).not.toContain(workers[7]!.sessionKey);
    const { duty } = await world.t.mutation(api.lib.heartbeat, {
      ...{ token: world.token, sessionKey: workers[7]!.sessionKey, leases: [] },
      onCall: { peers: "alike", room: 1 },
    });
    expect(duty).toMatchObject({ kind: "off" });
    expect(await world.all("sessions")).toHaveLength(20);
  });

  test("that hold a job are not forgotten for another, however silent", async () => {
    const world = await newWorld({ leaseMs: 24 * HOUR_MS });
    const workers = await fleet(world, 20);
    for (const worker of workers) {
      await world.enqueue();
      await worker.claim();
    }
    vi.setSystemTime(Date.now() + HOUR_MS);
    expect(await refusal(world.worker("next").claim())).toMatchObject({ code: "tooManySessions" });
    expect((await world.all("jobs")).every(({ status }) => status === "running")).toBe(true);
  });

  test("that were forgotten after a day count no more", async () => {
    const world = await newWorld();
    await fleet(world, 3);
    await world.enqueue();
    vi.setSystemTime(Date.now() + SESSION_RETENTION_MS + 60_000);
    await world.worker("a").claim();
    await world.sweep();
    await world.advance(6_000);
    expect(await world.all("sessions")).toHaveLength(1);
    expect(await world.all("tokenSessions")).toHaveLength(1);
  });

  test("are counted when they begin: a call of one that is known writes nothing of it", async () => {
    const world = await newWorld();
    const worker = world.worker("a");
    await worker.heartbeat([]);
    const before = await world.all("tokenSessions");
    await worker.claim();
    await worker.heartbeat([]);
    expect(await world.all("tokenSessions")).toEqual(before);
    expect(before).toHaveLength(1);
  });
});

const NOTHING = succeeded({ id: "x", attempt: 1 });

async function scheduled(world: World): Promise<number> {
  const rows = await world.t.run((ctx) => ctx.db.system.query("_scheduled_functions").collect());
  return rows.filter(({ name }) => name.includes("completeLater")).length;
}

describe("an outcome that is handed over", () => {
  async function handOver(worker: Worker, finished: ReturnType<typeof succeeded>): Promise<void> {
    const { token, sessionKey } = worker;
    await worker.world.t.mutation(api.lib.completeLater, { token, sessionKey, finished });
  }

  test("again and again is scheduled once while it is to be recorded, and again where that has failed", async () => {
    const world = await newWorld();
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    for (let i = 0; i < 5; i += 1) await handOver(worker, succeeded(job!, "x".repeat(900_000)));
    expect(await scheduled(world)).toBe(1);
    const { wake } = (await world.all("jobs"))[0]!;
    await world.t.run((ctx) => ctx.scheduler.cancel(wake!));
    await handOver(worker, succeeded(job!));
    expect(await scheduled(world)).toBe(2);
    await world.advance(100);
    expect((await world.all("jobs"))[0]).toMatchObject({ status: "succeeded" });
    expect((await world.all("jobs"))[0]).not.toHaveProperty("wake");
  });

  test("for a lease that the session does not hold schedules nothing", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    const [job] = await world.worker("a").claim();
    const thief = new Worker(world, "t", "session-t", await another(world));
    await thief.heartbeat([]);
    const large = "x".repeat(900_000);
    for (const worker of [thief, world.worker("b")]) {
      await handOver(worker, succeeded(job!, large));
      await handOver(worker, succeeded({ id: "nothing", attempt: 1 }, large));
      await handOver(worker, succeeded({ id, attempt: 2 }, large));
    }
    expect(await scheduled(world)).toBe(0);
    await handOver(world.worker("a"), succeeded(job!));
    expect(await scheduled(world)).toBe(1);
    await world.advance(100);
    expect(await world.status(id)).toMatchObject({ status: "succeeded" });
    await handOver(world.worker("a"), succeeded(job!));
    expect(await scheduled(world), "once it is recorded").toBe(1);
  });
});

describe("the writes of a token's workers in an hour", () => {
  async function running(world: World, worker: Worker) {
    const id = await world.enqueue();
    const [job] = await worker.claim();
    let entry = 0;
    const log = (bytes: number) => {
      const one = { id, attempt: 1, entry, level: "info" as const, message: "m".repeat(bytes) };
      entry += 1;
      return { logs: [one] };
    };
    return { id, job: job!, log };
  }

  test("is bounded over all jobs and sessions; progress and outcomes go on, and so do other tokens", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const world = await newWorld({ leaseMs: 24 * HOUR_MS });
    const [a, b] = [world.worker("a"), world.worker("b")];
    const [one, two] = [await running(world, a), await running(world, b)];
    for (let i = 0; i < 3; i += 1) {
      await a.report(one.log(2_000));
      await b.report(two.log(2_000));
    }
    const output = [{ id: two.id, attempt: 1, index: 0, text: "more" }];
    for (const call of [() => a.report(one.log(1)), () => b.report({ output })]) {
      const refused = await refusal(call());
      expect(refused).toMatchObject({ code: "quotaExceeded", max: 10_000 });
      expect(refused.message).toContain("file storage");
    }
    expect((await world.t.query(api.operate.listTokens, {}))[0]).toHaveProperty("overQuotaUntil");
    expect(await a.progress([{ id: one.id, attempt: 1, value: 1 }])).toEqual(["ok"]);
    const other = new Worker(world, "c", "session-c", await another(world));
    const three = await running(world, other);
    expect(await other.report(three.log(500))).toMatchObject([{ answer: "ok" }]);
    vi.setSystemTime(Date.now() + HOUR_MS);
    expect(await a.report(one.log(500))).toMatchObject([{ answer: "ok" }]);
    expect((await a.complete([succeeded(one.job)])).words).toEqual(["ok"]);
  });

  test("counts jobs to follow: past the quota they fail the job that they follow", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const world = await newWorld({ leaseMs: 24 * HOUR_MS });
    const worker = world.worker("a");
    const follow = async (count: number) => {
      const { id, job } = await running(world, worker);
      const jobs = Array.from({ length: count }, () => ({ payload: 1 }));
      const finished = { ...succeeded(job), continued: [{ queue: world.queue, jobs }] };
      await worker.complete([finished]);
      for (const { _id, status } of await world.all("jobs"))
        if (status === "pending") await world.cancel(_id);
      return (await world.status(id))!;
    };
    expect(await follow(12)).toMatchObject({ status: "succeeded" });
    expect(await follow(1)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("written more than"),
    });
    expect((await world.all("jobs")).filter(({ status }) => status === "canceled")).toHaveLength(
      12,
    );
  });

  test("is bounded for no longer where the clock was a day ahead, and is set back", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const world = await newWorld({ leaseMs: 24 * HOUR_MS });
    vi.setSystemTime(T0 + 24 * HOUR_MS);
    const worker = world.worker("a");
    const { log } = await running(world, worker);
    for (let i = 0; i < 6; i += 1) await worker.report(log(2_000));
    expect(await refusal(worker.report(log(1)))).toMatchObject({ code: "quotaExceeded" });
    vi.setSystemTime(T0);
    expect(await worker.report(log(2_000))).toMatchObject([{ answer: "ok" }]);
    expect(await worker.report(log(1))).toMatchObject([{ answer: "ok" }]);
    expect(await world.all("tokenWrites")).toMatchObject([{ since: T0 }]);
  });

  test("counts rows, and not their text alone", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const world = await newWorld();
    const worker = world.worker("a");
    const { id, log } = await running(world, worker);
    const output = Array.from({ length: 170 }, (_, index) => {
      return { id, attempt: 1, index, text: "x" };
    });
    await worker.report({ output });
    expect(await refusal(worker.report(log(1)))).toMatchObject({ code: "quotaExceeded" });
  });

  test("is counted by lot: a small report touches no row that another touches", async () => {
    const world = await newWorld();
    const worker = world.worker("a");
    const { log } = await running(world, worker);
    const random = vi.spyOn(Math, "random").mockReturnValue(0.8);
    await worker.report(log(100));
    expect(await world.all("tokenWrites")).toEqual([]);
    random.mockReturnValue(0.95);
    await worker.report(log(100));
    expect(await world.all("tokenWrites")).toMatchObject([{ bytes: 1_000 }]);
  });
});
