/**
 * A pool with real processes, of a module without a deployment, in time that passes by hand: what it replaces, and what it
 * leaves alone.
 */
import { afterEach, expect, test } from "vitest";
import { endPools, newPool } from "../support/handPool.js";

afterEach(endPools);

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
