/**
 * A pool with real processes, of a module without a deployment, in time that passes by hand: what it replaces, and what it
 * leaves alone.
 */
import { afterEach, expect, test } from "vitest";
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

// Shows CR-10.
test("a process that throws outside its handlers tells its error, and is replaced", async () => {
  const { clock, event } = newPool({ 1: "throws" });
  expect(await event("ended", 1)).toMatchObject({
    ...{ reason: "crashed", error: "Nothing expects an error of this.", signal: null },
  });
  await event("backoff", 1);
  clock.pass(375);
  await event("ready", 2);
});

// Shows L4.
test("a module that always fails is started again after waits that double, up to half a minute", async () => {
  const { clock, event } = newPool({ rest: "broken" });
  const waits: number[] = [];
  for (let id = 1; id <= 9; id += 1) {
    const { inMs, failures } = await event("backoff", id);
    expect(failures).toBe(id);
    waits.push(inMs);
    clock.pass(inMs);
  }
  expect(waits).toEqual([375, 750, 1_500, 3_000, 6_000, 12_000, 22_500, 22_500, 22_500]);
  expect(await event("ended", 9)).toMatchObject({ error: "The module is broken.", code: 1 });
}, 120_000);

test("the failure of a process that was ready for a minute begins a new series", async () => {
  const { clock, event, status, checked } = newPool({ 1: "broken" }, { silentMs: 600_000 });
  clock.pass((await event("backoff", 1)).inMs);
  await event("ready", 2);
  for (let check = 0; check < 12; check += 1) await checked(2);
  process.kill(status(2)!.pid, "SIGKILL");
  expect(await event("backoff", 2)).toMatchObject({ failures: 1 });
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

test("a process whose workers have come to their end is replaced at once, and has not failed", async () => {
  const { clock, events, event } = newPool({ 1: "finishes", 2: "finishes" });
  await event("ready", 1);
  clock.pass(5_000);
  expect(await event("ended", 1)).toMatchObject({ reason: "finished", code: 0 });
  await event("ready", 2);
  clock.pass(5_000);
  await event("ready", 3);
  expect(events.filter(({ kind }) => kind === "backoff")).toEqual([]);
});

test("a process that has finished within seconds is replaced after a pause, since processes would start without end", async () => {
  const { clock, event, supervisor } = newPool({ 1: "finishes" });
  expect(await event("ended", 1)).toMatchObject({ reason: "finished" });
  clock.pass(499);
  expect(supervisor.statuses).toEqual([]);
  clock.pass(1);
  await event("ready", 2);
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
  expect(await event("ended")).toMatchObject({ id: 1, reason: "memory" });
  clock.pass((await event("backoff", 1)).inMs);
  await event("ready", 3);
  expect(events.filter(({ kind }) => kind === "replaced")).toHaveLength(1);
});

// Shows L3, CR-10.
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

test("resize before the pool runs starts nothing, and is the number with which it begins", async () => {
  const { events, event, supervisor } = newPool({}, { processes: 3, runs: false });
  await supervisor.resize(4);
  await supervisor.resize(2);
  expect(events).toEqual([]);
  void supervisor.run();
  await Promise.all([event("ready", 1), event("ready", 2)]);
  expect(supervisor.statuses).toHaveLength(2);
});

// Shows L2.
test("resize starts and stops processes, the last started first, and a new one is quiet where the pool is", async () => {
  const { event, supervisor, status } = newPool({}, { processes: 1 });
  await event("ready", 1);
  supervisor.quiet(true);
  await supervisor.resize(3);
  await Promise.all([event("ready", 2), event("ready", 3)]);
  expect([1, 2, 3].map((id) => status(id)!.isQuiet)).toEqual([true, true, true]);
  supervisor.quiet(false);
  await supervisor.resize(1);
  expect(supervisor.statuses.map(({ id, isQuiet }) => ({ id, isQuiet }))).toEqual([
    { id: 1, isQuiet: false },
  ]);
  expect(await event("ended", 3)).toMatchObject({ reason: "stopped", code: 0 });
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

test("a restart during a rolling restart extends it: no process of an older one is left", async () => {
  const { event, supervisor } = newPool({}, { processes: 2 });
  await Promise.all([event("ready", 1), event("ready", 2)]);
  const first = supervisor.restart();
  await event("ready", 3);
  await Promise.all([first, supervisor.restart()]);
  const left = supervisor.statuses.map(({ id }) => id);
  expect(left).toHaveLength(2);
  expect(Math.min(...left)).toBeGreaterThan(3);
});

test("a rolling restart whose new process fails leaves the old ones at work", async () => {
  const { event, supervisor, status } = newPool({ 3: "broken" }, { processes: 2 });
  await Promise.all([event("ready", 1), event("ready", 2)]);
  await expect(supervisor.restart()).rejects.toThrow(/pool:3 .*The module is broken/);
  expect(await event("restartFailed")).toMatchObject({ error: expect.stringContaining("pool:3") });
  expect(supervisor.statuses.map(({ id, state }) => ({ id, state }))).toEqual([
    { id: 1, state: "waiting" },
    { id: 2, state: "waiting" },
  ]);
  // The next one is a whole one.
  await supervisor.restart();
  expect(status(1) ?? status(2)).toBeUndefined();
});

test("a restart that is asked for while an earlier one fails is not lost", async () => {
  const restarts: Promise<void>[] = [];
  const { event, supervisor } = newPool(
    { 2: "broken" },
    {
      heard: (one) => {
        if (one.kind === "ended" && one.id === 2) restarts.push(supervisor.restart());
      },
    },
  );
  await event("ready", 1);
  restarts.push(supervisor.restart());
  await event("ended", 1);
  await Promise.all(restarts);
  expect(supervisor.statuses.map(({ id, state }) => ({ id, state }))).toEqual([
    { id: 3, state: "waiting" },
  ]);
});

test("a listener to the failure of a restart may ask for the next one", async () => {
  const restarts: Promise<void>[] = [];
  const { event, supervisor } = newPool(
    { 2: "broken" },
    {
      heard: (one) => {
        if (one.kind === "restartFailed") restarts.push(supervisor.restart());
      },
    },
  );
  await event("ready", 1);
  await supervisor.restart();
  await Promise.all(restarts);
  expect(supervisor.statuses.map(({ id }) => id)).toEqual([3]);
});

test("a restart goes on where the new process of an earlier one never gets ready", async () => {
  const { event, supervisor } = newPool({ 2: "offline" }, { processes: 1 });
  await event("ready", 1);
  const first = supervisor.restart();
  await event("started", 2);
  await Promise.all([first, supervisor.restart()]);
  expect(await event("ended", 2)).toMatchObject({ reason: "stopped" });
  expect(supervisor.statuses.map(({ id }) => id)).toEqual([3]);
});

test("a restart starts a process in place of one that waits for its backoff, and of one without a deployment", async () => {
  const { event, supervisor } = newPool({ 1: "broken", 2: "offline" }, { processes: 2 });
  await Promise.all([event("backoff", 1), event("started", 2)]);
  await supervisor.restart();
  await Promise.all([event("ready", 3), event("ready", 4), event("ended", 2)]);
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
  const { clock, events, event, supervisor, running, status } = newPool({ 1: "stubborn" });
  await event("ready", 1);
  const stopping = supervisor.stop(8_000);
  process.kill(status(1)!.pid, "SIGTERM");
  expect(status(1)).toMatchObject({ state: "draining" });
  clock.pass(12_999);
  await new Promise((resolve) => setImmediate(resolve));
  expect(events.some(({ kind }) => kind === "ended")).toBe(false);
  clock.pass(1);
  await Promise.all([stopping, running]);
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
