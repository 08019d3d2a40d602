/**
 * A lane that dies at each point at which it makes a difference, in virtual time. What must hold afterwards is in
 * `pushWorld.ts`; each test says beside it what became of the jobs. The backend's own death at the same moments is in
 * `tests/deep/pushRestarts.test.ts`.
 */
import { afterEach, expect, test } from "vitest";
import {
  cancel,
  HANDED_OVER,
  HANDLER_ENDED,
  LANE_BEGINS,
  LANE_DRAINS,
  loseLanes,
  STEP_COMMITS,
  until,
} from "./pushMoments.js";
import {
  checkRest,
  COMPONENT,
  enqueue,
  load,
  startPushWorld,
  type PushWorld,
} from "./pushWorld.js";

/** Longer than it takes until a lane that died is noticed, what it held has run again, and the last sweep has been. */
const CALM_MS = 120_000;

let pushed: PushWorld;
afterEach(async () => await pushed.world.close());

async function rest(of: PushWorld): Promise<void> {
  await of.world.advance(CALM_MS);
  await checkRest(of);
}

const attempts = ({ store }: PushWorld) =>
  Math.max(...store.jobs("acted").map(({ attempt }) => attempt));
const statuses = ({ store }: PushWorld) => [...new Set(store.jobs().map(({ status }) => status))];
const resets = ({ store }: PushWorld) => store.jobs().reduce((sum, job) => sum + job.resets, 0);

// --- The lane dies ------------------------------------------------------------------------------

test("a lane dies after its wake has committed and before its first line: its jobs were not begun, and another lane runs them", async () => {
  pushed = await startPushWorld(1);
  const begun = until(pushed, LANE_BEGINS);
  load(pushed);
  await begun;
  await pushed.world.until(() => loseLanes(pushed) > 0);
  expect(pushed.store.notes(10)).toEqual([]);
  await rest(pushed);
  expect(statuses(pushed)).toEqual(["succeeded"]);
  expect(resets(pushed)).toBeGreaterThan(0);
});

test("a lane dies after its step has committed and before it hears the reply: what was recorded stands, and what was claimed runs elsewhere", async () => {
  pushed = await startPushWorld(2);
  let lost = 0;
  const stepped = until(pushed, STEP_COMMITS, () => (lost = loseLanes(pushed)));
  load(pushed);
  await stepped;
  expect(lost).toBeGreaterThan(0);
  const recorded = pushed.store.jobs("acted").filter(({ status }) => status === "succeeded");
  const held = pushed.store.jobs("acted").filter(({ status }) => status === "running");
  expect(held.length).toBeGreaterThan(0);
  await rest(pushed);
  expect(statuses(pushed)).toEqual(["succeeded"]);
  for (const { _id, attempt } of recorded)
    expect(pushed.store.jobs().find((job) => job._id === _id)).toMatchObject({ attempt });
  expect(resets(pushed)).toBe(held.length);
});

test("a lane dies between a handler's end and the step that reports it: that attempt is lost, and another is made", async () => {
  pushed = await startPushWorld(3);
  let lost = 0;
  const ended = until(pushed, HANDLER_ENDED, () => (lost = loseLanes(pushed)));
  load(pushed);
  await ended;
  expect(lost).toBeGreaterThan(0);
  await rest(pushed);
  expect(statuses(pushed)).toEqual(["succeeded"]);
  const twice = pushed.store.notes().filter(({ what }) => what === "ended 2");
  expect(twice.length).toBeGreaterThan(0);
});

test("the same where an action that may have run is not to run again: its job has timed out", async () => {
  pushed = await startPushWorld(3, { maxResets: 0 });
  const ended = until(pushed, HANDLER_ENDED, () => void loseLanes(pushed));
  load(pushed);
  await ended;
  await rest(pushed);
  expect(statuses(pushed).sort()).toEqual(["succeeded", "timedOut"]);
  expect(resets(pushed)).toBe(0);
});

// --- An outcome is handed over ------------------------------------------------------------------

/** Somebody writes a row that every step reads, just before it commits, until the lane hands the outcome over. */
async function storm(of: PushWorld, now: () => void = () => undefined): Promise<void> {
  const { world, store } = of;
  // Only one lane is to be met.
  await world.advance(5_000);
  const { database } = world.backend;
  const commit = database.commit.bind(database);
  let lost = 0;
  database.commit = async (tx, source, author) => {
    if (/laneStep:step/.test(author ?? source)) {
      lost += 1;
      const other = database.begin();
      // What changes nothing is no write.
      for (const { _id, startedAt } of store.docs("lanes"))
        await other.patch(COMPONENT, _id, { startedAt: Number(startedAt) + 0.001 }, "lanes");
      await commit(other, "a storm");
    }
    return await commit(tx, source, author);
  };
  void enqueue(world, "acted", [{ n: 10, ms: 50 }]).catch(() => null);
  await until(of, HANDED_OVER, now);
  database.commit = commit;
  expect(lost).toBeGreaterThan(20);
}

const toRecord = ({ store }: PushWorld) =>
  store.open().find(({ name }) => name === "laneStep.js:recordLater");

test("a lane dies when it has handed an outcome over: it is recorded all the same, once", async () => {
  pushed = await startPushWorld(4);
  await storm(pushed, () => void loseLanes(pushed));
  expect(toRecord(pushed)).toBeDefined();
  await rest(pushed);
  expect(statuses(pushed)).toEqual(["succeeded"]);
  expect(attempts(pushed)).toBe(1);
});

test("an outcome that was handed over is canceled on its way: the lane reports it as before", async () => {
  pushed = await startPushWorld(5);
  await storm(pushed);
  expect(await cancel(pushed.world, toRecord(pushed)!._id)).toBe(true);
  await rest(pushed);
  expect(statuses(pushed)).toEqual(["succeeded"]);
  expect(attempts(pushed)).toBe(1);
});

test("it is canceled on its way, and the lane dies as well: the attempt is lost, and another is made", async () => {
  pushed = await startPushWorld(6);
  await storm(pushed, () => void loseLanes(pushed));
  expect(await cancel(pushed.world, toRecord(pushed)!._id)).toBe(true);
  await rest(pushed);
  expect(statuses(pushed)).toEqual(["succeeded"]);
  expect(attempts(pushed)).toBe(2);
});

// --- One lane takes another's place -------------------------------------------------------------

/** More than one lane does in its time, so that it drains and another is started. */
async function drains(of: PushWorld, now: () => void = () => undefined): Promise<void> {
  const jobs = Array.from({ length: 40 }, (_, i) => ({ n: 10 + i, ms: 2_000 + 311 * (i % 5) }));
  const drained = until(of, LANE_DRAINS, now);
  void enqueue(of.world, "acted", jobs).catch(() => null);
  await drained;
}

const laneIn = ({ store }: PushWorld, state: string) =>
  store.docs("lanes").find((lane) => lane["state"] === state);

test("a lane dies while it drains and another has its place: the other goes on, and what it held runs again", async () => {
  pushed = await startPushWorld(7, { maxParallelism: 3 });
  await drains(pushed);
  await pushed.world.until(() => laneIn(pushed, "awake") !== undefined, { withinMs: 5_000 });
  expect(loseLanes(pushed, laneIn(pushed, "draining")!["scheduledId"])).toBe(1);
  await rest(pushed);
  expect(statuses(pushed)).toEqual(["succeeded"]);
  expect(resets(pushed)).toBeGreaterThan(0);
});

test("the lane that is to take its place dies before its first line, while the other drains", async () => {
  pushed = await startPushWorld(8, { maxParallelism: 3 });
  await drains(pushed);
  await pushed.world.until(() => laneIn(pushed, "awake") !== undefined, { withinMs: 5_000 });
  const next = laneIn(pushed, "awake")!["scheduledId"];
  await pushed.world.until(() => loseLanes(pushed, next) > 0, { withinMs: 1_000 });
  await rest(pushed);
  expect(statuses(pushed)).toEqual(["succeeded"]);
  expect(resets(pushed)).toBeGreaterThan(0);
});

test("both die at once, when the one has just said that it drains", async () => {
  pushed = await startPushWorld(9, { maxParallelism: 3 });
  await drains(pushed, () => void loseLanes(pushed));
  await rest(pushed);
  expect(statuses(pushed)).toEqual(["succeeded"]);
  expect(resets(pushed)).toBeGreaterThan(0);
});
