/** The caps of lanes that are awake: how wide they may be, what they grow into, and what they keep asleep. */
import { expect, test, vi } from "vitest";
import { HANDLERS_PER_STEP, LANE_WIDTH, type QueueConfig } from "../../shared/index.js";
import { putToSleep, setCap, widthFor, widthOf, type Width } from "./lanes.js";
import {
  ACTION,
  asleep,
  awake,
  boundsIn,
  capsIn,
  MUTATION,
  patchesOf,
  turn,
  withLanes,
  type Planned,
  type Scene,
} from "./laneRows.test.js";

// --- The width of a lane -------------------------------------------------------------------------

/** The width of the first lane, and how it was found out. */
interface Found extends Width {
  /** Whether it has read the lanes of its queue, and so depends on their caps. */
  readsLanes: boolean;
  /** Whether it has asked in a snapshot which of them sleep. */
  asksSleepers: boolean;
}

async function widthIn(
  { ctx, queue, lanes }: Scene,
  running: number,
  isWideEnough = false,
): Promise<Found> {
  const query = vi.spyOn(ctx.db, "query");
  const runQuery = vi.spyOn(ctx, "runQuery");
  const width = await widthFor(ctx, queue, lanes[0]!, { running, isWideEnough });
  const readsLanes = query.mock.calls.some(([table]) => table === "lanes");
  const asksSleepers = runQuery.mock.calls.length > 0;
  query.mockRestore();
  runQuery.mockRestore();
  return { ...width, readsLanes, asksSleepers };
}

/** A lane that stays as it is, whatever caps the other lanes have. */
const asItIs = (width: number): Found => ({
  ...{ width, asleep: [], readsLanes: false, asksSleepers: false },
});
/** A width that follows from the caps of the other lanes alone. */
const byCaps = (width: number): Found => ({ ...asItIs(width), readsLanes: true });

test("one lane runs as many jobs as a lane can, or as the other lanes leave: of mutations, as many as one call runs", async () => {
  const widths = async (config: Pick<QueueConfig, "handler">) => {
    const found: number[] = [];
    await withLanes({}, [], async ({ queue }) => {
      const { handler: _, ...others } = queue.config;
      for (const free of [-1, 0, 1, 15, 17, 47, 49, 2_000])
        found.push(widthOf({ ...queue, config: { ...others, ...config } }, free));
    });
    return found;
  };
  const ofActions = [0, 0, 1, 15, 17, 47, LANE_WIDTH, LANE_WIDTH];
  expect(await widths({ handler: ACTION })).toEqual(ofActions);
  // A version of the app may declare the queue without its handler.
  expect(await widths({})).toEqual(ofActions);
  const most = HANDLERS_PER_STEP;
  expect(await widths({ handler: MUTATION })).toEqual([0, 0, 1, 15, most, most, most, most]);
});

test("a lane with half of its room free, and room for two jobs, does not grow, and reads no other lane", async () => {
  const kept = [
    [10, 5],
    [5, 2],
    [3, 1],
    [2, 0],
    [40, 20],
  ] as const;
  for (const [cap, running] of kept)
    await withLanes({ maxParallelism: 60 }, [awake(cap), awake(4)], async (scene) =>
      expect(await widthIn(scene, running), `${running} of ${cap}`).toEqual(asItIs(cap)),
    );
});

test("a lane with less than half of its room free, or less than room for two jobs, may grow", async () => {
  const short = [
    [10, 6],
    [5, 3],
    [3, 2],
    [2, 1],
    [1, 0],
    [40, 21],
  ] as const;
  for (const [cap, running] of short)
    await withLanes({ maxParallelism: 50 }, [awake(cap), awake(4)], async (scene) =>
      expect(await widthIn(scene, running), `${running} of ${cap}`).toEqual(byCaps(46)),
    );
});

test("a full lane that has as much as a lane can have reads no other lane", async () => {
  await withLanes({ maxParallelism: 100 }, [awake(LANE_WIDTH), asleep(1)], async (scene) =>
    expect(await widthIn(scene, LANE_WIDTH)).toEqual(asItIs(LANE_WIDTH)),
  );
  const mutations = { maxParallelism: 100, handler: MUTATION };
  await withLanes(mutations, [awake(HANDLERS_PER_STEP), asleep(1)], async (scene) =>
    expect(await widthIn(scene, HANDLERS_PER_STEP)).toEqual(asItIs(HANDLERS_PER_STEP)),
  );
});

test("a full lane that is wide enough, as every new job has a wake, reads no other lane", async () => {
  await withLanes({}, [awake(4), awake(3)], async (scene) => {
    expect(await widthIn(scene, 4, true)).toEqual(asItIs(4));
    expect(await widthIn(scene, 4, false)).toEqual(byCaps(7));
  });
});

test("a lane with a cap under another bound than that of today is measured anew, however much of it is free", async () => {
  for (const under of [20, "none"] as const)
    await withLanes({}, [awake(8, { under }), awake(7)], async (scene) => {
      expect(await widthIn(scene, 0, true)).toEqual(byCaps(3));
      expect(await widthIn(scene, 8, false)).toEqual(byCaps(3));
    });
});

test("a lane has no width where the other lanes have more than the bound", async () => {
  const plan = [awake(2, { under: "none" }), awake(8), awake(4)];
  await withLanes({}, plan, async (scene) => expect(await widthIn(scene, 2)).toEqual(byCaps(0)));
});

test("a lane may grow into the room of lanes that sleep and keep room for one job", async () => {
  const plan = [awake(3), awake(2), asleep(1), awake(1), asleep(0), asleep(1)];
  await withLanes({}, plan, async (scene) =>
    expect(await widthIn(scene, 3)).toEqual({
      // Beside the others' five it has five, and two of lanes that sleep.
      ...{ width: 7, asleep: [scene.seen[2], scene.seen[5]] },
      ...{ readsLanes: true, asksSleepers: true },
    }),
  );
});

test("a lane is not wider than a lane can be, also with the room of lanes that sleep", async () => {
  const plan = [awake(40), asleep(1), asleep(1)];
  await withLanes({ maxParallelism: LANE_WIDTH + 1 }, plan, async (scene) =>
    expect(await widthIn(scene, 40)).toMatchObject({ width: LANE_WIDTH, asksSleepers: true }),
  );
});

test("where the other lanes leave as much as a lane can have none is asked whether it sleeps", async () => {
  const plan = [awake(40), asleep(1)];
  await withLanes({ maxParallelism: LANE_WIDTH + 1 }, plan, async (scene) =>
    expect(await widthIn(scene, 40)).toEqual(byCaps(LANE_WIDTH)),
  );
});

test("where no other lane has room for just one job none is asked whether it sleeps", async () => {
  await withLanes({}, [awake(3), awake(4), asleep(0)], async (scene) =>
    expect(await widthIn(scene, 3)).toEqual(byCaps(6)),
  );
});

test("which lanes sleep is read in a snapshot, so that a lane that grows depends on none of them", async () => {
  await withLanes({}, [awake(3), asleep(1)], async (scene) => {
    await turn(scene.ctx, scene.lanes[1]!, "active");
    expect(await widthIn(scene, 3)).toMatchObject({ width: 10, asleep: [scene.seen[1]] });
  });
});

// --- Another cap ---------------------------------------------------------------------------------

const set = async (
  { ctx, queue, lanes }: Scene,
  cap: number,
  width: number,
  asleep: Width["asleep"],
) => await setCap(ctx, queue, lanes[0]!, { cap, width, asleep });

test("a cap within the lane's width stands under the bound of today, and one above it under none", async () => {
  await withLanes({}, [awake(8, { under: 20 })], async (scene) => {
    await set(scene, 6, 6, []);
    expect([await capsIn(scene), await boundsIn(scene)]).toEqual([[6], [10]]);
    await set(scene, 7, 6, []);
    expect([await capsIn(scene), await boundsIn(scene)]).toEqual([[7], [undefined]]);
  });
});

test("a lane's row is written where its cap or the bound of it changes, and only there", async () => {
  await withLanes({}, [awake(4)], async (scene) => {
    expect(await patchesOf(scene, () => set(scene, 4, 4, []))).toBe(0);
    expect(await patchesOf(scene, () => set(scene, 3, 4, []))).toBe(1);
    expect(await patchesOf(scene, () => set(scene, 4, 3, []))).toBe(1);
  });
  await withLanes({}, [awake(4, { under: 9 })], async (scene) => {
    expect(await patchesOf(scene, () => set(scene, 4, 4, []))).toBe(1);
    expect([await capsIn(scene), await boundsIn(scene)]).toEqual([[4], [10]]);
  });
});

test("a lane that grows takes free room first, and then as much as it needs from lanes that were counted", async () => {
  const plan = [awake(3), awake(2), asleep(1), asleep(1), asleep(1), asleep(1)];
  await withLanes({}, plan, async (scene) => {
    const counted = scene.seen.slice(3);
    await set(scene, 4, 7, counted);
    expect(await capsIn(scene)).toEqual([4, 2, 1, 1, 1, 1]);
    await set(scene, 6, 7, counted);
    expect(await capsIn(scene)).toEqual([6, 2, 1, 0, 0, 1]);
  });
});

test("a lane does not grow into room that has been taken since it was counted: its call fails, and is made again", async () => {
  await withLanes({}, [awake(3), awake(6), asleep(1)], async (scene) => {
    await turn(scene.ctx, scene.lanes[2]!, "active");
    await expect(set(scene, 4, 4, [scene.seen[2]!])).rejects.toThrow("has been taken");
    expect(await capsIn(scene)).toEqual([3, 6, 1]);
  });
});

test("a lane with the same cap or a smaller one takes no room, in a queue that has more than its bound", async () => {
  for (const cap of [3, 2])
    await withLanes({ maxParallelism: 4 }, [awake(3), awake(3), asleep(1)], async (scene) => {
      await set(scene, cap, cap, scene.seen);
      expect(await capsIn(scene)).toEqual([cap, 3, 1]);
    });
});

test("a lane that holds more than its width takes no room: it drains", async () => {
  await withLanes({ maxParallelism: 4 }, [awake(3), awake(1), asleep(1)], async (scene) => {
    await set(scene, 4, 2, scene.seen);
    expect([await capsIn(scene), (await boundsIn(scene))[0]]).toEqual([[4, 1, 1], undefined]);
  });
});

// --- A lane that goes to sleep -------------------------------------------------------------------

test("a lane that goes to sleep keeps room for one job, if it had any under its bound", async () => {
  const kept: [Planned, number][] = [
    [awake(5), 1],
    [awake(1), 1],
    [awake(0), 0],
    [awake(5, { under: "none" }), 0],
    [awake(1, { under: "none" }), 0],
  ];
  for (const [lane, cap] of kept)
    await withLanes({}, [lane], async (scene) => {
      const writes = await patchesOf(scene, () => putToSleep(scene.ctx, scene.lanes[0]!));
      expect(await capsIn(scene)).toEqual([cap]);
      expect(await boundsIn(scene)).toEqual([lane.under === "none" ? undefined : 10]);
      expect(writes, "its row is written only where its cap changes").toBe(
        lane.cap === cap ? 0 : 1,
      );
    });
});
