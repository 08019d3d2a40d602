/** Lanes with a scheduled function that has ended silently, and lanes that have slept for long. */
import { expect, test, vi } from "vitest";
import { internal } from "../_generated/api.js";
import type { Id } from "../_generated/dataModel.js";
import type { MutationCtx } from "../_generated/server.js";
import type { Gate } from "../edges/wakes.js";
import { forgetLane, guardsIt, isLaneAlive, loseLane, runs } from "./lanes.js";
import { asleep, awake, boundsIn, capsIn, withLanes, type Scene } from "./laneRows.test.js";

/** The wakes of the queue that are to run. */
async function wakesIn(ctx: MutationCtx): Promise<number> {
  const scheduled = await ctx.db.system.query("_scheduled_functions").collect();
  return scheduled.filter(
    ({ name, state }) => name === "push/wake:wake" && state.kind === "pending",
  ).length;
}

const gateAndDoor = async ({ ctx }: Scene) => ({
  gate: await ctx.db.query("gates").first(),
  door: await ctx.db.query("doors").first(),
});

/** The first lane of two is lost under this gate: how many wakes that schedules, and the gate and the door then. */
async function lostUnder(state: Gate["state"] | null, guard?: 0 | 1) {
  const after = { wakes: -1, gate: "none", isOpen: true, caps: [0] };
  await withLanes({}, [awake(4), awake(3)], async (scene) => {
    const { ctx, lanes } = scene;
    if (state !== null) {
      const by = guard === undefined ? {} : { guard: lanes[guard]!._id };
      await ctx.db.insert("gates", { queue: "tiles", state, ...by });
      await ctx.db.insert("doors", { queue: "tiles", open: state !== "quiet" });
    }
    const before = await wakesIn(ctx);
    await loseLane(ctx, lanes[0]!._id);
    const { gate, door } = await gateAndDoor(scene);
    after.wakes = (await wakesIn(ctx)) - before;
    after.gate = gate?.state ?? "none";
    after.isOpen = door?.open === true;
    after.caps = await capsIn(scene);
  });
  return after;
}

test("where the lane that polls is lost the door is shut, and a wake searches for the jobs that relied on it", async () => {
  const quiet = { wakes: 1, gate: "quiet", isOpen: false, caps: [1, 3] };
  expect(await lostUnder("guarded", 0)).toEqual(quiet);
  expect(await lostUnder("leaving", 0)).toEqual(quiet);
});

test("where another lane polls a lane that is lost leaves its room, and no wake is needed", async () => {
  const caps = [1, 3];
  expect(await lostUnder("guarded", 1)).toEqual({ wakes: 0, gate: "guarded", isOpen: true, caps });
  expect(await lostUnder("leaving", 1)).toEqual({ wakes: 0, gate: "leaving", isOpen: true, caps });
});

test("where no lane had room a lane that is lost frees some, and a wake fills it under the same gate", async () => {
  const caps = [1, 3];
  expect(await lostUnder("full")).toEqual({ wakes: 1, gate: "full", isOpen: true, caps });
});

test("where no lane is relied on, or none ever was, a lane that is lost needs no wake", async () => {
  const none = { wakes: 0, isOpen: false, caps: [1, 3] };
  expect(await lostUnder("quiet")).toEqual({ ...none, gate: "quiet" });
  expect(await lostUnder(null)).toEqual({ ...none, gate: "none" });
});

test("a lane that drained when it was lost keeps no room", async () => {
  await withLanes({}, [awake(4, { under: "none" }), awake(3)], async (scene) => {
    await loseLane(scene.ctx, scene.lanes[0]!._id);
    expect([await capsIn(scene), await boundsIn(scene)]).toEqual([
      [0, 3],
      [undefined, 10],
    ]);
  });
});

test("a lane that has been forgotten is not lost again: the gate stays as it is", async () => {
  await withLanes({}, [asleep(1)], async (scene) => {
    const { ctx, lanes } = scene;
    const guard = lanes[0]!._id;
    await ctx.db.insert("gates", { queue: "tiles", state: "guarded", guard });
    await ctx.db.delete("lanes", guard);
    const before = await wakesIn(ctx);
    await loseLane(ctx, guard);
    expect((await gateAndDoor(scene)).gate).toMatchObject({ state: "guarded", guard });
    expect(await wakesIn(ctx)).toBe(before);
  });
});

test("the polling lane is the one that a guarded or leaving gate names", () => {
  const [lane, other] = ["lane", "other"] as Id<"lanes">[];
  const gate = (state: Gate["state"], guard = lane) => ({ state, guard }) as Gate;
  expect(guardsIt(gate("guarded"), lane!)).toBe(true);
  expect(guardsIt(gate("leaving"), lane!)).toBe(true);
  expect(guardsIt(gate("guarded", other), lane!)).toBe(false);
  expect(guardsIt(gate("leaving", other), lane!)).toBe(false);
  expect(guardsIt(gate("full"), lane!)).toBe(false);
  expect(guardsIt(gate("quiet"), lane!)).toBe(false);
  expect(guardsIt(null, lane!)).toBe(false);
});

// --- Whether a lane lives ------------------------------------------------------------------------

const schedule = async ({ scheduler }: MutationCtx) =>
  await scheduler.runAfter(60_000, internal.push.wake.wake, { queue: "tiles" });

test("a lane lives while its session is active and its scheduled function is to run", async () => {
  await withLanes({}, [awake(1)], async ({ ctx, lanes: [lane] }) => {
    const session = (await ctx.db.get("sessions", lane!.session))!;
    const runsIn = await schedule(ctx);
    expect(await isLaneAlive(ctx, { ...session, runsIn })).toBe(true);
    expect(await isLaneAlive(ctx, { ...session, runsIn, state: "idle" })).toBe(false);
    expect(await isLaneAlive(ctx, { ...session, runsIn, state: "gone" })).toBe(false);
    await ctx.scheduler.cancel(runsIn);
    expect(await isLaneAlive(ctx, { ...session, runsIn })).toBe(false);
  });
});

test("a lane that names no scheduled function does not live, and none is read for it", async () => {
  await withLanes({}, [awake(1)], async ({ ctx, lanes: [lane] }) => {
    const session = (await ctx.db.get("sessions", lane!.session))!;
    expect(session).toMatchObject({ state: "active" });
    expect(session.runsIn).toBeUndefined();
    const get = vi.spyOn(ctx.db.system, "get");
    expect(await isLaneAlive(ctx, session)).toBe(false);
    expect(get).not.toHaveBeenCalled();
  });
});

test("a scheduled function runs from its start to its end, and not once its row has gone", async () => {
  await withLanes({}, [], async ({ ctx }) => {
    const id = await schedule(ctx);
    expect(await runs(ctx.db, id)).toBe(true);
    const rows = ctx.db as unknown as Record<"patch" | "delete", (...args: unknown[]) => unknown>;
    const isRunning: Record<string, boolean> = {};
    for (const kind of ["pending", "inProgress", "success", "failed", "canceled"]) {
      await rows.patch("_scheduled_functions", id, { state: { kind } });
      isRunning[kind] = await runs(ctx.db, id);
    }
    expect(isRunning).toEqual({
      ...{ pending: true, inProgress: true },
      ...{ success: false, failed: false, canceled: false },
    });
    await rows.delete("_scheduled_functions", id);
    expect(await runs(ctx.db, id)).toBe(false);
  });
});

test("a lane that is forgotten goes, once, and no other goes with it", async () => {
  await withLanes({}, [asleep(1), asleep(0)], async (scene) => {
    const { ctx, lanes } = scene;
    await forgetLane(ctx, lanes[0]!._id);
    expect(await capsIn(scene)).toEqual([0]);
    await forgetLane(ctx, lanes[0]!._id);
    expect(await capsIn(scene)).toEqual([0]);
  });
});
