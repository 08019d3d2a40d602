/** Which lanes of a queue sleep: as a snapshot shows them, and for real. */
import { expect, test, vi } from "vitest";
import { internal } from "../_generated/api.js";
import { newWorld } from "../setup.test.js";
import {
  asleepSince,
  ifAsleep,
  isAnyAwake,
  LANES_ASKED,
  lanesOf,
  sleepingLane,
  spareLane,
  type Sleeper,
  type Standing,
} from "./lanes.js";
import { asleep, awake, enter, turn, withLanes, type Scene } from "./laneRows.test.js";

const read = async ({ ctx }: Scene): Promise<Standing> =>
  await ctx.runQuery(internal.push.lanes.readLanes, { queue: "tiles", class: "s16" });
const sleeping = async ({ ctx }: Scene): Promise<Sleeper[]> =>
  await ctx.runQuery(internal.push.lanes.sleepingLanes, { queue: "tiles" });

/** A snapshot that shows these lanes asleep. */
const standing = (seen: Sleeper[]): Standing => ({
  ...{ asleep: seen, otherLanesAwake: false, count: seen.length },
  mount: { slots: [], kept: 0, receivers: [], left: { any: 0, few: 0 } },
});

// --- The snapshot of a wake ----------------------------------------------------------------------

test("a wake sees the slots of the mount also for a queue that is not declared, and no lanes", async () => {
  const { t } = await newWorld();
  const args = { queue: "unknown", class: "s16" };
  const { mount, ...seen } = await t.query(internal.push.lanes.readLanes, args);
  expect(seen).toEqual({ asleep: [], otherLanesAwake: false, count: 0 });
  expect(mount.slots.length).toBeGreaterThan(0);
});

test("a wake sees the lanes that sleep, with the caps that they keep", async () => {
  await withLanes({}, [asleep(1), awake(4), asleep(0)], async (scene) => {
    const { asleep, count } = await read(scene);
    expect(asleep).toEqual([scene.seen[0], scene.seen[2]]);
    expect(count).toBe(3);
  });
});

test("with two lanes awake a lane polls for no other job, and with three it does, however many sleep", async () => {
  const plan = [awake(1), asleep(1), awake(4), asleep(0), asleep(1)];
  await withLanes({}, plan, async (scene) => {
    expect((await read(scene)).otherLanesAwake).toBe(false);
    await turn(scene.ctx, scene.lanes[1]!, "active");
    expect((await read(scene)).otherLanesAwake).toBe(true);
  });
});

test("of many lanes only some are asked whether they sleep, and all are counted", async () => {
  const plan = Array(LANES_ASKED + 3).fill(asleep(1));
  await withLanes({ maxParallelism: 100 }, plan, async (scene) => {
    const seen = await read(scene);
    expect(seen.asleep).toHaveLength(LANES_ASKED);
    expect(seen).toMatchObject({ count: LANES_ASKED + 3, otherLanesAwake: false });
    expect(await sleeping(scene)).toHaveLength(LANES_ASKED);
  });
});

test("a lane that grows is shown sleeping lanes with room for one job, and no others", async () => {
  const plan = [asleep(0), asleep(1), awake(1), awake(5), asleep(1), asleep(2)];
  await withLanes({}, plan, async (scene) => {
    expect(await sleeping(scene)).toEqual([scene.seen[1], scene.seen[4]]);
  });
});

test("a lane without a session is not awake", async () => {
  await withLanes({}, [asleep(1), awake(1)], async (scene) => {
    await scene.ctx.db.delete("sessions", scene.lanes[0]!.session);
    expect(await sleeping(scene)).toEqual([scene.seen[0]]);
    expect(await isAnyAwake(scene.ctx.db, "tiles", 2)).toBe(true);
    await turn(scene.ctx, scene.lanes[1]!, "idle");
    expect(await isAnyAwake(scene.ctx.db, "tiles", 2)).toBe(false);
  });
});

// --- For real ------------------------------------------------------------------------------------

test("a lane sleeps as long as its session is not active, also where the session was given up", async () => {
  await withLanes({}, [asleep(1)], async ({ ctx, lanes: [lane], seen: [seen] }) => {
    const stateFound = async () => (await ifAsleep(ctx.db, seen!))?.session.state;
    expect((await ifAsleep(ctx.db, seen!))?.lane).toEqual(lane);
    expect(await stateFound()).toBe("idle");
    await turn(ctx, lane!, "gone");
    expect(await stateFound()).toBe("gone");
    await turn(ctx, lane!, "active");
    expect(await ifAsleep(ctx.db, seen!)).toBeNull();
  });
});

test("a lane that has lost its row, or that of its session, is not found asleep", async () => {
  await withLanes({}, [asleep(1), asleep(1)], async ({ ctx, lanes: [first, second], seen }) => {
    await ctx.db.delete("lanes", first!._id);
    expect(await ifAsleep(ctx.db, seen[0]!)).toBeNull();
    await ctx.db.delete("sessions", second!.session);
    expect(await ifAsleep(ctx.db, seen[1]!)).toBeNull();
  });
});

test("a job that comes alone gets one of the lanes that keep room for one job, by lot", async () => {
  const plan = [asleep(0), asleep(1), asleep(0), asleep(1)];
  await withLanes({}, plan, async ({ ctx, queue, lanes, seen }) => {
    const drawn = async (lot: number) => {
      vi.spyOn(Math, "random").mockReturnValue(lot);
      const found = await spareLane(ctx.db, queue, standing(seen));
      return lanes.findIndex(({ _id }) => _id === found?.lane._id);
    };
    expect(await drawn(0)).toBe(1);
    expect(await drawn(0.49)).toBe(1);
    expect(await drawn(0.5)).toBe(3);
    expect(await drawn(0.99)).toBe(3);
  });
});

test("without a lane that keeps room for one job a job that comes alone gets none", async () => {
  await withLanes({}, [asleep(0), awake(4)], async ({ ctx, queue, seen }) => {
    expect(await spareLane(ctx.db, queue, standing([]))).toBeNull();
    expect(await spareLane(ctx.db, queue, standing(seen))).toBeNull();
  });
});

test("a lane that has been woken, has lost its room, or keeps it under another bound, is no spare", async () => {
  const plan = [asleep(1), asleep(1, { under: 9 }), asleep(1, { under: "none" }), asleep(1)];
  await withLanes({ maxParallelism: 10 }, plan, async ({ ctx, queue, lanes, seen }) => {
    const isSpare = async (n: number) =>
      (await spareLane(ctx.db, queue, standing([seen[n]!]))) !== null;
    expect(await isSpare(0)).toBe(true);
    expect(await isSpare(1)).toBe(false);
    expect(await isSpare(2)).toBe(false);
    await turn(ctx, lanes[0]!, "active");
    expect(await isSpare(0)).toBe(false);
    // The snapshot has shown it with its room.
    await ctx.db.patch("lanes", lanes[3]!._id, { cap: 0 });
    expect(await isSpare(3)).toBe(false);
  });
});

test("a wake begins a lane that keeps room if there is one, and else the first that sleeps", async () => {
  const plan = [asleep(0), asleep(0), asleep(1), asleep(1)];
  await withLanes({}, plan, async ({ ctx, lanes, seen }) => {
    const begun = async (asleep: Sleeper[]) => (await sleepingLane(ctx.db, asleep))?.lane._id;
    expect(await begun(seen)).toBe(lanes[2]!._id);
    expect(await begun(seen.slice(0, 2))).toBe(lanes[0]!._id);
    expect(await sleepingLane(ctx.db, [])).toBeNull();
    await turn(ctx, lanes[2]!, "active");
    expect(await sleepingLane(ctx.db, seen)).toBeNull();
  });
});

test("lanes that have gone to sleep since a snapshot are the ones with room that it did not show", async () => {
  const plan = [asleep(1), asleep(1), asleep(1), asleep(0), awake(1), awake(3), asleep(1)];
  await withLanes({}, plan, async ({ ctx, lanes, seen }) => {
    const since = await asleepSince(ctx.db, lanes, [seen[0]!, seen[2]!]);
    expect(since).toEqual([seen[1], seen[6]]);
    expect(await asleepSince(ctx.db, lanes, [])).toHaveLength(4);
    expect(await asleepSince(ctx.db, lanes, seen)).toEqual([]);
  });
});

test("of many lanes that a snapshot did not show only some are asked", async () => {
  const plan = Array(LANES_ASKED + 2).fill(asleep(1));
  await withLanes({ maxParallelism: 100 }, plan, async ({ ctx, lanes }) => {
    expect(await asleepSince(ctx.db, lanes, [])).toHaveLength(LANES_ASKED);
  });
});

// --- Whether any is awake ------------------------------------------------------------------------

test("the lanes that may run most are asked first whether one is awake, and no more than so many", async () => {
  await withLanes({}, [asleep(1), awake(4), asleep(0)], async ({ ctx }) => {
    expect(await isAnyAwake(ctx.db, "tiles", 1)).toBe(true);
  });
  await withLanes({}, [asleep(5), awake(1), asleep(0)], async ({ ctx }) => {
    expect(await isAnyAwake(ctx.db, "tiles", 1)).toBe(false);
    expect(await isAnyAwake(ctx.db, "tiles", 2)).toBe(true);
  });
});

test("a queue with lanes that all sleep has none awake, whatever lanes other queues have", async () => {
  await withLanes({}, [asleep(1), asleep(0)], async ({ ctx, queue }) => {
    await enter(ctx, { ...queue, name: "other" }, awake(5));
    expect(await isAnyAwake(ctx.db, "tiles", LANES_ASKED)).toBe(false);
    expect(await isAnyAwake(ctx.db, "unknown", LANES_ASKED)).toBe(false);
    expect(await isAnyAwake(ctx.db, "other", LANES_ASKED)).toBe(true);
    expect(await lanesOf(ctx.db, "tiles")).toHaveLength(2);
  });
});
