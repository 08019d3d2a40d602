/** What a worker says of itself, and what its calls show. */
import { describe, expect, test } from "vitest";
import { COMPONENT_VERSION, type WorkerFacts } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import {
  failed,
  leaseOf,
  newWorld,
  refusal,
  succeeded,
  T0,
  type Worker,
  type World,
} from "../setup.test.js";

const facts: WorkerFacts = {
  ...{ startedAt: T0 - 500, version: COMPONENT_VERSION, appVersion: "7.1", slots: 4 },
  ...{ hostname: "gpu-7", pid: 4_711 },
};

/** Calls that say it. */
function saying(world: World, { token, sessionKey, name }: Worker) {
  const caller = { token, sessionKey };
  return {
    claim: async (n: number, about: WorkerFacts, max = 1) =>
      await world.t.mutation(api.lib.claim, {
        ...{ ...caller, callSeq: n, name, max, queues: [world.queue], about },
      }),
    beat: async (about: WorkerFacts, leases: { id: string; attempt: number }[] = []) =>
      await world.t.mutation(api.lib.heartbeat, { ...caller, leases, about }),
  };
}

const shown = async (world: World) => await world.t.query(api.lib.workers, {});

describe("a worker", () => {
  // Shows SG-20.
  test("is shown with machine, process, versions and slots, as its first claim says them", async () => {
    const world = await newWorld();
    await world.enqueueBatch([1, 2, 3]);
    const { slots: _, ...origin } = facts;
    await saying(world, world.worker("a")).claim(1, facts, 3);
    expect(await shown(world)).toMatchObject([
      { name: "a", state: "working", since: T0, slots: { used: 3, had: 4 }, done: 0, origin },
    ]);
  });

  test("counts the outcomes that are recorded, each once, however often a call is repeated", async () => {
    const world = await newWorld({ retry: { ...RETRY, maxAttempts: 2 } });
    await world.enqueueBatch([1, 2]);
    const worker = world.worker("a");
    const [one, two] = await worker.claim(2);
    const done = [succeeded(one!), failed(two!), succeeded({ id: one!.id, attempt: 9 })];
    await worker.complete(done, { n: 2 });
    await worker.complete(done, { n: 2 });
    await worker.complete([succeeded(one!)], { n: 3 });
    expect(await shown(world)).toMatchObject([{ done: 2, state: "waiting" }]);
  });

  test("counts an outcome that it has handed over", async () => {
    const world = await newWorld();
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    const { token, sessionKey } = worker;
    await world.t.mutation(api.lib.completeLater, { token, sessionKey, finished: succeeded(job!) });
    await world.settle();
    expect(await shown(world)).toMatchObject([{ done: 1, state: "waiting" }]);
  });

  test("has its state since it last changed, and not since its last call", async () => {
    const world = await newWorld();
    const worker = world.worker("a");
    await worker.claim();
    await world.advance(1_000);
    await worker.claim();
    expect(await shown(world)).toMatchObject([{ state: "waiting", since: T0 }]);
    await world.enqueue();
    const [job] = await worker.claim();
    await world.advance(1_000);
    await worker.heartbeat([job!]);
    expect(await shown(world)).toMatchObject([{ state: "working", since: T0 + 1_000 }]);
    await world.advance(20_000);
    expect(await shown(world), "its lease has ended").toMatchObject([{ state: "stopped" }]);
  });

  test("is starting until a claim of its is answered, and draining or quiet when it says so", async () => {
    const world = await newWorld();
    const worker = world.worker("a");
    await worker.heartbeat([]);
    expect(await shown(world)).toMatchObject([{ name: "test token", state: "starting" }]);
    const { claim, beat } = saying(world, worker);
    await claim(1, { ...facts, mode: "quiet" });
    const [quiet] = await shown(world);
    expect(quiet).toMatchObject({ name: "a", state: "waiting", quietBy: "worker" });
    expect(quiet!.origin, "although the session began without it").toMatchObject({ pid: 4_711 });
    await beat({ ...facts, mode: "draining", slots: 1 });
    expect(await shown(world)).toMatchObject([{ state: "draining", slots: { used: 0, had: 1 } }]);
    await beat(facts);
    const [back] = await shown(world);
    expect(back).toMatchObject({ state: "waiting" });
    expect(back).not.toHaveProperty("quietBy");
  });

  test("that says nothing has none of these fields in its rows, and its later calls write none", async () => {
    const world = await newWorld();
    const worker = world.worker("a");
    await worker.claim();
    expect(Object.keys(await worker.session())).not.toContain("slots");
    expect(Object.keys((await world.all("tokenSessions"))[0]!)).not.toContain("origin");
    expect((await shown(world))[0]).not.toHaveProperty("origin");
  });

  test.each([
    ["a hostname of 65 characters", { hostname: "h".repeat(65) }],
    ["a blank version", { version: " " }],
    ["an app's version of a megabyte", { appVersion: "v".repeat(1_000_000) }],
    ["no slots", { slots: 0 }],
    ["more slots than a session has leases", { slots: 65 }],
    ["half a process", { pid: 1.5 }],
    ["a start that is no time", { startedAt: Number.NaN }],
  ])("that says %s is refused, by a claim and by a beat, and leaves no row", async (_what, bad) => {
    const world = await newWorld();
    const { claim, beat } = saying(world, world.worker("a"));
    for (const call of [claim(1, { ...facts, ...bad }), beat({ ...facts, ...bad })])
      expect(await refusal(call)).toMatchObject({ code: "invalidArgument" });
    expect(await world.all("sessions")).toEqual([]);
    expect(await world.all("tokenSessions")).toEqual([]);
  });
});

test("a live worker is shown before any number that has stopped since it was last seen", async () => {
  const world = await newWorld();
  await world.worker("alive").claim();
  await world.advance(1_000);
  for (let n = 0; n < 100; n += 1) {
    const gone = world.worker(`gone-${n}`);
    await gone.claim();
    const { token, sessionKey } = gone;
    await world.t.mutation(api.lib.leave, { token, sessionKey, leases: [], callSeq: 2 });
  }
  const all = await shown(world);
  expect(all).toHaveLength(100);
  expect(all.filter(({ state }) => state !== "stopped").map(({ name }) => name)).toEqual(["alive"]);
});

test.each([
  ["waits", 0],
  ["is at work", 1],
])(
  "a worker outside that %s is shown before any number of lanes that are awake",
  async (_, jobs) => {
    const world = await newWorld();
    for (let n = 0; n < jobs; n += 1) await world.enqueue();
    await world.worker("outside").claim();
    await world.t.run(async (ctx) => {
      const [outside] = await ctx.db.query("sessions").collect();
      const { _id: session, _creationTime, token: _token, ...kept } = outside!;
      const fields = { ...kept, leases: [] };
      const lane = await ctx.db.insert("lanes", { queue: "tiles", session, cap: 1 });
      for (let n = 0; n < 100; n += 1)
        await ctx.db.insert("sessions", {
          ...{ ...fields, sessionKey: `lane${n}`, name: `lane${n}`, lane, state: "active" },
          ...{ lastSeenAt: Date.now() + 1, expiresAt: outside!.expiresAt + 20_000 },
        });
    });
    const all = await shown(world);
    expect(all).toHaveLength(100);
    expect(all[0]).toMatchObject({ name: "outside", isLane: false });
    // They hold no lease, as no session that is at work does.
    await world.t.run(async (ctx) => {
      for (const { _id, lane } of await ctx.db.query("sessions").collect())
        if (lane !== undefined) await ctx.db.delete("sessions", _id);
    });
  },
);

const RETRY = { initialBackoffMs: 1_000, base: 2, maxBackoffMs: 60_000 };

describe("a worker that an operator has quieted", () => {
  const quiet = async (world: World, operation: "quietWorker" | "resumeWorker" = "quietWorker") => {
    const { id } = (await shown(world))[0]!;
    return await world.t.mutation(api.operate[operation], { id });
  };

  // Shows F20.
  test("is given no job, keeps those in hand, and hears of it with each answer", async () => {
    const world = await newWorld();
    await world.enqueueBatch([1, 2]);
    const worker = world.worker("a");
    const { claim, beat } = saying(world, worker);
    const first = await claim(1, facts);
    expect(first).not.toHaveProperty("isQuiet");
    const [job] = first.jobs;
    expect(await quiet(world)).toEqual({ changed: true });
    expect(await quiet(world)).toEqual({ changed: false });
    for (const _ of ["claim", "repeat"])
      expect(await claim(2, facts, 4)).toMatchObject({ jobs: [], isQuiet: true });
    expect(await beat(facts, [leaseOf(job!)])).toMatchObject({
      ...{ answers: [{ answer: "ok" }], isQuiet: true },
    });
    for (const _ of ["completion", "repeat"]) {
      const reply = await worker.complete([succeeded(job!)], { n: 3, claim: 4 });
      expect(reply).toMatchObject({ words: ["ok"], jobs: [], isQuiet: true });
    }
    expect(await shown(world)).toMatchObject([{ quietBy: "operator", state: "waiting", done: 1 }]);
    const { token, sessionKey } = worker;
    expect(await world.t.query(api.lib.isQuiet, { token, sessionKey })).toBe(true);
    await quiet(world, "resumeWorker");
    expect(await world.t.query(api.lib.isQuiet, { token, sessionKey })).toBe(false);
    const next = await claim(4, facts);
    expect(next.jobs).toHaveLength(1);
    expect(next).not.toHaveProperty("isQuiet");
  });

  test("leaves the jobs to others", async () => {
    const world = await newWorld();
    await world.worker("a").claim();
    await quiet(world);
    const id = await world.enqueue();
    expect((await world.worker("b").claim()).map((job) => job.id)).toEqual([id]);
  });

  test("is named by nothing but its own id: no lane, no job, no other text", async () => {
    const world = await newWorld();
    const job = await world.enqueue();
    for (const id of ["", "a", job, "x".repeat(100_000)]) {
      const refused = await refusal(world.t.mutation(api.operate.quietWorker, { id }));
      expect(refused).toMatchObject({ code: "unknownWorker" });
      expect(JSON.stringify(refused).length).toBeLessThan(600);
    }
  });

  test("answers no other token whether it is so", async () => {
    const world = await newWorld();
    const worker = world.worker("a");
    await worker.claim();
    const other = { name: "other", queues: null };
    const { token } = await world.t.mutation(api.operate.createToken, other);
    const { sessionKey } = worker;
    expect(await refusal(world.t.query(api.lib.isQuiet, { token, sessionKey }))).toMatchObject({
      code: "sessionForbidden",
    });
  });
});
