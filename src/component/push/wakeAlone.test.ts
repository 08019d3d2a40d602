/** A wake for a job that came by itself: it takes that one alone, in a lane that has kept room for one, if it may. */
import { afterEach, expect, test, vi } from "vitest";
import { LANE_LOOK_MS, PUSH_TIMEOUT_DEFAULT_MS } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import type { Id } from "../_generated/dataModel.js";
import { newWorld, type World } from "../setup.test.js";
import {
  gateOf,
  jobsOf,
  lanesOf,
  MUTATION,
  namesOf,
  pushedWorld,
  slotsOf,
  standingOf,
  wakeBy,
} from "./wakeSetup.test.js";

afterEach(() => vi.restoreAllMocks());

const PROCESS = "push/laneAction:laneProcess";
const SINGLE = "push/laneOnce:runSingle";
const SWEEP = "tend/janitor:sweep";
const OPEN = { state: "open" } as const;
const FREE = { state: "free" } as const;

/** Two jobs, and a wake of the second, which came by itself. */
async function wakeOfSecond(world: World) {
  const ids = await jobsOf(world, 2);
  return await wakeBy(world, { job: ids[1]!, isAlone: true });
}

const sessionOf = async (world: World, lane: Id<"lanes">) =>
  (await world.all("sessions")).find((session) => session.lane === lane)!;

// --- Whether it does so --------------------------------------------------------------------------

test("a job that came by itself begins alone in the lane that has kept room for one, in a process that carries it", async () => {
  const world = await pushedWorld();
  const [lane] = await lanesOf(world, "asleep", 1);
  const planned = await wakeOfSecond(world);
  expect(namesOf(planned).sort()).toEqual([PROCESS, SWEEP]);
  const { args, afterMs } = planned.find(({ name }) => name === PROCESS)!;
  expect(afterMs).toBe(0);
  const [, second] = await world.all("jobs");
  expect(args).toMatchObject({
    ...{ places: 1, receives: false, openedAt: Date.now() },
    lanes: [{ lane, jobs: [{ job: { id: second!._id } }] }],
  });
  expect(args.lanes[0].lookAfterMs).toBeUndefined();
  expect(await standingOf(world)).toEqual({ running: [1], gate: null, caps: [1] });
  // Nothing runs beside it, so that it may cancel the sweep when it leaves.
  const [timer] = await world.all("timers");
  expect((await sessionOf(world, lane!)).sweep).toEqual({ timer: timer!._id, madeAt: Date.now() });
});

test.each([
  ["quiet", {}, [1]],
  ["quiet", { isVain: true }, [1]],
  ["leaving", { isVain: true }, [1]],
  ["leaving", {}, [0, 1]],
  ["leaving", { isVain: false }, [0, 1]],
] as const)(
  "beside a gate that is %s, with %o, the jobs %j begin: a lane that finds jobs until it leaves may leave some behind",
  async (state, fields, running) => {
    const world = await pushedWorld();
    await gateOf(world, state, fields);
    await lanesOf(world, "asleep", 1);
    await wakeOfSecond(world);
    expect((await standingOf(world)).running).toEqual(running);
  },
);

test("a wake that does not say that its job came by itself takes the ones that came before it", async () => {
  const world = await pushedWorld();
  await lanesOf(world, "asleep", 1);
  const ids = await jobsOf(world, 3);
  await wakeBy(world, { job: ids[1]! });
  expect((await standingOf(world)).running).toEqual([0, 1]);
});

test("a job beside which another came by the same transaction does not begin alone", async () => {
  const world = await pushedWorld();
  await lanesOf(world, "asleep", 1);
  await jobsOf(world, 1);
  await world.t.mutation(async (ctx) => {
    for (let n = 0; n < 2; n += 1)
      await ctx.runMutation(api.lib.enqueue, { queue: world.queue, jobs: [{ payload: n }] });
  });
  const [, job] = await world.all("jobs");
  await wakeBy(world, { job: job!._id, isAlone: true });
  expect((await standingOf(world)).running).toEqual([0, 1, 2]);
});

test("a job that is gone is not begun, and the wake takes the ones that wait", async () => {
  const world = await pushedWorld();
  await lanesOf(world, "asleep", 1);
  const ids = await jobsOf(world, 3);
  await world.cancel(ids[1]!);
  await wakeBy(world, { job: ids[1]!, isAlone: true });
  expect((await standingOf(world)).running).toEqual([0, 2]);
});

test("where the time of a job that came by itself is over, an earlier one that waits begins, and that one is left to its alarm", async () => {
  const world = await pushedWorld();
  await lanesOf(world, "asleep", 1);
  await jobsOf(world, 1);
  const job = await world.enqueue(1, { expiresAfterMs: 1_000 });
  vi.setSystemTime(Date.now() + 1_001);
  await wakeBy(world, { job, isAlone: true });
  expect((await standingOf(world)).running).toEqual([0]);
});

test("where its time is over, the wake begins a lane with a later job", async () => {
  const world = await pushedWorld();
  await lanesOf(world, "asleep", 1);
  const job = await world.enqueue(0, { expiresAfterMs: 1_000 });
  vi.setSystemTime(Date.now() + 1_001);
  await jobsOf(world, 1);
  await wakeBy(world, { job, isAlone: true });
  expect((await standingOf(world)).running).toEqual([1]);
});

test("a job that begins in a lane that has kept room leaves the other lanes alone, and makes none", async () => {
  const world = await pushedWorld({ maxParallelism: 10 });
  await lanesOf(world, "asleep", 1, 1);
  await wakeOfSecond(world);
  expect(await standingOf(world)).toEqual({ running: [1], gate: null, caps: [1, 1] });
});

test("without a lane that has kept room, a job that came by itself begins in a new one, and alone", async () => {
  const world = await pushedWorld();
  const planned = await wakeOfSecond(world);
  expect(namesOf(planned).sort()).toEqual([PROCESS, SWEEP]);
  expect(await standingOf(world)).toEqual({ running: [1], gate: null, caps: [1] });
  const [lane] = await world.all("lanes");
  // The wake has read all timers, as one with such a lane has.
  expect((await sessionOf(world, lane!._id)).sweep).toBeDefined();
});

test("a new lane has the number after the lanes that are there", async () => {
  const world = await pushedWorld();
  await lanesOf(world, "awake", 2, 1);
  await wakeOfSecond(world);
  const [, , lane] = await world.all("lanes");
  expect((await sessionOf(world, lane!._id)).name).toBe("tiles#2");
});

// --- Where it runs -------------------------------------------------------------------------------

test("a job whose handler is a mutation begins without a process, and without a slot", async () => {
  const world = await pushedWorld({ handler: MUTATION });
  await lanesOf(world, "asleep", 1);
  expect(namesOf(await wakeOfSecond(world)).sort()).toEqual([SINGLE, SWEEP]);
  expect(await world.all("processes")).toEqual([]);
  expect((await standingOf(world)).running).toEqual([1]);
});

test("a job whose handler is a mutation begins without a process in a new lane too", async () => {
  const world = await pushedWorld({ handler: MUTATION });
  expect(namesOf(await wakeOfSecond(world)).sort()).toEqual([SINGLE, SWEEP]);
  expect(await world.all("processes")).toEqual([]);
});

test("a job that brings a mutation of its own begins without a process too, in a queue that has no handler", async () => {
  const world = await newWorld({ push: true });
  const job = await world.enqueue(0, { rules: { handler: MUTATION } });
  expect(namesOf(await wakeBy(world, { job, isAlone: true })).sort()).toEqual([SINGLE, SWEEP]);
  expect((await standingOf(world)).running).toEqual([0]);
});

test("a mutation that has brought its lane down is run by a process, which reports it", async () => {
  const world = await pushedWorld({ handler: MUTATION });
  await lanesOf(world, "asleep", 1);
  const ids = await jobsOf(world, 1);
  await world.t.run((ctx) => ctx.db.patch("jobs", ids[0]!, { resets: 1 }));
  expect(namesOf(await wakeBy(world, { job: ids[0]!, isAlone: true }))).toContain(PROCESS);
});

test("beside more than two awake lanes a mutation that came by itself is run by a process, which then polls for all", async () => {
  for (const awake of [2, 3]) {
    const world = await pushedWorld({ handler: MUTATION, maxParallelism: 20 });
    await lanesOf(world, "awake", ...Array<number>(awake).fill(1));
    await lanesOf(world, "asleep", 1);
    const names = namesOf(await wakeOfSecond(world));
    expect(names.filter((name) => name !== SWEEP)).toEqual([awake === 3 ? PROCESS : SINGLE]);
    expect((await standingOf(world)).gate).toBe(awake === 3 ? "guarded" : null);
  }
});

test("where no process has room for a job that came by itself, the queue waits for one, and the lane keeps its room", async () => {
  const world = await pushedWorld();
  await lanesOf(world, "asleep", 1);
  await slotsOf(world, OPEN, OPEN, OPEN, OPEN);
  expect(namesOf(await wakeOfSecond(world)).sort()).toEqual(["push/wake:wake", SWEEP]);
  expect(await standingOf(world)).toEqual({
    ...{ running: [], gate: "full", caps: [1], waits: "unserved" },
  });
});

test("a job that came by itself and may run for longer than the receiver has left begins in another process, by its own bound", async () => {
  const ageMs = PUSH_TIMEOUT_DEFAULT_MS;
  for (const [timeoutMs, name] of [
    [20 * 60_000, PROCESS],
    [1_000, SWEEP],
  ] as const) {
    const world = await pushedWorld();
    await lanesOf(world, "asleep", 1);
    await slotsOf(world, { state: "receiving", ageMs }, OPEN, FREE, FREE);
    const job = await world.enqueue(0, { rules: { timeoutMs } });
    expect(namesOf(await wakeBy(world, { job, isAlone: true }))).toContain(name);
    expect(await world.all("handOvers")).toHaveLength(name === SWEEP ? 1 : 0);
  }
});

// --- Whether it polls -------------------------------------------------------------------------------

/** Lanes that are awake, and a job that came by itself. */
async function besideAwake(count: number, isVain?: boolean, spares = 1) {
  const world = await pushedWorld({ maxParallelism: 20 });
  if (isVain !== undefined) await gateOf(world, "quiet", { isVain });
  await lanesOf(world, "awake", ...Array<number>(count).fill(1));
  await lanesOf(world, "asleep", ...Array<number>(spares).fill(1));
  const planned = await wakeOfSecond(world);
  const { lanes } = planned.find(({ name }) => name === PROCESS)!.args;
  const { running, gate, caps } = await standingOf(world);
  expect(running).toEqual([1]);
  expect(lanes[0].lookAfterMs).toBe(gate === "guarded" ? LANE_LOOK_MS : undefined);
  return { gate, caps, lane: lanes[0].lane as string, world };
}

test.each([1, 0])(
  "with more than two lanes awake a job that came by itself makes its lane poll for all, with its own room alone; %i lanes had kept room",
  async (spares) => {
    expect((await besideAwake(2, undefined, spares)).gate).toBeNull();
    const { gate, caps, lane, world } = await besideAwake(3, undefined, spares);
    expect(gate).toBe("guarded");
    expect(caps).toEqual([1, 1, 1, 1]);
    expect(await world.all("gates")).toMatchObject([{ guard: lane, isVain: true }]);
  },
);

test.each([1, 0])(
  "where the last guard found no job, a lane polls for all one time in eight; %i lanes had kept room",
  async (spares) => {
    const random = vi.spyOn(Math, "random");
    random.mockReturnValue(0.125);
    expect((await besideAwake(3, true, spares)).gate).toBe("quiet");
    random.mockReturnValue(0.124);
    expect((await besideAwake(3, true, spares)).gate).toBe("guarded");
  },
);

test("where the last guard found a job, each lane polls for all", async () => {
  vi.spyOn(Math, "random").mockReturnValue(0.99);
  expect((await besideAwake(3, false)).gate).toBe("guarded");
});
