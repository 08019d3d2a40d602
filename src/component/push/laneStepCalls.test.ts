/** What a lane's call leaves behind: the lane awake, its process open, and jobs with their handlers and in all shards. */
import { expect, test, vi } from "vitest";
import { LANE_LOOK_MS, TEND_LATE_MS } from "../../shared/index.js";
import { succeeded, type World } from "../setup.test.js";
import { gateFor, laneNow, laneOf, leasesOf, nextOf, stepBy } from "./laneStepSetup.test.js";
import { gateOf, inOne, jobsOf, MUTATION, pushedWorld } from "./wakeSetup.test.js";

/** A polling lane that runs so many jobs, in a queue with so many that wait. */
async function polling(holds: number, wait = 0, config: Parameters<typeof pushedWorld>[0] = {}) {
  const world = await pushedWorld(config);
  await jobsOf(world, holds + wait);
  const lane = await laneOf(world, { cap: 5, holds });
  await gateOf(world, "guarded", { guard: lane.lane });
  return { world, lane };
}

const stateOf = async (world: World) => (await world.all("processes"))[0]!.state;

test("a lane is awake when its call has been run again, also without a job, and its process stays open", async () => {
  const { world, lane } = await polling(1);
  const [lease] = await leasesOf(world, lane);
  const said = { finished: [succeeded(lease!)], sentAt: Date.now() - 100, in: { closes: true } };
  const { reply } = await stepBy(world, lane, said);
  expect(reply).toEqual({
    answers: [{ ...lease!, answer: "ok" }],
    ...{ jobs: [], lookAfterMs: 0, isOver: false },
  });
  expect(await laneNow(world, lane)).toMatchObject({ state: "active", held: 0 });
  expect(await stateOf(world)).toBe("open");
});

test("a lane whose scheduled function was canceled counts as awake, also without a job, until the janitor finds it", async () => {
  const { world, lane } = await polling(1);
  const [lease] = await leasesOf(world, lane);
  await inOne(world, ({ scheduler }) => scheduler.cancel(lane.runsIn));
  const { reply } = await stepBy(world, lane, { finished: [succeeded(lease!)] });
  expect(reply).toMatchObject({ isOver: true, answers: [{ answer: "ok" }] });
  expect(await laneNow(world, lane)).toMatchObject({ state: "active", held: 0 });
});

test("a lane of a process with free places is given no more, however many jobs wait", async () => {
  const { world, lane } = await polling(0, 5);
  const { reply } = await stepBy(world, lane, { in: { places: 2, isFull: false } });
  expect(reply.jobs).toHaveLength(2);
  expect(reply).not.toHaveProperty("given");
  expect(await world.all("grants")).toEqual([]);
});

test("a lane that has yet to receive a job gets it again with the handler that the job brings", async () => {
  const world = await pushedWorld();
  await world.enqueue("own", { rules: { handler: MUTATION } });
  const lane = await laneOf(world, { cap: 5, holds: 1 });
  await gateOf(world, "guarded", { guard: lane.lane });
  const { reply } = await stepBy(world, lane, { lastAckedCall: 0 });
  expect(reply.jobs).toMatchObject([{ job: { payload: null }, handler: { kind: "mutation" } }]);
});

test("where no lane polls, a lane that finds a job which would outlive its process leaves it, and waits for its own", async () => {
  const world = await pushedWorld({ timeoutMs: 60_000 });
  await jobsOf(world, 1);
  const lane = await laneOf(world, { cap: 5, holds: 1 });
  await world.enqueue("long", { rules: { timeoutMs: 8 * 60_000 } });
  vi.setSystemTime(Date.now() + 4_000);
  const { reply } = await stepBy(world, lane, { in: { endsAt: Date.now() + 5 * 60_000 } });
  expect(reply).toMatchObject({ jobs: [], lookAfterMs: null, isOver: false });
  expect(await world.all("waitingQueues")).toEqual([]);
});

test("a lane is told that a sweep is late, for its process to have the work tended", async () => {
  const { world, lane } = await polling(1);
  expect((await stepBy(world, lane)).reply).not.toHaveProperty("isLate");
  const [timer] = await world.all("timers");
  await inOne(world, ({ db }) =>
    db.patch("timers", timer!._id, { dueAt: Date.now() - TEND_LATE_MS - 1 }),
  );
  expect((await stepBy(world, lane)).reply).toMatchObject({ isLate: true });
});

test("the polling lane takes new jobs of all shards, whatever workers are there", async () => {
  const world = await pushedWorld({ shards: 8, maxParallelism: 20 });
  for (const name of ["a", "b", "c", "d"]) await world.worker(name).claim();
  await jobsOf(world, 12);
  const lane = await laneOf(world, { cap: 20 });
  await gateOf(world, "guarded", { guard: lane.lane });
  const { reply } = await stepBy(world, lane, { in: { places: 20 } });
  expect(nextOf(reply)).toMatchObject({ lookAfterMs: LANE_LOOK_MS, jobs: { length: 12 } });
  expect(await gateFor(world, lane)).toMatchObject({ state: "guarded", by: "it" });
});

test("a poll in vain keeps the cursor of the lane", async () => {
  const { world, lane } = await polling(1);
  const cursorOf = async () =>
    (await world.all("sessions")).find(({ _id }) => _id === lane.session)!.reply.cursor;
  await stepBy(world, lane, { finished: [succeeded((await leasesOf(world, lane))[0]!)] });
  const cursor = await cursorOf();
  expect(JSON.parse(cursor!)).toHaveProperty("tiles");
  await jobsOf(world, 1);
  await stepBy(world, lane, { in: { places: 0 }, over: [{ id: "none", attempt: 1 }] });
  expect(await cursorOf()).toBe(cursor);
});
