/** Which jobs the search of a wake brings: beside its own, behind others, in every shard; and what it does not see. */
import { expect, test, vi } from "vitest";
import { LANE_CARRIES_BYTES, WAKE_AGAIN_MS } from "../../shared/index.js";
import { newWorld } from "../setup.test.js";
import {
  jobsOf,
  lastCommit,
  MUTATION,
  pushedWorld,
  standingOf,
  wakeAfter,
  wakeBy,
  wakesAmong,
} from "./wakeSetup.test.js";

test("a wake brings its own job and as many others as there is room for, also ones of the same commit", async () => {
  const world = await pushedWorld({ maxParallelism: 3 });
  const [job] = await world.enqueueBatch([0, 1, 2]);
  await wakeBy(world, { job: job! });
  expect((await standingOf(world)).running).toEqual([0, 1, 2]);
});

test("a wake that finds one of its jobs gone has another come, if its search had ended with as many as it may take", async () => {
  for (const [maxParallelism, running, again] of [
    [1, [], 1],
    [2, [1], 1],
    [3, [1, 2], 1],
    [4, [1, 2], 0],
  ] as const) {
    const world = await pushedWorld({ maxParallelism });
    const [gone] = await jobsOf(world, 3);
    const upTo = await lastCommit(world);
    const end = { status: "canceled", order: 0, shard: 0 } as const;
    const planned = await wakeAfter(world, ({ db }) => db.patch("jobs", gone!, end));
    expect(wakesAmong(planned)).toEqual(Array(again).fill({ upTo, afterMs: WAKE_AGAIN_MS }));
    expect((await standingOf(world)).running).toEqual(running);
  }
});

test("a job that brings its handler begins although one without a handler waits before it", async () => {
  const world = await newWorld({ push: true, maxParallelism: 1 });
  await jobsOf(world, 1);
  await world.enqueue(1, { rules: { handler: MUTATION } });
  await wakeBy(world);
  expect((await standingOf(world)).running).toEqual([1]);
});

test("a late wake also brings jobs that came after its own and have waited for workers outside as long as they had to", async () => {
  const world = await pushedWorld({ fallbackAfterMs: 1_000 });
  await world.worker("here").claim();
  await jobsOf(world, 1);
  const upTo = await lastCommit(world);
  vi.setSystemTime(Date.now() + 100);
  await jobsOf(world, 1);
  vi.setSystemTime(Date.now() + 950);
  await wakeBy(world, { upTo });
  expect((await standingOf(world)).running).toEqual([0]);
  vi.setSystemTime(Date.now() + 100);
  await wakeBy(world, { upTo });
  expect((await standingOf(world)).running).toEqual([0, 1]);
});

test("a wake brings new jobs of all shards, whatever workers are there", async () => {
  const world = await pushedWorld({ shards: 8, maxParallelism: 20 });
  for (const name of ["a", "b", "c", "d"]) await world.worker(name).claim();
  await jobsOf(world, 12);
  await wakeBy(world);
  expect((await standingOf(world)).running).toHaveLength(12);
});

test("a lane begins with its jobs, and without them where their payloads are more than a wake carries: its first call brings them", async () => {
  for (const [bytes, brought] of [
    [LANE_CARRIES_BYTES / 4, 2],
    [LANE_CARRIES_BYTES, 0],
  ] as const) {
    const world = await pushedWorld();
    for (const payload of ["small", "x".repeat(bytes)]) await world.enqueue(payload);
    const planned = await wakeBy(world);
    const { args } = planned.find(({ name }) => name === "push/laneAction:laneProcess")!;
    expect(args.lanes[0].jobs).toHaveLength(brought);
    expect((await standingOf(world)).running).toEqual([0, 1]);
  }
});
