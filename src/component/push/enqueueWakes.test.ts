/** The wake that a job needs as it becomes claimable, by what its transaction sees of the queue: which, when, and for how many. */
import { describe, expect, test, vi } from "vitest";
import type { NewJob } from "../../shared/index.js";
import { api, internal } from "../_generated/api.js";
import { quieten, setGate } from "../edges/wakes.js";
import { getQueue } from "../rows/queues.js";
import type { World } from "../setup.test.js";
import { gateOf, inOne, planned, pushedWorld, QUEUE, wakesAmong } from "./wakeSetup.test.js";

const FALLBACK_MS = 60_000;

const wakes = async (world: World) => wakesAmong(await planned(world));

/** Jobs by one call of `enqueue` for each list, all in one transaction. */
const together = async (world: World, ...calls: NewJob[][]) =>
  await inOne(world, async (ctx) => {
    for (const jobs of calls) await ctx.runMutation(api.lib.enqueue, { queue: world.queue, jobs });
  });

const job = (options: NewJob["options"] = {}): NewJob => ({ payload: 1, options });
const OUTSIDE = job({ labels: ["gpu"] });

/** The call of the alarm that is to promote the jobs that fall due first. */
const dispatcherOf = async (world: World) => {
  const [alarm] = (await world.all("timers")).filter(({ kind }) => kind === "dispatcher");
  return { timer: alarm!._id, generation: alarm!.generation ?? 0 };
};

/** Which jobs name a wake, by their order. */
const named = async (world: World) =>
  (await world.all("jobs")).flatMap(({ wake }, n) => (wake === undefined ? [] : [n]));

describe("a job that Convex runs at once", () => {
  test("has a wake that says that it came alone, and names it", async () => {
    const world = await pushedWorld({ fallbackAfterMs: 0 });
    const id = await world.enqueue();
    const now = { job: id, dueAt: Date.now(), isAlone: true, afterMs: 0 };
    expect(await wakes(world)).toEqual([now]);
    expect(await named(world)).toEqual([0]);
  });

  test("shares a wake with the others of its call, which the first names and none has alone", async () => {
    const world = await pushedWorld({ fallbackAfterMs: 0 });
    const [first] = await world.enqueueBatch([1, 2, 3]);
    expect(await wakes(world)).toEqual([{ job: first, dueAt: Date.now(), afterMs: 0 }]);
    expect(await named(world)).toEqual([0]);
  });

  test("shares a wake with earlier calls of its transaction, and with none that Convex does not run", async () => {
    const world = await pushedWorld({ fallbackAfterMs: 0 });
    await together(world, [OUTSIDE], [job()], [job()], [OUTSIDE, job()]);
    const rows = await world.all("jobs");
    const alone = { job: rows[1]!._id, dueAt: Date.now(), isAlone: true, afterMs: 0 };
    expect(await wakes(world)).toEqual([alone]);
    expect(await named(world)).toEqual([1]);
  });

  test.each([
    ["guarded", 0],
    ["full", 0],
    ["leaving", 1],
    ["quiet", 1],
  ] as const)("beside a gate that is %s has %d wakes", async (state, count) => {
    const world = await pushedWorld({ fallbackAfterMs: 0 });
    await gateOf(world, state);
    await world.enqueue();
    expect(await wakes(world)).toHaveLength(count);
  });

  test("has a wake where the door is closed since the snapshot that showed a guard, or where no gate was", async () => {
    const closed = await pushedWorld({ fallbackAfterMs: 0 });
    await gateOf(closed, "guarded");
    await inOne(closed, async ({ db }) => {
      const [door] = await db.query("doors").collect();
      await db.patch("doors", door!._id, { open: false });
    });
    await closed.enqueue();
    expect(await wakes(closed)).toHaveLength(1);
    const ungated = await pushedWorld({ fallbackAfterMs: 0 });
    await inOne(
      ungated,
      async ({ db }) => void (await db.insert("doors", { queue: QUEUE, open: true })),
    );
    await ungated.enqueue();
    expect(await wakes(ungated)).toHaveLength(1);
    const doorless = await pushedWorld({ fallbackAfterMs: 0 });
    await inOne(
      doorless,
      async ({ db }) => void (await db.insert("gates", { queue: QUEUE, state: "full" })),
    );
    await doorless.enqueue();
    expect(await wakes(doorless)).toHaveLength(1);
  });

  test("has none in a paused queue, in one that workers outside serve, and by labels that Convex has not", async () => {
    const paused = await pushedWorld({ fallbackAfterMs: 0 });
    await paused.t.mutation(api.operate.pauseQueue, { queue: QUEUE });
    await paused.enqueue();
    expect(await wakes(paused)).toEqual([]);
    const pulled = await pushedWorld({ fallbackAfterMs: 0 });
    pulled.queue.config = { ...pulled.queue.config, push: false };
    await pulled.t.mutation(api.lib.declare, { queues: [pulled.queue] });
    await pulled.enqueue();
    expect(await wakes(pulled)).toEqual([]);
    const labelled = await pushedWorld({ fallbackAfterMs: 0 });
    await labelled.enqueueJobs([OUTSIDE]);
    expect(await wakes(labelled)).toEqual([]);
  });

  test("that falls due while it is paused has none", async () => {
    const world = await pushedWorld({ fallbackAfterMs: 0 });
    for (const pauses of [false, true]) {
      const id = await world.enqueue(1, { runAfter: 1_000 });
      if (pauses) await world.t.mutation(api.operate.pauseJob, { id });
      const dueAt = Date.now() + 1_000;
      const before = (await planned(world)).length;
      vi.setSystemTime(dueAt);
      await world.t.mutation(internal.edges.dispatcher.promoteDue, await dispatcherOf(world));
      expect(await world.job(id)).toMatchObject({ status: "pending" });
      const after = wakesAmong((await planned(world)).slice(before));
      expect(after).toHaveLength(pauses ? 0 : 1);
    }
  });

  test("that is paused has none until it is resumed", async () => {
    const world = await pushedWorld({ fallbackAfterMs: 0 });
    const id = await world.enqueue();
    await world.t.mutation(api.operate.pauseJob, { id });
    await world.t.mutation(api.operate.resumeJob, { id });
    const [, again] = await wakes(world);
    expect(again).toEqual({ job: id, dueAt: Date.now(), afterMs: 0 });
  });
});

describe("a job that is left to workers outside first", () => {
  const shared = async (worker?: { groups?: string[] }) => {
    const world = await pushedWorld({ fallbackAfterMs: FALLBACK_MS, shards: 1 });
    if (worker !== undefined) await world.worker("outside").claim(1, worker);
    return world;
  };
  const soon = { dueAt: Date.parse("2026-01-01"), afterMs: 0 };
  const later = { dueAt: soon.dueAt + FALLBACK_MS, afterMs: FALLBACK_MS };

  test("has a wake at once where no worker is there, later beside one, and one apart where none may run it", async () => {
    for (const [world, wake] of [
      [await shared(), soon],
      [await shared({}), later],
      [await shared({ groups: ["x"] }), { ...soon, isApart: true }],
    ] as const) {
      const id = await world.enqueue();
      expect(await wakes(world)).toEqual([{ job: id, isAlone: true, ...wake }]);
      expect(await named(world)).toEqual([0]);
    }
  });

  test("shares its wake with others of its kind, and names none then: one of each kind is planned", async () => {
    const world = await shared({ groups: ["x"] });
    const ofX = job({ group: "x" });
    await together(world, [ofX, job(), ofX, job()], [ofX], [job()]);
    const [first, second] = await world.all("jobs");
    expect(await wakes(world)).toEqual([
      { job: first!._id, ...later },
      { job: second!._id, ...soon, isApart: true },
    ]);
    expect(await named(world)).toEqual([]);
  });

  test("has one beside a job of another kind that an earlier call of its transaction brought", async () => {
    const world = await shared({ groups: ["x"] });
    await together(world, [job({ group: "x" })], [job()], [job({ group: "x" })]);
    expect(await wakes(world)).toMatchObject([
      { ...later, isAlone: true },
      { ...soon, isApart: true },
    ]);
    expect(await named(world)).toEqual([0, 1]);
  });

  test("is seen among sixteen jobs of its transaction: beside more of another kind it has a wake of its own", async () => {
    for (const [beside, count] of [
      [15, 2],
      [16, 3],
    ] as const) {
      const world = await shared({ groups: ["x"] });
      const others = Array.from({ length: beside }, () => job({ group: "x" }));
      await together(world, [job()], others, [job()]);
      expect(await wakes(world), `${beside}`).toHaveLength(count);
    }
  });

  test("relies on wakes of earlier calls in sixteen places: a call with jobs in more has one of its own", async () => {
    for (const [places, count] of [
      [16, 1],
      [17, 2],
    ] as const) {
      const world = await shared({});
      const jobs = Array.from({ length: places }, (_, n) => job({ priority: n - 8 }));
      await together(world, jobs, [...jobs, ...jobs]);
      expect(await wakes(world), `${places}`).toHaveLength(count);
    }
  });

  test("has no wake where a lane polls", async () => {
    for (const [state, count] of [
      ["guarded", 0],
      ["full", 0],
      ["quiet", 1],
    ] as const) {
      const world = await shared({});
      await gateOf(world, state);
      await together(world, [job(), job()], [job()]);
      expect(await wakes(world)).toHaveLength(count);
    }
  });
});

describe("a claim of a worker outside", () => {
  const state = async (world: World) => {
    const rows = await world.t.query(({ db }) => db.system.query("_scheduled_functions").collect());
    return rows.filter(({ name }) => name === "push/wake:wake").map((row) => row.state.kind);
  };

  test("calls off the wake of a job that came alone, also where its queue leaves jobs to workers since then", async () => {
    const world = await pushedWorld({ fallbackAfterMs: 0, shards: 1 });
    const worker = world.worker("outside");
    // The second, elsewhere, relies on the wake of the first.
    await world.enqueueJobs([job({ priority: 1 }), job()]);
    await world.enqueueJobs([job({ priority: 2 })]);
    world.queue.config = { ...world.queue.config, fallbackAfterMs: FALLBACK_MS };
    await world.t.mutation(api.lib.declare, { queues: [world.queue] });
    const before = await state(world);
    expect(await worker.claim(2)).toHaveLength(2);
    expect(before.slice(0, 2)).toEqual(["pending", "pending"]);
    expect((await state(world)).slice(0, 2)).toEqual(["pending", "canceled"]);
  });

  test("leaves a wake that has run", async () => {
    const world = await pushedWorld({ fallbackAfterMs: FALLBACK_MS, shards: 1 });
    const id = await world.enqueue();
    await inOne(world, async ({ db }) => {
      const { wake } = (await db.get("jobs", id))!;
      const states = db as unknown as { patch(id: unknown, fields: object): Promise<void> };
      await states.patch(wake, { state: { kind: "success" } });
    });
    expect(await world.worker("outside").claim()).toHaveLength(1);
    expect(await state(world)).toEqual(["success"]);
  });
});

test("a queue that more lanes may serve since a deploy has a wake by the call that declares it, and another deploy has none", async () => {
  for (const [change, count] of [
    [{ maxParallelism: 9 }, 1],
    [{ maxParallelism: 4 }, 0],
    [{ leaseMs: 20_000 }, 0],
  ] as const) {
    const world = await pushedWorld({ fallbackAfterMs: 0 });
    world.queue.config = { ...world.queue.config, ...change };
    await world.t.mutation(api.lib.declare, { queues: [world.queue] });
    expect(await wakes(world), JSON.stringify(change)).toEqual(count === 0 ? [] : [{ afterMs: 0 }]);
  }
});

test("a queue that is resumed has a wake at once, which comes again for jobs that are left to workers", async () => {
  for (const [fallbackAfterMs, wake] of [
    [0, { afterMs: 0 }],
    [FALLBACK_MS, { againAfterMs: FALLBACK_MS, afterMs: 0 }],
  ] as const) {
    const world = await pushedWorld({ fallbackAfterMs });
    await world.t.mutation(api.operate.pauseQueue, { queue: QUEUE });
    await world.enqueue();
    await world.t.mutation(api.operate.resumeQueue, { queue: QUEUE });
    expect(await wakes(world)).toEqual([wake]);
  }
});

test("a gate and its door are written where they change, and only then", async () => {
  const world = await pushedWorld();
  const set = async (next: Parameters<typeof setGate>[3]) => {
    await inOne(world, async (ctx) => {
      const gate = await ctx.db.query("gates").first();
      await setGate(ctx, gate, QUEUE, next);
    });
    const rows = { gates: await world.all("gates"), doors: await world.all("doors") };
    return {
      gates: rows.gates.map(({ state, isVain = false }) => [state, isVain]),
      doors: rows.doors.map(({ open }) => open),
    };
  };
  expect(await set({ state: "quiet" })).toEqual({ gates: [], doors: [] });
  expect(await set({ state: "full" })).toEqual({ gates: [["full", false]], doors: [true] });
  expect(await set({ state: "quiet" })).toEqual({ gates: [["quiet", false]], doors: [false] });
  expect(await set({ state: "quiet", isVain: true })).toEqual({
    gates: [["quiet", true]],
    doors: [false],
  });
  const write = vi.fn();
  await inOne(world, async (ctx) => {
    const gate = await ctx.db.query("gates").first();
    const db = new Proxy(ctx.db, {
      get: (of, name) =>
        name === "replace" || name === "patch" || name === "insert" ? write : Reflect.get(of, name),
    });
    await setGate({ ...ctx, db }, gate, QUEUE, { state: "quiet", isVain: true });
  });
  expect(write).not.toHaveBeenCalled();
  expect(await set({ state: "full", isVain: true })).toEqual({
    gates: [["full", true]],
    doors: [true],
  });
});

test("a gate that is quietened says still that it was opened in vain, and a wake comes", async () => {
  for (const vain of [{}, { isVain: true }]) {
    const world = await pushedWorld({ fallbackAfterMs: FALLBACK_MS });
    await gateOf(world, "full", vain);
    await inOne(world, async (ctx) => {
      const gate = await ctx.db.query("gates").first();
      await quieten(ctx, gate, await getQueue(ctx.db, QUEUE));
    });
    const [gate] = await world.all("gates");
    expect(gate).toMatchObject({ state: "quiet", ...vain });
    expect("isVain" in gate!).toBe("isVain" in vain);
    expect(await world.all("doors")).toMatchObject([{ open: false }]);
    expect(await wakes(world)).toEqual([{ againAfterMs: FALLBACK_MS, afterMs: 0 }]);
  }
  const ungated = await pushedWorld({ fallbackAfterMs: 0 });
  await inOne(ungated, async (ctx) => await quieten(ctx, null, await getQueue(ctx.db, QUEUE)));
  expect(await ungated.all("gates")).toEqual([]);
  expect(await wakes(ungated)).toEqual([{ afterMs: 0 }]);
});
