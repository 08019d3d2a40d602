/** The end of a lane: its queue is closed, its process takes no more, or it is the last of its process. */
import { expect, test, vi } from "vitest";
import { commitTimeOf, JANITOR_PERIOD_MS } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import type { Doc } from "../_generated/dataModel.js";
import type { MutationCtx } from "../_generated/server.js";
import { app, succeeded, type World } from "../setup.test.js";
import {
  configure,
  gateFor,
  laneNow,
  laneOf,
  leasesOf,
  nextOf,
  stepBy,
  toldWorld,
  type Awake,
  type Said,
} from "./laneStepSetup.test.js";
import {
  gateOf,
  inOne,
  jobsOf,
  lanesOf,
  namesOf,
  pushedWorld,
  QUEUE,
  wakesAmong,
} from "./wakeSetup.test.js";

const over = { answers: [], jobs: [], lookAfterMs: null, isOver: true };

/** Its process has no time left for a job. */
const OLD = { in: { endsAt: 0 } };

type State = Doc<"gates">["state"];
interface Plan {
  holds?: number;
  cap?: number;
  gate?: State;
  /** The gate names this lane, unless it is full or quiet. */
  isOwn?: boolean;
}

/** A lane under this gate, in a queue with a job that waits. */
async function under({ holds = 0, cap = 4, gate, isOwn = true }: Plan) {
  const world = await pushedWorld({ fallbackAfterMs: 0 });
  await jobsOf(world, holds + 1);
  const lane = await laneOf(world, { cap, holds });
  const [other] = await lanesOf(world, "awake", 0);
  const guard = isOwn ? lane.lane : other!;
  const isNamed = gate === "guarded" || gate === "leaving";
  if (gate !== undefined) await gateOf(world, gate, isNamed ? { guard } : {});
  return { world, lane };
}

/** The end of a lane by this call: its next step, the wakes, the gate, and its row. */
async function endOf(world: World, lane: Awake, said: Said = {}) {
  const { reply, functions } = await stepBy(world, lane, said);
  const gate = await gateFor(world, lane);
  const { cap, state } = await laneNow(world, lane);
  return {
    next: nextOf(reply),
    wakes: wakesAmong(functions),
    gate: gate?.state ?? null,
    cap,
    state,
  };
}

const pause = async (world: World) =>
  await world.t.mutation(api.operate.pauseQueue, { queue: QUEUE });
const unpush = async (world: World) => await configure(world, { push: false });

// --- A queue that is closed ----------------------------------------------------------------------

test("a lane of a paused queue, or of one that Convex no longer runs, leaves without a job that waits; a resume wakes the queue", async () => {
  for (const close of [pause, unpush])
    for (const gate of ["guarded", "leaving"] as const) {
      const { world, lane } = await under({ gate });
      await close(world);
      const left = { next: over, wakes: [], gate: "quiet", cap: 1, state: "idle" };
      expect(await endOf(world, lane)).toEqual(left);
      expect(await gateFor(world, lane)).toMatchObject({ by: "none", isOpen: false });
    }
});

test("a lane that frees room of a paused queue leaves the full gate to the resume", async () => {
  for (const close of [pause, unpush]) {
    const { world, lane } = await under({ gate: "full" });
    await close(world);
    expect(await endOf(world, lane)).toEqual({
      next: over,
      wakes: [],
      gate: "full",
      cap: 1,
      state: "idle",
    });
  }
});

test("a lane of a paused queue is over with its running jobs, and keeps room for them only", async () => {
  const { world, lane } = await under({ holds: 2, gate: "guarded" });
  await pause(world);
  const drains = { next: over, wakes: [], gate: "quiet", cap: 2, state: "active" };
  expect(await endOf(world, lane)).toEqual(drains);
});

test("where the callback of a job pauses the queue, or has Convex no longer run it, the lane takes no job more", async () => {
  const paused = async ({ runMutation }: MutationCtx) =>
    await runMutation(api.operate.pauseQueue, { queue: QUEUE });
  const outside = async ({ db }: MutationCtx) => {
    const { _id, config } = (await db.query("queues").first())!;
    await db.patch("queues", _id, { config: { ...config, push: false } });
  };
  for (const change of [paused, outside]) {
    const world = await toldWorld();
    await jobsOf(world, 2);
    const lane = await laneOf(world, { cap: 1, holds: 1 });
    await gateOf(world, "guarded", { guard: lane.lane });
    app.onComplete = async (ctx) => void (await change(ctx));
    const [ended] = await leasesOf(world, lane);
    const after = await endOf(world, lane, { finished: [succeeded(ended!)] });
    const next = { ...over, answers: [{ ...ended, answer: "ok" }] };
    expect(after).toEqual({ next, wakes: [], gate: "quiet", cap: 1, state: "idle" });
  }
});

// --- A process whose time is over ----------------------------------------------------------------

test("a polling lane of a process that takes no more leaves, and a wake searches for the jobs that relied on it", async () => {
  for (const gate of ["guarded", "leaving"] as const) {
    const { world, lane } = await under({ gate });
    const left = { next: over, wakes: [{ afterMs: 0 }], gate: "quiet", cap: 1, state: "idle" };
    expect(await endOf(world, lane, OLD)).toEqual(left);
  }
});

test("where jobs are left to workers outside first, the wake of a polling lane that leaves comes again once they have waited", async () => {
  const { world, lane } = await under({ gate: "guarded" });
  await configure(world, { fallbackAfterMs: 5_000 });
  const { wakes } = await endOf(world, lane, OLD);
  expect(wakes).toEqual([{ againAfterMs: 5_000, afterMs: 0 }]);
});

test("in a full queue a lane of a process that takes no more has a wake fill the room that it frees, and none where it frees none", async () => {
  const freed = await under({ holds: 2, cap: 3, gate: "full" });
  const drains = { next: over, gate: "full", cap: 2, state: "active" };
  const wakes = [{ afterMs: 0 }];
  expect(await endOf(freed.world, freed.lane, OLD)).toEqual({ ...drains, wakes });
  const none = await under({ holds: 2, cap: 2, gate: "full" });
  expect(await endOf(none.world, none.lane, OLD)).toEqual({ ...drains, wakes: [] });
  const left = await under({ cap: 1, gate: "full" });
  expect(await endOf(left.world, left.lane, OLD)).toEqual({
    next: over,
    gate: "full",
    wakes,
    cap: 1,
    state: "idle",
  });
});

test("where another lane polls, or none, a lane of a process that takes no more leaves the gate as it is, without a wake", async () => {
  for (const gate of ["guarded", "leaving", "quiet"] as const)
    for (const holds of [0, 2]) {
      const { world, lane } = await under({ holds, gate, isOwn: false });
      const state = holds === 0 ? "idle" : "active";
      const ended = { next: over, wakes: [], gate, cap: Math.max(1, holds), state };
      expect(await endOf(world, lane, OLD)).toEqual(ended);
    }
});

test("a lane that has drained to a lowered bound keeps no room", async () => {
  const { world, lane } = await under({ holds: 2, cap: 2 });
  await configure(world, { maxParallelism: 1 });
  await endOf(world, lane);
  const [first, second] = await leasesOf(world, lane);
  const ended = await endOf(world, lane, {
    ...OLD,
    finished: [succeeded(first!), succeeded(second!)],
  });
  expect(ended).toMatchObject({ cap: 0, state: "idle" });
});

test("a lane that ends with more jobs than a lowered bound allows is not written as if it kept to that bound", async () => {
  const { world, lane } = await under({ holds: 2, cap: 2 });
  await configure(world, { maxParallelism: 1 });
  expect(await endOf(world, lane, OLD)).toMatchObject({ next: over, cap: 2, state: "active" });
  expect(await laneNow(world, lane)).toMatchObject({ under: 5 });
});

test("a lane takes jobs for as long as they end before its process, and no longer", async () => {
  const timeoutMs = 60_000;
  for (const [left, isOver] of [
    [timeoutMs, false],
    [timeoutMs - 1, true],
  ] as const) {
    const world = await pushedWorld({ timeoutMs });
    await jobsOf(world, 1);
    const lane = await laneOf(world, { cap: 4 });
    await gateOf(world, "guarded", { guard: lane.lane });
    const { next } = await endOf(world, lane, { in: { endsAt: Date.now() + left } });
    expect(next).toMatchObject({ isOver, jobs: isOver ? [] : [0] });
  }
});

test("a lane takes no jobs in a process of another version, and none where it runs in no process", async () => {
  for (const report of [{ version: "0.0.0" }, null]) {
    const { world, lane } = await under({ gate: "guarded" });
    const { next, gate, state } = await endOf(world, lane, { in: report });
    expect({ next, gate, state }).toEqual({ next: over, gate: "quiet", state: "idle" });
  }
});

// --- Jobs that run for longer than the process ---------------------------------------------------

const LONG = { timeoutMs: 8 * 60_000 };

/** A lane of a process that ends before the only job that waits could. */
async function besideLong(gate: State, isOwn = true) {
  const world = await pushedWorld({ timeoutMs: 60_000 });
  await world.enqueue("long", { rules: LONG });
  const lane = await laneOf(world, { cap: 4 });
  const [other] = await lanesOf(world, "awake", 0);
  const guard = isOwn ? lane.lane : other!;
  await gateOf(world, gate, gate === "full" ? {} : { guard });
  vi.setSystemTime(Date.now() + 4_000);
  const ended = await endOf(world, lane, { in: { endsAt: Date.now() + 5 * 60_000 } });
  const waiting = (await world.all("waitingQueues")).map(({ queue, isServed }) => ({
    queue,
    isServed,
  }));
  return { ...ended, waiting };
}

test("a polling lane that finds a job which would outlive its process leaves it to another, by a wake", async () => {
  expect(await besideLong("guarded")).toEqual({
    ...{ next: over, wakes: [{ afterMs: 0 }], gate: "quiet", cap: 1, state: "idle" },
    waiting: [],
  });
});

test("in a full queue a lane that finds a job which would outlive its process has the queue wait for another, and polls", async () => {
  const after = await besideLong("full");
  expect(after.waiting).toEqual([{ queue: QUEUE, isServed: false }]);
  expect(after.wakes).toEqual([{ afterMs: 100 }]);
  expect(after).toMatchObject({ gate: "guarded", state: "active", next: { isOver: false } });
});

test("where another lane polls, a lane that finds a job which would outlive its process has no queue wait", async () => {
  const after = await besideLong("guarded", false);
  expect(after).toMatchObject({ waiting: [], wakes: [], gate: "guarded", state: "idle" });
});

// --- Its process ---------------------------------------------------------------------------------

const stateOf = async (world: World) => (await world.all("processes"))[0]!.state;

test("a process ends with the lane that leaves last, and not with one that still runs jobs", async () => {
  const last = await under({});
  expect((await stepBy(last.world, last.lane, { in: { closes: true } })).reply).toEqual({
    ...over,
    isClosed: true,
  });
  expect(await stateOf(last.world)).toBe("free");
  const one = await under({});
  expect((await stepBy(one.world, one.lane)).reply).toEqual(over);
  expect(await stateOf(one.world)).toBe("open");
  const running = await under({ holds: 1 });
  const { reply } = await stepBy(running.world, running.lane, { in: { ...OLD.in, closes: true } });
  expect(reply).toEqual(over);
  expect(await stateOf(running.world)).toBe("open");
});

/** A lane in a process that receives, to which another lane has been handed. */
async function receiving(holds: number) {
  const world = await pushedWorld();
  await jobsOf(world, holds);
  const lane = await laneOf(world, { cap: 4, holds, state: "receiving" });
  const start = { lane: "another", generation: 1, callSeq: 1, jobs: [] };
  const handOver = await inOne(world, async ({ db }) =>
    db.insert("handOvers", {
      ...{ process: lane.process, generation: 0, start },
      seq: db.vars.commitTs,
    }),
  );
  const upTo = commitTimeOf(Date.now() - 1_000);
  return { world, lane, upTo, told: { lanes: [{ ...start, handOver }], areWaiting: false } };
}

test("a process to which a lane was handed does not end with its last lane, and receives it", async () => {
  const { world, lane, upTo, told } = await receiving(0);
  const report = { closes: true, receivedUpTo: upTo };
  const { reply } = await stepBy(world, lane, { in: report });
  expect(reply).toMatchObject({ ...over, isClosed: false, handedOver: told });
  expect(await stateOf(world)).toBe("receiving");
});

test("a lane that goes on receives lanes that were handed to its process, where that asks for them", async () => {
  const { world, lane, upTo, told } = await receiving(1);
  expect((await stepBy(world, lane)).reply.handedOver).toBeUndefined();
  const { reply } = await stepBy(world, lane, { in: { receivedUpTo: upTo, closes: true } });
  expect(reply).toMatchObject({ isOver: false, handedOver: told });
  expect(reply.isClosed).toBeUndefined();
});

// --- At rest -------------------------------------------------------------------------------------

/** A lane that began with a sweep of its own, and reports the end of its jobs but for so many. */
async function atRest(left: number) {
  const world = await pushedWorld();
  await jobsOf(world, 1 + left);
  const lane = await laneOf(world, { cap: 1 + left, holds: 1 + left });
  vi.spyOn(Math, "random").mockReturnValue(0.5);
  await inOne(world, async ({ db }) => {
    const timer = (await db.query("timers").first())!._id;
    await db.patch("sessions", lane.session, { sweep: { timer, madeAt: Date.now() } });
    await db.patch("timers", timer, { dueAt: Date.now() + JANITOR_PERIOD_MS });
  });
  const [ended] = await leasesOf(world, lane);
  const { functions } = await stepBy(world, lane, { finished: [succeeded(ended!)] });
  return {
    timers: (await world.all("timers")).map(({ kind }) => kind),
    functions: namesOf(functions),
  };
}

test("the lane that leaves last calls off the sweep with which it began, and has the job counted; one that goes on does not", async () => {
  expect(await atRest(0)).toEqual({ timers: ["rollUp"], functions: ["count/rollUp:countEnds"] });
  expect(await atRest(1)).toEqual({ timers: ["janitor"], functions: [] });
});

test("a job in a lane continues in any group, and in a queue that no call has declared yet", async () => {
  const world = await pushedWorld({ fallbackAfterMs: 0 });
  await jobsOf(world, 1);
  const lane = await laneOf(world, { cap: 4, holds: 1 });
  const [job] = await world.all("jobs");
  const other = { ...world.queue, name: "undeclared" };
  const jobs = [{ payload: 1 }, { payload: 2, options: { group: "any" } }];
  const report = {
    ...succeeded({ id: job!._id, attempt: 1 }),
    continued: [{ queue: other, jobs }],
  };
  await stepBy(world, lane, { finished: [report] });
  expect((await world.all("queues")).map(({ name }) => name)).toEqual([QUEUE, "undeclared"]);
  const rows = await world.all("jobs");
  expect(rows.map(({ queue, status, group }) => [queue, status, group])).toEqual([
    [QUEUE, "succeeded", undefined],
    ["undeclared", "pending", undefined],
    ["undeclared", "pending", "any"],
  ]);
  expect(rows.some((row) => "ofWorker" in row || "traceparent" in row)).toBe(false);
});
