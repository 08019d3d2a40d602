/** The start of a lane: small jobs are carried to it, and large ones it fetches, so that they are not written once more. */
import { afterEach, expect, test } from "vitest";
import { LANE_CARRIES_BYTES } from "../../src/shared/index.js";
import { checkRest, COMPONENT, enqueue, startPushWorld, type PushWorld } from "./pushWorld.js";

let pushed: PushWorld;
afterEach(async () => {
  await pushed.world.close();
});

/** Earlier jobs have been processed, and counted. */
async function start(seed: number): Promise<void> {
  pushed = await startPushWorld(seed);
  await pushed.world.advance(11 * 60_000);
}

const LARGE = "x".repeat(LANE_CARRIES_BYTES);

/** How often each function was called for these jobs, and how much of theirs the scheduler wrote. */
async function costOf(
  queue: "acted" | "written",
  ...pads: string[]
): Promise<{ calls: Record<string, number>; scheduledBytes: number; readBytes: number }> {
  pushed.world.stats.reset();
  await enqueue(
    pushed.world,
    queue,
    pads.map((pad, i) => ({ n: 10 + i, ms: 10, pad })),
  );
  await pushed.world.advance(60_000);
  const { functions } = pushed.world.stats.snapshot();
  const own = Object.entries(functions).filter(([name]) => name.startsWith(`${COMPONENT}/`));
  const hands = own.filter(([name]) => /(wake|lane)/.test(name));
  return {
    calls: Object.fromEntries(
      hands.map(([name, { calls }]) => [name.slice(COMPONENT.length + 1), calls]),
    ),
    scheduledBytes: own.reduce((sum, [, { systemIo }]) => sum + systemIo.bytesWritten, 0),
    readBytes: hands.reduce((sum, [, { io }]) => sum + io.bytesRead, 0),
  };
}

test("a small job is carried to its lane, and costs no call to be fetched", async () => {
  await start(1);
  const { calls } = await costOf("acted", "x".repeat(10_000));
  expect(calls).toEqual({
    "push/wake:wake": 1,
    "push/laneAction:laneProcess": 1,
    "push/laneStep:stepLane": 1,
  });
  await checkRest(pushed);
});

test("a large one is fetched by its lane: it is read once, and written only by its caller", async () => {
  await start(1);
  const { calls, scheduledBytes, readBytes } = await costOf("acted", LARGE);
  expect(calls).toEqual({
    "push/wake:wake": 1,
    "push/laneAction:laneProcess": 1,
    "push/laneStep:stepLane": 2,
  });
  expect(scheduledBytes).toBeLessThan(LANE_CARRIES_BYTES / 4);
  expect(readBytes).toBeLessThan(1.5 * LARGE.length);
  await checkRest(pushed);
});

test("so are many that are large together, each of them once", async () => {
  await start(2);
  const half = "x".repeat(LANE_CARRIES_BYTES / 2);
  const { scheduledBytes } = await costOf("acted", half, half, half);
  expect(scheduledBytes).toBeLessThan(LANE_CARRIES_BYTES / 2);
  await checkRest(pushed);
});

test("a mutation reads its payload by itself: it goes nowhere else", async () => {
  await start(3);
  const { calls, scheduledBytes, readBytes } = await costOf("written", LARGE);
  expect(calls).toEqual({ "push/wake:wake": 1, "push/laneOnce:runSingle": 1 });
  expect(scheduledBytes).toBeLessThan(LANE_CARRIES_BYTES / 4);
  expect(readBytes).toBeLessThan(1.5 * LARGE.length);
  await checkRest(pushed);
});
