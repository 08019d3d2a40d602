/** The room that lanes are given when they begin, and that sleeping lanes keep for single jobs. */
import { expect, test } from "vitest";
import { awaken, ensureSpares, freeOf, makeRoom } from "./lanes.js";
import {
  asleep,
  awake,
  boundsIn,
  capsIn,
  patchesOf,
  turn,
  withLanes,
  type Planned,
  type Scene,
} from "./laneRows.test.js";

// --- Spare lanes ---------------------------------------------------------------------------------

/** The caps of a queue with this bound after spares were ensured beside all of its lanes. */
async function sparesBeside(maxParallelism: number, plan: Planned[]): Promise<number[]> {
  const caps: number[] = [];
  await withLanes({ maxParallelism }, plan, async (scene) => {
    await ensureSpares(scene.ctx, scene.queue, scene.lanes, Date.now());
    caps.push(...(await capsIn(scene)));
    const made = (await boundsIn(scene)).slice(plan.length);
    expect(made.every((under) => under === maxParallelism)).toBe(true);
  });
  return caps;
}

test("a queue with one lane, whose jobs never come at the same moment, is given no spares", async () => {
  expect(await sparesBeside(100, [])).toEqual([]);
});

test("with the lane that begins a queue has eight lanes, seven of them for jobs that come alone", async () => {
  expect(await sparesBeside(100, [awake(4)])).toEqual([4, 1, 1, 1, 1, 1, 1]);
  expect(await sparesBeside(100, [awake(4), asleep(1), asleep(0)])).toEqual([4, 1, 0, 1, 1, 1, 1]);
});

test("a queue with eight lanes or more is given no spares", async () => {
  for (const count of [7, 8, 9])
    expect(await sparesBeside(100, Array(count).fill(asleep(0)))).toEqual(Array(count).fill(0));
});

test("spares leave room for the lane that begins, and for one more job", async () => {
  expect(await sparesBeside(8, [awake(4)])).toEqual([4, 1, 1]);
  expect(await sparesBeside(7, [awake(4)])).toEqual([4, 1]);
  expect(await sparesBeside(6, [awake(4)])).toEqual([4]);
  expect(await sparesBeside(3, [awake(4)])).toEqual([4]);
});

test("spares are numbered after the lanes that there are and the one that begins", async () => {
  await withLanes({ maxParallelism: 7 }, [awake(1), asleep(1)], async ({ ctx, queue, lanes }) => {
    await ensureSpares(ctx, queue, lanes, Date.now());
    const sessions = await ctx.db.query("sessions").collect();
    expect(sessions.slice(2).map(({ sessionKey, state }) => [sessionKey, state])).toEqual([
      ["lane:tiles:3", "idle"],
      ["lane:tiles:4", "idle"],
      ["lane:tiles:5", "idle"],
    ]);
  });
});

// --- Lanes that begin ----------------------------------------------------------------------------

test("a lane that begins is given its cap under the bound of today", async () => {
  await withLanes({}, [asleep(0, { under: "none" })], async (scene) => {
    await awaken(scene.ctx, scene.lanes[0]!, 4, 10);
    expect(await capsIn(scene)).toEqual([4]);
    expect(await boundsIn(scene)).toEqual([10]);
  });
});

test("a lane that keeps its room for one job is not written when it begins, unless the bound has changed", async () => {
  await withLanes({}, [asleep(1, { under: 10 })], async (scene) => {
    const lane = scene.lanes[0]!;
    expect(await patchesOf(scene, () => awaken(scene.ctx, lane, 1, 10))).toBe(0);
    expect(await patchesOf(scene, () => awaken(scene.ctx, lane, 1, 12))).toBe(1);
    expect([await capsIn(scene), await boundsIn(scene)]).toEqual([[1], [12]]);
    expect(await patchesOf(scene, () => awaken(scene.ctx, lane, 2, 10))).toBe(1);
    expect([await capsIn(scene), await boundsIn(scene)]).toEqual([[2], [10]]);
  });
});

// --- Room that is taken from sleeping lanes ------------------------------------------------------

/** The free room after so much was asked for, and the caps then. */
async function roomAndCaps(scene: Scene, needed: number, seen = scene.seen) {
  const { ctx, queue, lanes } = scene;
  return { free: await makeRoom(ctx, queue, lanes, needed, seen), caps: await capsIn(scene) };
}

test("the free room of a queue is its bound less all caps, and below 0 where the bound was lowered", async () => {
  await withLanes({ maxParallelism: 5 }, [awake(4), asleep(1), asleep(0)], async (scene) => {
    const { queue, lanes } = scene;
    expect(freeOf(queue, lanes)).toBe(0);
    expect(freeOf(queue, lanes.slice(1))).toBe(4);
    expect(freeOf({ ...queue, config: { ...queue.config, maxParallelism: 2 } }, lanes)).toBe(-3);
  });
});

test("room is taken from as many sleeping lanes as are needed, from the first on", async () => {
  const plan = [awake(2), asleep(1), asleep(0), asleep(1), asleep(1)];
  await withLanes({ maxParallelism: 5 }, plan, async (scene) => {
    expect(await roomAndCaps(scene, 2)).toEqual({ free: 2, caps: [2, 0, 0, 0, 1] });
    expect(await boundsIn(scene)).toEqual([5, undefined, 5, undefined, 5]);
  });
});

test("no room is taken where as much is free as is needed", async () => {
  await withLanes({ maxParallelism: 5 }, [awake(2), asleep(1)], async (scene) => {
    expect(await roomAndCaps(scene, 2)).toEqual({ free: 2, caps: [2, 1] });
    expect(await roomAndCaps(scene, 1)).toEqual({ free: 2, caps: [2, 1] });
    expect(await roomAndCaps(scene, 3)).toEqual({ free: 3, caps: [2, 0] });
  });
});

test("where sleeping lanes do not have as much as is needed all of theirs is taken, and said", async () => {
  await withLanes({ maxParallelism: 4 }, [awake(6), asleep(1), asleep(1)], async (scene) => {
    expect(await roomAndCaps(scene, 1)).toEqual({ free: -2, caps: [6, 0, 0] });
  });
});

test("a lane that was not seen asleep, or has been woken since, keeps its room", async () => {
  await withLanes({ maxParallelism: 3 }, [asleep(1), asleep(1), asleep(1)], async (scene) => {
    await turn(scene.ctx, scene.lanes[1]!, "active");
    const seen = scene.seen.slice(1);
    expect(await roomAndCaps(scene, 3, seen)).toEqual({ free: 1, caps: [1, 1, 0] });
  });
});

test("a lane whose room has gone since the snapshot gives none, and one that was seen without any is not asked", async () => {
  await withLanes({ maxParallelism: 3 }, [asleep(1), asleep(1), asleep(1)], async (scene) => {
    const [first, second, third] = scene.seen;
    await scene.ctx.db.patch("lanes", first!.lane, { cap: 0 });
    const seen = [first!, { ...second!, cap: 0 }, third!];
    expect(await roomAndCaps(scene, 3, seen)).toEqual({ free: 1, caps: [0, 1, 0] });
  });
});
