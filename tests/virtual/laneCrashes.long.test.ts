/**
 * A process that dies at each point at which it makes a difference, in virtual time. The conditions afterwards are in
 * `pushWorld.ts`; each test adds the final state of its jobs. The backend's own death at the same moments is in
 * `tests/virtual/pushRestarts.long.test.ts`.
 */
import { afterEach, expect, test } from "vitest";
import {
  DRAINS_SOON,
  HANDLER_ENDED,
  PROCESS_BEGINS,
  laneDrains,
  loseProcesses,
  STEP_COMMITS,
  STEP_TAKES,
  until,
} from "./pushMoments.js";
import {
  checkRest,
  COMPONENT,
  enqueue,
  load,
  startPushWorld,
  type Doc,
  type PushWorld,
} from "./pushWorld.js";

/** Longer than it takes until a dead lane is noticed, its jobs have been retried, and the last sweep has been. */
const CALM_MS = 120_000;
/** The same where jobs of half a minute still wait. */
const DRAINED_MS = 600_000;

let pushed: PushWorld;
afterEach(async () => await pushed.world.close());

async function rest(of: PushWorld, calmMs = CALM_MS): Promise<void> {
  await of.world.advance(calmMs);
  await checkRest(of);
}

const attempts = ({ store }: PushWorld) =>
  Math.max(...store.jobs("acted").map(({ attempt }) => attempt));
const statuses = ({ store }: PushWorld) => [...new Set(store.jobs().map(({ status }) => status))];
const resets = ({ store }: PushWorld) => store.jobs().reduce((sum, job) => sum + job.resets, 0);

// --- The process dies ---------------------------------------------------------------------------

test("a process dies after its wake has committed and before its first line: its jobs were not begun, and another runs them", async () => {
  pushed = await startPushWorld(1);
  const begun = until(pushed, PROCESS_BEGINS);
  load(pushed);
  await begun;
  await pushed.world.until(() => loseProcesses(pushed) > 0);
  expect(pushed.store.notes(10)).toEqual([]);
  await rest(pushed);
  expect(statuses(pushed)).toEqual(["succeeded"]);
  expect(resets(pushed)).toBeGreaterThan(0);
});

test("a process dies after its lane's step has committed and before it hears the reply: recorded outcomes stand, and claimed jobs run elsewhere", async () => {
  pushed = await startPushWorld(2);
  let lost = 0;
  const stepped = until(pushed, STEP_TAKES, () => (lost = loseProcesses(pushed)));
  load(pushed);
  await stepped;
  expect(lost).toBeGreaterThan(0);
  const recorded = pushed.store.jobs("acted").filter(({ status }) => status === "succeeded");
  const held = pushed.store.jobs("acted").filter(({ status }) => status === "running");
  expect(held.length).toBeGreaterThan(0);
  await rest(pushed);
  expect(statuses(pushed)).toEqual(["succeeded"]);
  const now = (id: string) => pushed.store.jobs().find(({ _id }) => _id === id);
  for (const { _id, attempt } of recorded) expect(now(_id)).toMatchObject({ attempt, resets: 0 });
  for (const { _id } of held) expect(now(_id)).toMatchObject({ resets: 1 });
  // A wake may have given jobs to a process that had died a moment ago: these are reset, too, once.
  expect(Math.max(...pushed.store.jobs().map((job) => job.resets))).toBe(1);
});

// Shows H11.
test("a process dies between a handler's end and the step that reports it: that attempt is lost, and another is made", async () => {
  pushed = await startPushWorld(3);
  let lost = 0;
  const ended = until(pushed, HANDLER_ENDED, () => (lost = loseProcesses(pushed)));
  load(pushed);
  await ended;
  expect(lost).toBeGreaterThan(0);
  await rest(pushed);
  expect(statuses(pushed)).toEqual(["succeeded"]);
  const twice = pushed.store.notes().filter(({ what }) => what === "ended 2");
  expect(twice.length).toBeGreaterThan(0);
});

test("the same where an action that may have run must not be retried: its job has timed out", async () => {
  pushed = await startPushWorld(3, { maxResets: 0 });
  const ended = until(pushed, HANDLER_ENDED, () => void loseProcesses(pushed));
  load(pushed);
  await ended;
  await rest(pushed);
  expect(statuses(pushed).sort()).toEqual(["succeeded", "timedOut"]);
  expect(resets(pushed)).toBe(0);
});

// --- An outcome is handed over ------------------------------------------------------------------

/** Another transaction writes a row that every step reads, just before it commits, until the outcome is recorded apart. */
async function storm(of: PushWorld, now: () => void = () => undefined): Promise<void> {
  const { world, store } = of;
  // Only one lane is to conflict.
  await world.advance(5_000);
  const { database } = world.backend;
  const commit = database.commit.bind(database);
  let lost = 0;
  database.commit = async (tx, source, author) => {
    if (/push\/laneStep:stepLane/.test(author ?? source)) {
      lost += 1;
      const other = database.begin();
      // A patch without a change is no write.
      for (const { _id, lastSeenAt } of store.docs("sessions"))
        await other.patch(COMPONENT, _id, { lastSeenAt: Number(lastSeenAt) + 0.001 }, "sessions");
      await commit(other, "a storm");
    }
    return await commit(tx, source, author);
  };
  void enqueue(world, "acted", [{ n: 10, ms: 50 }]).catch(() => null);
  await until(of, STEP_COMMITS, now);
  database.commit = commit;
  // One call, with all of its tries.
  expect(lost).toBe(5);
}

test("every call of a lane loses, and then its process dies: its outcomes are recorded apart, once", async () => {
  pushed = await startPushWorld(4);
  await storm(pushed, () => void loseProcesses(pushed));
  await rest(pushed);
  expect(statuses(pushed)).toEqual(["succeeded"]);
  expect(attempts(pushed)).toBe(1);
});

test("every call of a lane loses for a while: it says later that its job is over", async () => {
  pushed = await startPushWorld(5);
  await storm(pushed);
  await rest(pushed);
  expect(statuses(pushed)).toEqual(["succeeded"]);
  expect(attempts(pushed)).toBe(1);
});

// --- One lane takes another's place -------------------------------------------------------------

/** More than one process does in its time, so that its lane drains and another is started. */
async function drains(of: PushWorld, now: () => void = () => undefined): Promise<void> {
  const jobs = Array.from({ length: 60 }, (_, i) => ({ n: 10 + i, ms: 16_000 + 2_311 * (i % 5) }));
  const drained = until(of, laneDrains(), now);
  void enqueue(of.world, "acted", jobs).catch(() => null);
  await drained;
}

const SHORT_LIVED = { maxParallelism: 3, ...DRAINS_SOON };

/** Processes that run, in the order in which they began. */
const running = ({ store }: PushWorld) =>
  store
    .docs("processes")
    .filter(({ state }) => state !== "free")
    .sort((a, b) => Number(a["openedAt"]) - Number(b["openedAt"]));

async function bothRun(of: PushWorld): Promise<[Doc, Doc]> {
  await of.world.until(() => running(of).length === 2, { withinMs: 30_000 });
  const [old, next] = running(of);
  return [old!, next!];
}

test("a process dies while its lane drains and another has its place: the other goes on, and the dead one's jobs are retried", async () => {
  pushed = await startPushWorld(7, SHORT_LIVED);
  await drains(pushed);
  const [old] = await bothRun(pushed);
  expect(loseProcesses(pushed, old["scheduledId"])).toBe(1);
  await rest(pushed, DRAINED_MS);
  expect(statuses(pushed)).toEqual(["succeeded"]);
  expect(resets(pushed)).toBeGreaterThan(0);
});

test("the process that is to take its place dies before its first line, while the other drains", async () => {
  pushed = await startPushWorld(8, SHORT_LIVED);
  await drains(pushed);
  const [, next] = await bothRun(pushed);
  await pushed.world.until(() => loseProcesses(pushed, next["scheduledId"]) > 0, {
    withinMs: 1_000,
  });
  await rest(pushed, DRAINED_MS);
  expect(statuses(pushed)).toEqual(["succeeded"]);
  expect(resets(pushed)).toBeGreaterThan(0);
});

test("a process dies when its lane has just said that it drains", async () => {
  pushed = await startPushWorld(9, SHORT_LIVED);
  await drains(pushed, () => void loseProcesses(pushed));
  await rest(pushed, DRAINED_MS);
  expect(statuses(pushed)).toEqual(["succeeded"]);
  expect(resets(pushed)).toBeGreaterThan(0);
});
