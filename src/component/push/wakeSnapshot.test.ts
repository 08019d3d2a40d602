/** A wake by a snapshot that is older than the rows: lanes have gone to sleep since, or woken, and jobs have come or gone. */
import { afterEach, expect, test, vi } from "vitest";
import type { Id } from "../_generated/dataModel.js";
import type { MutationCtx } from "../_generated/server.js";
import type { World } from "../setup.test.js";
import { LANES_ASKED } from "./lanes.js";
import {
  jobsOf,
  lanesOf,
  pushedWorld,
  standingOf,
  wakeAfter,
  wakeBy,
  wakesAmong,
} from "./wakeSetup.test.js";

afterEach(() => vi.restoreAllMocks());

/** The lanes with these numbers wake, or go to sleep. */
const become =
  (state: "active" | "idle", ...numbers: number[]) =>
  async ({ db }: MutationCtx) => {
    const lanes = await db.query("lanes").collect();
    for (const n of numbers) await db.patch("sessions", lanes[n]!.session, { state });
  };
const sleeps = become("idle", 0);

/** So many jobs the lanes run, in their order. */
const leasesOf = async (world: World) =>
  (await world.all("sessions"))
    .filter(({ lane }) => lane !== undefined)
    .map(({ leases }) => leases.length);

// --- Lanes that have gone to sleep since ------------------------------------------------------------

test("where a snapshot shows no room, a lane that has gone to sleep since begins", async () => {
  for (const [running, isAlone] of [
    [0, false],
    [1, true],
  ] as const) {
    const world = await pushedWorld({ maxParallelism: 3 });
    const ids = await jobsOf(world, 2);
    await lanesOf(world, "awake", 1, 2);
    await wakeAfter(world, sleeps, isAlone ? { job: ids[1]!, isAlone } : {});
    expect(await standingOf(world)).toEqual({ running: [running], gate: null, caps: [1, 2] });
    expect(await leasesOf(world)).toEqual([1, 0]);
  }
});

test("a lane that has gone to sleep since is not asked where the snapshot shows room", async () => {
  const world = await pushedWorld({ maxParallelism: 3 });
  await jobsOf(world, 3);
  await lanesOf(world, "awake", 1, 1);
  await wakeAfter(world, sleeps);
  expect(await standingOf(world)).toEqual({ running: [0], gate: null, caps: [1, 1, 1] });
});

test("of more lanes than a snapshot asks about the others are asked for real before a queue is full", async () => {
  const world = await pushedWorld({ maxParallelism: 2 * LANES_ASKED });
  const [job] = await jobsOf(world, 1);
  // The snapshot asks about the first of them.
  vi.spyOn(Math, "random").mockReturnValueOnce(0).mockReturnValue(0.5);
  await lanesOf(world, "awake", ...Array<number>(LANES_ASKED).fill(1));
  await lanesOf(world, "asleep", ...Array<number>(LANES_ASKED).fill(1));
  await wakeBy(world, { job: job! });
  expect((await standingOf(world)).running).toEqual([0]);
});

test("a lane that has gone to sleep since loses its room too where `maxParallelism` was lowered, and another wake comes", async () => {
  const world = await pushedWorld({ maxParallelism: 3 });
  const ids = await jobsOf(world, 1);
  await lanesOf(world, "awake", 1, 4);
  expect(wakesAmong(await wakeAfter(world, sleeps, { job: ids[0]! }))).toEqual([{ afterMs: 0 }]);
  expect(await standingOf(world)).toEqual({ running: [], gate: "full", caps: [0, 4] });
});

// --- Lanes that have woken since -------------------------------------------------------------------

test("a lane that has woken since gives no room away", async () => {
  const world = await pushedWorld({ maxParallelism: 3 });
  await jobsOf(world, 3);
  await lanesOf(world, "asleep", 1, 1, 1);
  await wakeAfter(world, become("active", 1));
  expect(await standingOf(world)).toEqual({ running: [0, 1], gate: null, caps: [2, 1, 0] });
});

test("a lane that has woken since is not begun anew: the job that came by itself begins in a new one, and alone", async () => {
  const world = await pushedWorld();
  await lanesOf(world, "asleep", 1);
  const ids = await jobsOf(world, 2);
  await wakeAfter(world, become("active", 0), { job: ids[1]!, isAlone: true });
  // With the lane that runs it come lanes for others that come so, as far as there is room.
  expect(await standingOf(world)).toEqual({ running: [1], gate: null, caps: [1, 1, 1, 1] });
  expect(await leasesOf(world)).toEqual([0, 1, 0, 0]);
});

test("where all lanes that the snapshot shows asleep have woken since, the job is left to lanes that are awake", async () => {
  const world = await pushedWorld({ maxParallelism: 2 });
  const [job] = await jobsOf(world, 1);
  await lanesOf(world, "asleep", 1, 1);
  await wakeAfter(world, become("active", 0, 1), { job: job! });
  expect(await standingOf(world)).toMatchObject({ running: [], gate: "full", caps: [1, 1] });
});

test("where they have, a lane that has gone to sleep meanwhile begins", async () => {
  const world = await pushedWorld({ maxParallelism: 3 });
  const [job] = await jobsOf(world, 1);
  await lanesOf(world, "asleep", 1, 1);
  await lanesOf(world, "awake", 1);
  const both = async (ctx: MutationCtx) => {
    await become("active", 0, 1)(ctx);
    await become("idle", 2)(ctx);
  };
  await wakeAfter(world, both, { job: job! });
  expect(await standingOf(world)).toMatchObject({ running: [0], caps: [1, 1, 1] });
  expect(await leasesOf(world)).toEqual([0, 0, 1]);
});

// --- Jobs ------------------------------------------------------------------------------------------

const status = (id: Id<"jobs">, to: "pending" | "canceled") => async (ctx: MutationCtx) =>
  await ctx.db.patch("jobs", id, { status: to });

test("a queue without room is full for the wake's own job, also where the snapshot does not show it yet", async () => {
  const world = await pushedWorld();
  const [job] = await jobsOf(world, 1);
  await lanesOf(world, "awake", 5);
  await world.t.run(async ({ db }) => await db.patch("jobs", job!, { status: "canceled" }));
  await wakeAfter(world, status(job!, "pending"), { job: job! });
  expect((await standingOf(world)).gate).toBe("full");
});

test("whether any other job waits is asked in the snapshot, so that a wake without room depends on none", async () => {
  const world = await pushedWorld();
  const [job] = await jobsOf(world, 1);
  await lanesOf(world, "awake", 5);
  await wakeAfter(world, status(job!, "canceled"));
  expect((await standingOf(world)).gate).toBe("full");
  // It is not as a cancel leaves it.
  await world.t.run(async ({ db }) => await db.delete("jobs", job!));
});
