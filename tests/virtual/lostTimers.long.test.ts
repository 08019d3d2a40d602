/**
 * Scheduled functions of the component that never run, in push queues: they were canceled by hand, or have failed. In virtual
 * time; the conditions afterwards are in `pushWorld.ts`, and each test names the repair that noticed.
 */
import { afterEach, expect, test } from "vitest";
import { markCompleted } from "../../local/functions/scheduledTable.js";
import { HANDLER_BEGAN, loseProcesses, until } from "./pushMoments.js";
import {
  checkRest,
  COMPONENT,
  enqueue,
  startPushWorld,
  watch,
  type PushWorld,
} from "./pushWorld.js";

/** Longer than until an overdue function counts as dead, a sweep has come, lost jobs have run, and the last sweep has been. */
const CALM_MS = 180_000;

let pushed: PushWorld;
afterEach(async () => await pushed.world.close());

const ENDS = {
  canceled: { kind: "canceled" },
  failed: { kind: "failed", error: "It was to fail." },
} as const;

/** Every scheduled function of this name that waits, one at least, will never run. How many they were. */
async function lose(name: string, how: keyof typeof ENDS = "canceled"): Promise<number> {
  const { world, store } = pushed;
  const victims = store.open().filter((row) => row.name === name && row.state.kind === "pending");
  expect(victims).not.toEqual([]);
  const { database } = world.backend;
  const tx = database.begin();
  for (const { _id } of victims) {
    const scheduled = { namespace: COMPONENT, id: _id };
    await world.run(markCompleted(tx, scheduled, ENDS[how], world.now()));
  }
  await world.run(database.commit(tx, "a cancel in the dashboard"));
  return victims.length;
}

async function settle(): Promise<void> {
  await pushed.world.advance(CALM_MS);
}

async function rest(): Promise<void> {
  await settle();
  await checkRest(pushed);
}

const openJobs = () =>
  pushed.store.jobs().filter(({ status }) => ["pending", "running", "scheduled"].includes(status));

// --- The janitor's sweep ------------------------------------------------------------------------

test.each(["canceled", "failed"] as const)(
  "the sweep is %s and the lane dies: the next job's wake makes sure of another, which finds the lane",
  async (how) => {
    pushed = await startPushWorld(1);
    const { world } = pushed;
    await settle();
    const began = until(pushed, HANDLER_BEGAN);
    void enqueue(world, "acted", [{ n: 10, ms: 1_000 }]);
    await began;
    await lose("tend/janitor.js:sweep", how);
    expect(loseProcesses(pushed)).toBeGreaterThan(0);
    await settle();
    expect(openJobs()).toHaveLength(1);
    await enqueue(world, "acted", [{ n: 11, ms: 10 }]);
    await rest();
  },
);

// Shows H11.
test("the same where the dead lane has all the room there is: the wake that finds none makes sure of a sweep", async () => {
  pushed = await startPushWorld(2, { maxParallelism: 1 });
  const { world } = pushed;
  await settle();
  const began = until(pushed, HANDLER_BEGAN);
  void enqueue(world, "acted", [{ n: 10, ms: 1_000 }]);
  await began;
  await lose("tend/janitor.js:sweep");
  expect(loseProcesses(pushed)).toBe(1);
  await settle();
  await enqueue(world, "acted", [{ n: 11, ms: 10 }]);
  await rest();
});

test("the sweep is lost while jobs keep coming: calls of their lanes and wakes make sure of another", async () => {
  pushed = await startPushWorld(3);
  const { world } = pushed;
  void enqueue(world, "acted", [{ n: 10, ms: 100_000 }]);
  await world.advance(1_000);
  await lose("tend/janitor.js:sweep");
  for (let n = 11; n < 71; n += 1) {
    void enqueue(world, "acted", [{ n, ms: 100 }]);
    await world.advance(1_000);
  }
  expect(loseProcesses(pushed)).toBeGreaterThan(0);
  await rest();
});

test("the sweep is lost, the lane dies, and no call comes: an app's cron brings both back", async () => {
  pushed = await startPushWorld(4);
  const { world } = pushed;
  await settle();
  const began = until(pushed, HANDLER_BEGAN);
  void enqueue(world, "acted", [{ n: 10, ms: 1_000 }]);
  await began;
  await lose("tend/janitor.js:sweep");
  loseProcesses(pushed);
  await settle();
  expect(openJobs()).toHaveLength(1);
  await watch(world);
  await rest();
});

// --- The dispatcher's alarm ---------------------------------------------------------------------

test("an alarm is lost while a lane of the queue works: a sweep finds the jobs that were due", async () => {
  pushed = await startPushWorld(5);
  const { world } = pushed;
  await enqueue(world, "acted", [{ n: 10, ms: 10 }], { runAfter: 2_000 });
  await enqueue(world, "acted", [{ n: 11, ms: 60_000 }]);
  await lose("edges/dispatcher.js:promoteDue");
  await rest();
});

test("an alarm is lost and nothing runs: the next job's lane brings a sweep, which finds the jobs that were due", async () => {
  pushed = await startPushWorld(6);
  const { world } = pushed;
  await settle();
  await enqueue(world, "acted", [{ n: 10, ms: 10 }], { runAfter: 60_000 });
  await lose("edges/dispatcher.js:promoteDue");
  await settle();
  expect(openJobs()).toMatchObject([{ status: "scheduled" }]);
  await enqueue(world, "acted", [{ n: 11, ms: 10 }]);
  await rest();
});

test("an alarm is lost, nothing runs and no call comes: an app's cron finds the jobs that were due", async () => {
  pushed = await startPushWorld(7);
  const { world } = pushed;
  await enqueue(world, "written", [{ n: 10, ms: 10 }], { runAfter: 60_000 });
  await lose("edges/dispatcher.js:promoteDue");
  await settle();
  expect(openJobs()).toMatchObject([{ status: "scheduled" }]);
  await watch(world);
  await rest();
});

// --- The wake -----------------------------------------------------------------------------------

/** A queue in which nothing happens, and a job with one wake that will never run. */
async function loseWake(seed: number): Promise<void> {
  pushed = await startPushWorld(seed);
  const { world, store } = pushed;
  await settle();
  const isWoken = () => store.open().some(({ name }) => name === "push/wake.js:wake");
  void enqueue(world, "acted", [{ n: 10, ms: 10 }]);
  await world.until(isWoken, { withinMs: 1_000 });
  expect(await lose("push/wake.js:wake")).toBe(1);
  await settle();
  expect(openJobs()).toMatchObject([{ status: "pending", attempt: 0 }]);
}

test("the only wake of a queue is lost: that of the next jobs takes all", async () => {
  await loseWake(8);
  await enqueue(pushed.world, "acted", [
    { n: 11, ms: 10 },
    { n: 12, ms: 10 },
  ]);
  await pushed.world.advance(1_000);
  expect(openJobs()).toEqual([]);
  await rest();
});

test("the only wake of a queue is lost: the next job's lane leaves a sweep to come, which finds the job", async () => {
  await loseWake(8);
  await enqueue(pushed.world, "acted", [{ n: 11, ms: 10 }]);
  await pushed.world.advance(60_000);
  expect(openJobs()).toEqual([]);
  await rest();
});

test("the only wake of a queue is lost: a sweep for another queue's leases finds the job", async () => {
  await loseWake(9);
  await enqueue(pushed.world, "written", [{ n: 11, ms: 10 }]);
  await rest();
});

test("the only wake of a queue is lost, and no call comes: an app's cron finds the job", async () => {
  await loseWake(10);
  await watch(pushed.world);
  await rest();
});
