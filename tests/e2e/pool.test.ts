/**
 * A pool with real processes, of a module without a deployment, in time that passes by hand: what it replaces, and what it
 * leaves alone.
 */
import { once } from "node:events";
import { afterEach, expect, test, vi } from "vitest";
import { KILL_AFTER_MS } from "../../src/worker/pool/limits.js";
import { CHECK_MS, endPools, idOf, newPool } from "../support/handPool.js";

afterEach(endPools);

// Shows L2, L5, CR-09.
test("each process has a number and a name of its own, and one that is killed is replaced after a backoff", async () => {
  const { clock, event, supervisor, status } = newPool({}, { processes: 2 });
  await Promise.all([event("ready", 1), event("ready", 2)]);
  expect(status(1)).toMatchObject({
    ...{ name: "pool:1", state: "waiting", slots: { used: 0, had: 2 }, done: 7, isQuiet: false },
  });
  expect(status(1)!.memoryBytes).toBeGreaterThan(1e6);
  process.kill(status(1)!.pid, "SIGKILL");
  expect(await event("ended", 1)).toMatchObject({ reason: "crashed", signal: "SIGKILL" });
  expect(await event("backoff", 1)).toMatchObject({ failures: 1, inMs: 375 });
  clock.pass(374);
  expect(supervisor.statuses.map(({ id }) => id)).toEqual([2]);
  clock.pass(1);
  await event("ready", 3);
  expect(supervisor.statuses.map(({ name }) => name)).toEqual(["pool:2", "pool:3"]);
});

// Shows CR-10, CR-16.
test("a process that throws outside its handlers tells its error, and is replaced", async () => {
  const { clock, event } = newPool({ 1: "throws" });
  expect(await event("ended", 1)).toMatchObject({
    ...{ reason: "crashed", error: "Nothing expects an error of this.", signal: null },
  });
  await event("backoff", 1);
  clock.pass(375);
  await event("ready", 2);
});

test("with startTries a pool of which no process was ever ready gives up, with the error of the last", async () => {
  const { clock, event, running } = newPool({ rest: "broken" }, { startTries: 2 });
  clock.pass((await event("backoff", 1)).inMs);
  await expect(running).rejects.toThrow(
    /pool:2 ended with code 1 before it was ready: The module is broken/,
  );
});

test("a module without a worker is told how to write one", async () => {
  const { event } = newPool({ rest: "empty" });
  expect((await event("ended", 1)).error).toMatch(/makes no worker while it is loaded/);
});

test("where one worker of a process is refused, the jobs of its neighbours are done before the process ends", async () => {
  const { events, event } = newPool({ 1: "refused" });
  expect(await event("ended", 1)).toMatchObject({
    ...{ reason: "crashed", code: 1, error: "The queue is forbidden." },
  });
  expect(events.filter(({ kind }) => kind === "unknownMessage")).toMatchObject([
    { message: { type: "jobDone" } },
  ]);
});

test("a process that the system refuses to start counts as one that has ended, and is started after a backoff", async () => {
  let starts = 0;
  const { clock, event, status } = newPool(
    {},
    {
      // The system has a limit for an environment's variable.
      fork: (fork) => fork((starts += 1) === 1 ? { LARGE: "x".repeat(2 ** 20) } : {}),
    },
  );
  expect(await event("ended", 1)).toMatchObject({ reason: "crashed", code: null, signal: null });
  expect((await event("ended", 1)).error).toMatch(/E2BIG/);
  clock.pass((await event("backoff", 1)).inMs);
  await event("ready", 2);
  expect(status(2)).toMatchObject({ state: "waiting" });
});

// Shows L3, L4, CR-11, CR-12.
test.each(["blocks", "deaf", "cut"] as const)(
  "a process that acknowledges nothing (%s) is killed and replaced, and its neighbour stays",
  async (mode) => {
    const { clock, events, event, checked } = newPool({ 1: mode }, { processes: 2 });
    await Promise.all([
      mode === "deaf" ? event("started", 1) : event("ready", 1),
      event("ready", 2),
    ]);
    // It may acknowledge some more orders before it falls silent.
    const isKnown = () => events.some(({ kind }) => kind === "replaced");
    while (!isKnown()) await checked(2);
    expect(await event("replaced", 1)).toMatchObject({ reason: "silent" });
    expect(await event("ended", 1)).toMatchObject({ reason: "silent", signal: "SIGKILL" });
    clock.pass((await event("backoff", 1)).inMs);
    await event("ready", 3);
    expect(events.filter((one) => one.kind === "replaced")).toHaveLength(1);
  },
);

// Shows CR-11.
test("a process that answers is left alone, however late its checks come", async () => {
  const { clock, events, event, checked, status } = newPool({});
  await event("ready", 1);
  for (let check = 0; check < 8; check += 1) await checked(1);
  // The machine has slept: a day is over at once, and one check comes late.
  clock.sleep(86_400_000);
  await checked(1);
  expect(status(1)).toMatchObject({ state: "waiting" });
  expect(events.map(({ kind }) => kind)).toEqual(["started", "ready"]);
});

// Shows D18, L4, CR-12.
test("a process beyond its memory limit is stopped with its grace and replaced, and its neighbour stays", async () => {
  const { clock, events, event, checked } = newPool(
    { 1: "grows" },
    { processes: 2, maxMemoryBytes: 290e6 },
  );
  await Promise.all([event("ready", 1), event("ready", 2)]);
  await checked(1, 2);
  clock.pass(CHECK_MS);
  expect(await event("replaced")).toMatchObject({ id: 1, reason: "memory" });
  expect(await event("ended")).toMatchObject({ id: 1, reason: "memory", code: 0, signal: null });
  clock.pass((await event("backoff", 1)).inMs);
  await event("ready", 3);
  expect(events.filter(({ kind }) => kind === "replaced")).toHaveLength(1);
});

// Shows L3, CR-10, CR-15.
test("words that are no message of the pool are told, and do no harm", async () => {
  const { events, event, checked } = newPool({ 1: "babbles" });
  await event("ready", 1);
  await checked(1);
  const unknown = events.flatMap((one) => (one.kind === "unknownMessage" ? [one.message] : []));
  expect(unknown).toEqual([
    ...[null, 7, "rain", {}, { type: "weather" }],
    ...[
      { type: "acknowledged", id: 1 },
      { type: "ready", load: { state: 7 } },
    ],
  ]);
});

// Shows CR-15.
test("an order that a process does not know is acknowledged, and does no harm", async () => {
  const { events, event, checked, children } = newPool({});
  await event("ready", 1);
  const answered = once(children[0]!, "message");
  children[0]!.send({ type: "weather", id: 1_000 });
  expect(await answered).toMatchObject([{ type: "acknowledged", id: 1_000 }, undefined]);
  await checked(1);
  expect(events.map(({ kind }) => kind)).toEqual(["started", "ready"]);
});

// Shows L2, CR-10.
test("quiet and resume reach the worker of each process, also of one that begins in a quiet pool", async () => {
  const { event, supervisor, status } = newPool({});
  const slots = (id: number, had: number) =>
    vi.waitUntil(() => status(id)!.slots.had === had, { timeout: 20_000, interval: 5 });
  await event("ready", 1);
  expect(status(1)!.slots.had).toBe(2);
  supervisor.quiet(true);
  await slots(1, 0);
  await supervisor.resize(2);
  await event("ready", 2);
  expect(status(2)!.slots.had).toBe(0);
  supervisor.quiet(false);
  await Promise.all([slots(1, 2), slots(2, 2)]);
});

test("resize before the pool runs starts nothing, and is the number with which it begins", async () => {
  const { events, event, supervisor } = newPool({}, { processes: 3, runs: false });
  await supervisor.resize(4);
  await supervisor.resize(2);
  expect(events).toEqual([]);
  void supervisor.run();
  await Promise.all([event("ready", 1), event("ready", 2)]);
  expect(supervisor.statuses).toHaveLength(2);
});

test("a rolling restart has a new process ready before each old one stops", async () => {
  const { events, event, supervisor } = newPool({}, { processes: 2 });
  await Promise.all([event("ready", 1), event("ready", 2)]);
  await supervisor.restart();
  const order = events
    .filter(({ kind }) => kind === "ready" || kind === "ended")
    .map((one) => `${one.kind} ${idOf(one)}`);
  expect(order.slice(2)).toEqual(["ready 3", "ended 1", "ready 4", "ended 2"]);
  expect(supervisor.statuses.map(({ id }) => id)).toEqual([3, 4]);
});

test("a stop ends all processes by message, before their grace is over, and the run with them", async () => {
  const { events, event, supervisor, running } = newPool({ 3: "offline" }, { processes: 3 });
  await Promise.all([event("ready", 1), event("ready", 2), event("started", 3)]);
  await supervisor.stop(8_000);
  await running;
  const ends = events.filter((one) => one.kind === "ended");
  expect(ends.map(({ reason, code, signal }) => ({ reason, code, signal }))).toEqual(
    Array(3).fill({ reason: "stopped", code: 0, signal: null }),
  );
  expect(supervisor.statuses).toEqual([]);
});

test("a process that ignores the message and SIGTERM is killed 5 s after the grace, and not before", async () => {
  const { clock, children, event, supervisor, running, status } = newPool({ 1: "stubborn" });
  await event("ready", 1);
  const kill = vi.spyOn(children[0]!, "kill");
  const stopping = supervisor.stop(8_000);
  process.kill(status(1)!.pid, "SIGTERM");
  expect(status(1)).toMatchObject({ state: "draining" });
  clock.pass(12_999);
  expect(kill).not.toHaveBeenCalled();
  clock.pass(1);
  expect(kill.mock.calls).toEqual([["SIGKILL"]]);
  await Promise.all([stopping, running]);
  expect(await event("ended", 1)).toMatchObject({ reason: "stopped", signal: "SIGKILL" });
});

test("a second stop with more grace does not prolong the first", async () => {
  const { clock, event, supervisor } = newPool({ 1: "stubborn" });
  await event("ready", 1);
  void supervisor.stop(0);
  void supervisor.stop(3_600_000);
  clock.pass(KILL_AFTER_MS);
  expect(await event("ended", 1)).toMatchObject({ reason: "stopped", signal: "SIGKILL" });
});

test("a second stop with less grace hurries the first", async () => {
  const { clock, event, supervisor, running } = newPool({ 1: "stubborn" });
  await event("ready", 1);
  void supervisor.stop(3_600_000);
  void supervisor.stop(0);
  clock.pass(5_000);
  await running;
  expect(await event("ended", 1)).toMatchObject({ signal: "SIGKILL" });
});

test("processes end by themselves when their pool is gone", async () => {
  const { event, children } = newPool({});
  await event("ready", 1);
  // The line is cut with the pool's process, however that has ended.
  children[0]!.disconnect();
  expect(await event("ended", 1)).toMatchObject({ code: 0, signal: null });
});
