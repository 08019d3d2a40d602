import { afterEach, expect, test } from "vitest";
import type { VirtualClock } from "../../virtual/clock.js";
import {
  PRELUDE,
  startVirtualBackend,
  type Sources,
  type TestBackend,
  type TestOptions,
} from "../testing.js";
import type { Completion } from "../types.js";
import { CRON_LOGS, CRON_NEXT_RUN } from "./table.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

let backend: TestBackend;
let clock: VirtualClock;
let completions: Completion[];
afterEach(() => clock.run(() => backend.stop()));

const LIB = `${PRELUDE}
  export const tick = internalMutation((ctx, { name }) => ctx.db.insert("ticks", { name, at: Date.now() }));
  export const tock = internalMutation((ctx, { name }) => ctx.db.insert("ticks", { name: "new " + name, at: Date.now() }));
  export const fail = internalMutation(async (ctx) => {
    await ctx.db.insert("ticks", { name: "never", at: 0 });
    throw new Error("not today");
  });
  export const count = internalMutation(async (ctx) => {
    const row = await ctx.db.query("counters").first();
    await ctx.db.patch(row._id, { runs: row.runs + 1 });
  });
  export const slow = internalAction(async (ctx, { seconds }) => {
    await ctx.runMutation(internal.lib.tick, { name: "begins" });
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    await ctx.runMutation(internal.lib.tick, { name: "ends" });
  });
  export const ticks = query((ctx) => ctx.db.query("ticks").collect());
`;

/** An app, or with `component` an app that mounts one, with these lines as its crons. */
function app(crons: string, lib = LIB): Record<string, string> {
  return {
    "lib.ts": lib,
    "crons.ts": `${PRELUDE} const crons = cronJobs(); ${crons} export default crons;`,
  };
}

async function start(sources: Sources, options: TestOptions = {}): Promise<void> {
  ({ backend, clock } = await startVirtualBackend(sources, {
    ...options,
    runner: { cronSplayMs: 0, ...options.runner },
  }));
  completions = [];
  backend.runner.onCompletion((completion) => completions.push(completion));
}

function push(crons: string): Promise<void> {
  return clock.run(() => backend.push({ "": app(crons) }));
}

async function ticks(path = "lib:ticks"): Promise<{ name: string; at: number }[]> {
  return clock.run(() => backend.query(path)) as Promise<{ name: string; at: number }[]>;
}

async function system(table: string): Promise<any[]> {
  return clock.run(async () => {
    const rows = [];
    const all = { table, index: "by_creation_time", range: [], order: "asc" as const };
    for await (const row of backend.database.begin().stream("", { ...all, system: true })) {
      rows.push(row);
    }
    return rows;
  });
}

test("over a week each cron runs as often as it says, at its time", async () => {
  await start({
    "": app(`
      crons.interval("interval", { hours: 6 }, internal.lib.tick, { name: "interval" });
      crons.hourly("hourly", { minuteUTC: 15 }, internal.lib.tick, { name: "hourly" });
      crons.daily("daily", { hourUTC: 3, minuteUTC: 30 }, internal.lib.tick, { name: "daily" });
      crons.weekly("weekly", { dayOfWeek: "monday", hourUTC: 9, minuteUTC: 0 }, internal.lib.tick, { name: "weekly" });
      crons.monthly("monthly", { day: 5, hourUTC: 0, minuteUTC: 0 }, internal.lib.tick, { name: "monthly" });
      crons.cron("cron", "0 12 * * 1-5", internal.lib.tick, { name: "cron" });`),
  });
  // From Thursday, the first of January 2026, midnight.
  await clock.advance(7 * DAY_MS);
  const rows = await ticks();
  const times = (name: string) =>
    rows
      .filter((row) => row.name === name)
      .map(({ at }) => new Date(at).toISOString().slice(5, 16));
  expect(times("interval")).toHaveLength(28 + 1);
  expect(times("hourly")).toHaveLength(7 * 24);
  expect(times("daily")).toEqual([1, 2, 3, 4, 5, 6, 7].map((day) => `01-0${day}T03:30`));
  expect(times("weekly")).toEqual(["01-05T09:00"]);
  expect(times("monthly")).toEqual(["01-05T00:00"]);
  expect(times("cron")).toEqual([1, 2, 5, 6, 7].map((day) => `01-0${day}T12:00`));
  expect(rows).toHaveLength(completions.filter(({ scheduled }) => scheduled).length);
});

test("with the platform's spread a cron starts in its minute, always in the same second", async () => {
  const crons = `crons.daily("daily", { hourUTC: 3, minuteUTC: 30 }, internal.lib.tick, { name: "x" });`;
  await start({ "": app(crons) }, { runner: { cronSplayMs: 60_000 } });
  await clock.advance(4 * DAY_MS);
  const times = (await ticks()).map(({ at }) => new Date(at).toISOString().slice(11, 19));
  expect(times).toHaveLength(4);
  expect(times[0]).toMatch(/^03:30:/);
  expect(new Set(times).size).toBe(1);
});

test("runs of one cron never overlap: times that pass meanwhile are skipped, and said to be", async () => {
  await start({
    "": app(`crons.interval("slow", { seconds: 10 }, internal.lib.slow, { seconds: 25 });`),
  });
  await clock.advance(100_000);
  const names = (await ticks()).map(({ name }) => name);
  expect(names.join(" ")).toBe("begins ends begins ends begins ends begins");
  const skipped = (await system(CRON_LOGS)).filter(({ outcome }) => outcome.kind === "skipped");
  expect(skipped.map(({ outcome }) => outcome.runs)).toEqual([2, 2, 2]);
});

test("a mutation that loses to other commits is retried until it counts, and then once", async () => {
  const lib = `${LIB}
    export const seed = mutation((ctx) => ctx.db.insert("counters", { runs: 0, touched: 0 }));
    export const touch = mutation(async (ctx) => {
      const row = await ctx.db.query("counters").first();
      await ctx.db.patch(row._id, { touched: row.touched + 1 });
    });
    export const counter = query((ctx) => ctx.db.query("counters").first());`;
  await start({ "": { "lib.ts": lib } }, {});
  await clock.run(() => backend.mutation("lib:seed"));
  await clock.run(() =>
    backend.push({ "": app(`crons.interval("count", { seconds: 1 }, internal.lib.count);`, lib) }),
  );
  const rival = async () => {
    for (let i = 0; i < 80; i++) {
      await backend.mutation("lib:touch");
      await clock.sleep(7);
    }
  };
  await clock.run(() => Promise.all([rival(), rival(), clock.sleep(8_500)]));
  const runs = completions.filter(({ scheduled }) => scheduled);
  const counted = runs.filter(({ error }) => error === undefined).length;
  expect(runs.length).toBeGreaterThan(counted);
  expect(await clock.run(() => backend.query("lib:counter"))).toMatchObject({ runs: counted });
});

test("a run that fails writes nothing but its error, and the next one comes in its time", async () => {
  await start({ "": app(`crons.interval("fail", { minutes: 1 }, internal.lib.fail);`) });
  await clock.advance(10 * MINUTE_MS);
  expect(await ticks()).toEqual([]);
  expect(completions.filter(({ scheduled }) => scheduled)).toHaveLength(11);
  const logs = await system(CRON_LOGS);
  expect(logs).toHaveLength(5);
  expect(logs.at(-1)).toMatchObject({ name: "fail", outcome: { kind: "failed" } });
  expect(logs.at(-1).outcome.error).toContain("not today");
});

test("crons that a push leaves unchanged keep their time; changed ones take the new; removed ones end", async () => {
  const kept = `crons.daily("kept", { hourUTC: 12, minuteUTC: 0 }, internal.lib.tick, { name: "kept" });`;
  await start({
    "": app(`${kept}
      crons.daily("changed", { hourUTC: 12, minuteUTC: 0 }, internal.lib.tick, { name: "changed" });
      crons.interval("gone", { hours: 1 }, internal.lib.tick, { name: "gone" });`),
  });
  await clock.advance(HOUR_MS / 2);
  const before = await system(CRON_NEXT_RUN);
  await push(`${kept}
      crons.daily("changed", { hourUTC: 6, minuteUTC: 0 }, internal.lib.tock, { name: "changed" });`);
  const after = await system(CRON_NEXT_RUN);
  expect(after).toHaveLength(2);
  expect(before.map(({ _id }) => _id)).toEqual(expect.arrayContaining(after.map(({ _id }) => _id)));
  await clock.advance(DAY_MS);
  expect((await ticks()).map(({ name }) => name)).toEqual(["gone", "new changed", "kept"]);
});

test("a push in the middle of an action's run does not make it run twice", async () => {
  const cron = (seconds: number) =>
    `crons.interval("slow", { minutes: ${seconds} }, internal.lib.slow, { seconds: 30 });`;
  await start({ "": app(cron(1)) });
  await clock.advance(10_000);
  await push(cron(5));
  await clock.advance(3 * MINUTE_MS);
  expect((await ticks()).map(({ name }) => name)).toEqual(["begins", "ends"]);
});

test("a cron that a push took away while it waits for its retry does not run any more", async () => {
  await start({
    "": app(`crons.interval("tick", { minutes: 1 }, internal.lib.tick, { name: "x" });`),
  });
  await clock.advance(30_000);
  await push("");
  await clock.advance(HOUR_MS);
  expect(await ticks()).toHaveLength(1);
  expect(await system(CRON_LOGS)).toEqual([]);
});

test("a component's crons run in the component, and end when it is not mounted any more", async () => {
  const child = app(
    `crons.interval("tick", { minutes: 1 }, internal.lib.tick, { name: "child" });`,
  );
  await start({ "": { "lib.ts": LIB }, child });
  await clock.advance(150_000);
  expect(await ticks("child::lib:ticks")).toHaveLength(3);
  expect(await ticks()).toEqual([]);
  await clock.run(() => backend.push({ "": { "lib.ts": LIB } }));
  await clock.advance(HOUR_MS);
  await clock.run(() => backend.push({ "": { "lib.ts": LIB }, child: { "lib.ts": LIB } }));
  expect(await ticks("child::lib:ticks")).toHaveLength(3);
});

test("crons have places of their own: scheduled actions that take all of theirs do not hold them up", async () => {
  await start(
    {
      "": app(
        `crons.interval("tick", { seconds: 10 }, internal.lib.tick, { name: "cron" });`,
        `${LIB} export const fill = mutation((ctx) => ctx.scheduler.runAfter(0, internal.lib.slow, { seconds: 3600 }));`,
      ),
    },
    { runner: { classLimits: { scheduledJobs: 1 } } },
  );
  await clock.run(() => backend.mutation("lib:fill"));
  await clock.run(() => backend.mutation("lib:fill"));
  await clock.advance(55_000);
  expect((await ticks()).filter(({ name }) => name === "cron")).toHaveLength(6);
  expect((await ticks()).filter(({ name }) => name === "begins")).toHaveLength(1);
});

test("system tables of crons are not the app's to read", async () => {
  await start({
    "": app(
      `crons.interval("tick", { minutes: 1 }, internal.lib.tick, { name: "x" });`,
      `${LIB} export const peek = query((ctx) => ctx.db.system.query("_cron_jobs").collect());`,
    ),
  });
  await expect(clock.run(() => backend.query("lib:peek"))).rejects.toThrow(/no system table/);
});
