/** The executor of scheduled functions on virtual time: order, places, states, cancellation, starting again. */
import { afterEach, expect, test } from "vitest";
import type { Step } from "../environment.js";
import type { VirtualClock } from "../virtual/clock.js";
import type { Wait } from "./events.js";
import { createFunctionRunner } from "./runner.js";
import { ARGS_TABLE, COMPLETED_INDEX, SCHEDULED_TABLE } from "./scheduledTable.js";
import {
  makeDeployment,
  PRELUDE,
  startVirtualBackend,
  type Sources,
  type TestBackend,
} from "./testing.js";
import type { Completion, RunnerOptions } from "./types.js";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

let backend: TestBackend;
let clock: VirtualClock;
let completions: Completion[];
let waits: Wait[];
afterEach(() => clock.run(() => backend.stop()));

const SCHEMA = `${PRELUDE}
  export default defineSchema({ rows: defineTable(v.any()), hot: defineTable(v.any()) });
`;
const LIB = `${PRELUDE}
  export const add = internalMutation((ctx, { name }) => ctx.db.insert("rows", { name, at: Date.now() }));
  export const work = internalAction(async (ctx, { name, ms }) => {
    await ctx.runMutation(internal.lib.add, { name: name + " begins" });
    await new Promise((resolve) => setTimeout(resolve, ms));
    await ctx.runMutation(internal.lib.add, { name: name + " ends" });
  });
  export const addLater = mutation((ctx, { name, delay, at }) => at === undefined
    ? ctx.scheduler.runAfter(delay ?? 0, internal.lib.add, { name })
    : ctx.scheduler.runAt(at, internal.lib.add, { name }));
  export const addManyLater = mutation(async (ctx, { names, delay }) => {
    for (const name of names) await ctx.scheduler.runAfter(delay ?? 0, internal.lib.add, { name });
  });
  export const workLater = mutation((ctx, { name, ms, delay }) =>
    ctx.scheduler.runAfter(delay ?? 0, internal.lib.work, { name, ms }));
  export const names = query(async (ctx) => (await ctx.db.query("rows").collect()).map((row) => row.name));
  export const rows = query((ctx) => ctx.db.query("rows").collect());
  export const scheduled = query((ctx) => ctx.db.system.query("_scheduled_functions").collect());
  export const state = query(async (ctx, { id }) => (await ctx.db.system.get(id)).state.kind);
  export const cancel = mutation((ctx, { id }) => ctx.scheduler.cancel(id));
  export const heat = mutation((ctx) => ctx.db.insert("hot", { n: 0 }));
  export const stoke = internalMutation(async (ctx) => {
    const row = await ctx.db.query("hot").first();
    await ctx.db.patch(row._id, { n: row.n + 1 });
  });
  export const stokeLater = mutation((ctx) => ctx.scheduler.runAfter(1000, internal.lib.stoke, {}));
`;

async function start(
  runner: RunnerOptions = {},
  more = "",
  others: Sources = {},
  costs?: (step: Step) => number,
): Promise<void> {
  const sources = { "": { "lib.ts": LIB + more, "schema.ts": SCHEMA }, ...others };
  ({ backend, clock } = await startVirtualBackend(sources, {
    runner,
    ...(costs === undefined ? {} : { costs }),
  }));
  completions = [];
  waits = [];
  backend.runner.onCompletion((completion) => completions.push(completion));
  backend.runner.onWait((wait) => waits.push(wait));
}

const mutate = (name: string, args: object = {}): Promise<any> =>
  clock.run(() => backend.mutation(`lib:${name}`, args));
const ask = (name: string, args: object = {}): Promise<any> =>
  clock.run(() => backend.query(`lib:${name}`, args));

test("8 run at once on S16: long actions that take all places delay every other due function", async () => {
  await start();
  for (let i = 0; i < 8; i++) await mutate("workLater", { name: `long ${i}`, ms: 60_000 });
  await mutate("addLater", { name: "short" });
  await clock.advance(59_000);
  expect((await ask("names")).filter((name: string) => /begins/.test(name))).toHaveLength(8);
  expect(await ask("names")).not.toContain("short");
  await clock.advance(2000);
  expect(await ask("names")).toContain("short");
  const longest = Math.max(...waits.filter(({ kind }) => kind === "executor").map(({ ms }) => ms));
  expect(longest).toBeGreaterThan(59_000);
});

test("a larger class has more places", async () => {
  await start({ class: "s256" });
  for (let i = 0; i < 20; i++) await mutate("workLater", { name: `long ${i}`, ms: 60_000 });
  await mutate("addLater", { name: "short" });
  await clock.advance(1000);
  expect(await ask("names")).toHaveLength(21);
});

test("the earliest goes first, over all namespaces", async () => {
  await start({ classLimits: { scheduledJobs: 1 } }, "", {
    child: { "lib.ts": LIB, "schema.ts": SCHEMA },
  });
  const begun = clock.now();
  await mutate("workLater", { name: "long", ms: 10_000 });
  for (const [path, name, delay] of [
    ["lib:addLater", "fourth", 4000],
    ["child::lib:addLater", "third", 3000],
    ["lib:addLater", "second", 2000],
    ["child::lib:addLater", "first", 1000],
  ] as const) {
    await clock.run(() => backend.mutation(path, { name, delay }));
  }
  const order: string[] = [];
  backend.runner.onCompletion(({ address, udfType, scheduled }) => {
    if (scheduled && udfType === "Mutation") order.push(address.namespace);
  });
  await clock.advance(20_000);
  expect(order).toEqual(["child", "", "child", ""]);
  expect(await ask("names")).toEqual(["long begins", "long ends", "second", "fourth"]);
  expect(await clock.run(() => backend.query("child::lib:names"))).toEqual(["first", "third"]);
  expect(clock.now()).toBeGreaterThan(begun + 20_000);
});

test("functions that one mutation schedules for the same time start in the order in which it scheduled them", async () => {
  await start({ classLimits: { scheduledJobs: 1 } });
  const names = Array.from({ length: 30 }, (_, i) => `job ${i}`);
  await mutate("addManyLater", { names });
  await mutate("addManyLater", { names, delay: 5000 });
  await clock.advance(10_000);
  expect(await ask("names")).toEqual([...names, ...names]);
});

test("a time in the past is due at once, and its row keeps the given time", async () => {
  await start();
  const at = clock.now() - HOUR_MS;
  await mutate("addLater", { name: "x", at });
  await clock.advance(100);
  expect(await ask("names")).toEqual(["x"]);
  expect(await ask("scheduled")).toMatchObject([{ scheduledTime: at, state: { kind: "success" } }]);
});

test("a mutation that keeps losing keeps its place while it waits for its retry", async () => {
  await start({ classLimits: { scheduledJobs: 1 } });
  await mutate("heat");
  await mutate("stokeLater");
  await mutate("addLater", { name: "behind it", delay: 1001 });
  let heating = true;
  // Every snapshot is old by the time that its commit is validated.
  const heat = async () => {
    for (let n = 0; heating; n++) {
      const tx = backend.database.begin();
      const rows = tx.stream("", {
        table: "hot",
        index: "by_creation_time",
        range: [],
        order: "asc",
      });
      for await (const { _id } of rows) await tx.patch("", _id, { heat: n });
      await backend.database.commit(tx, "heat").catch(() => {});
    }
  };
  const heated = heat();
  await clock.advance(4000);
  expect(await ask("names")).toEqual([]);
  expect((await ask("scheduled")).map((row: any) => row.state.kind)).toEqual([
    "pending",
    "pending",
  ]);
  heating = false;
  await clock.run(heated);
  await clock.advance(60_000);
  expect(await ask("names")).toEqual(["behind it"]);
  const stoked = completions.find(({ address }) => address.path === "lib:stoke")!;
  expect(stoked.conflicts).toBeGreaterThan(0);
  expect(stoked.error).toBeUndefined();
});

test("a running mutation is in progress to itself, and pending to every other transaction", async () => {
  await start(
    {},
    `
    export const look = internalMutation(async (ctx) => {
      const { scheduledFunctionId } = await ctx.meta.getRequestMetadata();
      const row = await ctx.db.system.get(scheduledFunctionId);
      for (let i = 0; i < 50; i++) await ctx.db.query("rows").first();
      await ctx.db.insert("rows", { name: row.state.kind });
    });
    export const lookLater = mutation((ctx) => ctx.scheduler.runAfter(0, internal.lib.look, {}));`,
    {},
    ({ kind }) => (kind === "read" ? 1 : 0),
  );
  const id = await mutate("lookLater");
  const seen = new Set<string>();
  while (completions.every(({ scheduled }) => !scheduled)) {
    seen.add(await ask("state", { id }));
    await clock.advance(5);
  }
  seen.add(await ask("state", { id }));
  expect([...seen]).toEqual(["pending", "success"]);
  expect(await ask("names")).toEqual(["inProgress"]);
});

test("of a cancellation and a run, whichever commits first has it; never both", async () => {
  const outcomes = new Set<string>();
  for (let delay = 0; delay < 12; delay++) {
    await start();
    const id = await mutate("addLater", { name: "x", delay: 10 });
    await clock.run(async () => {
      await clock.sleep(4 + delay);
      await backend.mutation("lib:cancel", { id });
    });
    await clock.advance(5000);
    const [state, names] = [await ask("state", { id }), await ask("names")];
    expect(names).toEqual(state === "success" ? ["x"] : []);
    outcomes.add(state);
    await clock.run(() => backend.stop());
  }
  expect([...outcomes].sort()).toEqual(["canceled", "success"]);
});

test("an action that is canceled while it runs goes on, and stays canceled", async () => {
  await start();
  const id = await mutate("workLater", { name: "work", ms: 10_000 });
  await clock.advance(5000);
  expect(await ask("state", { id })).toBe("inProgress");
  await mutate("cancel", { id });
  await clock.advance(10_000);
  expect(await ask("names")).toEqual(["work begins", "work ends"]);
  expect(await ask("state", { id })).toBe("canceled");
  await mutate("cancel", { id });
  expect(await ask("state", { id })).toBe("canceled");
});

test("every function that a canceled action calls, however deep, schedules only canceled runs", async () => {
  await start(
    {},
    `
    export const outer = internalMutation((ctx) => ctx.runMutation(internal.lib.inner, {}));
    export const inner = internalMutation((ctx) => ctx.scheduler.runAfter(0, internal.lib.add, { name: "child" }));
    export const parent = internalAction(async (ctx) => {
      await new Promise((resolve) => setTimeout(resolve, 5000));
      await ctx.runMutation(internal.lib.outer, {});
      await ctx.runAction(internal.lib.nested, {});
      await ctx.scheduler.runAfter(0, internal.lib.add, { name: "child" });
    });
    export const nested = internalAction((ctx) => ctx.runMutation(internal.lib.outer, {}));
    export const parentLater = mutation((ctx) => ctx.scheduler.runAfter(0, internal.lib.parent, {}));`,
  );
  const id = await mutate("parentLater");
  await clock.advance(1000);
  await mutate("cancel", { id });
  await clock.advance(10_000);
  expect(await ask("names")).toEqual([]);
  const states = (await ask("scheduled")).map((row: any) => row.state.kind);
  expect(states).toEqual(["canceled", "canceled", "canceled", "canceled"]);
});

test("a mutation cannot cancel the scheduled function that it runs under, be that itself or an action", async () => {
  await start(
    {},
    `
    export const suicide = internalMutation(async (ctx, { name }) => {
      const { scheduledFunctionId } = await ctx.meta.getRequestMetadata();
      await ctx.scheduler.cancel(scheduledFunctionId);
      await ctx.db.insert("rows", { name });
    });
    export const caller = internalAction((ctx) => ctx.runMutation(internal.lib.suicide, { name: "by action" }));
    export const both = mutation(async (ctx) => {
      await ctx.scheduler.runAfter(0, internal.lib.suicide, { name: "itself" });
      await ctx.scheduler.runAfter(1000, internal.lib.caller, {});
    });`,
  );
  await mutate("both");
  await clock.advance(5000);
  expect(await ask("names")).toEqual(["itself", "by action"]);
  expect((await ask("scheduled")).map((row: any) => row.state.kind)).toEqual([
    "success",
    "success",
  ]);
});

test("a component's action cannot cancel: the platform looks for its id among the app's", async () => {
  const canceling = `
    export const cancelByAction = action((ctx, { id }) => ctx.scheduler.cancel(id));`;
  await start({}, canceling, { child: { "lib.ts": LIB + canceling, "schema.ts": SCHEMA } });
  const id = await clock.run(() =>
    backend.mutation("child::lib:addLater", { name: "x", delay: 1000 }),
  );
  await clock.run(() => backend.action("child::lib:cancelByAction", { id }));
  await clock.advance(5000);
  expect(await clock.run(() => backend.query("child::lib:names"))).toEqual(["x"]);
  const own = await mutate("addLater", { name: "y", delay: 1000 });
  await clock.run(() => backend.action("lib:cancelByAction", { id: own }));
  await clock.advance(5000);
  expect(await ask("state", { id: own })).toBe("canceled");
});

test("started again, it runs pending functions, and fails running ones as the platform does", async () => {
  await start();
  const running = await mutate("workLater", { name: "lost", ms: HOUR_MS });
  await mutate("addLater", { name: "due while stopped", delay: HOUR_MS });
  await clock.advance(5000);
  // The first backend is not stopped: as a process that was killed, it leaves its rows as they are.
  const successor = createFunctionRunner(clock, backend.database);
  const sources = { "": { "lib.ts": LIB, "schema.ts": SCHEMA } };
  const deployment = await clock.run(() => clock.outside(makeDeployment(sources)));
  await clock.run(() => successor.install(deployment));
  await clock.advance(5000);
  const [row] = await ask("scheduled");
  expect(row).toMatchObject({
    _id: running,
    state: { kind: "failed", error: "Transient error while executing action" },
  });
  await clock.run(() => backend.stop());
  await clock.advance(2 * HOUR_MS);
  const { database } = backend;
  backend = { ...backend, stop: () => successor.stop(5000) };
  const rows: unknown[] = [];
  const all = { table: "rows", index: "by_creation_time", range: [], order: "asc" as const };
  await clock.run(async () => {
    for await (const one of database.begin().stream("", all)) rows.push(one["name"]);
  });
  expect(rows).toEqual(["lost begins", "due while stopped"]);
});

test("rows of functions that ended are kept for a week, and then deleted 1,000 at a time", async () => {
  await start();
  await clock.run(async () => {
    for (const rows of [800, 700]) await insertCompleted(rows);
  });
  await clock.advance(7 * DAY_MS - HOUR_MS);
  await mutate("addLater", { name: "a sweep that finds nothing" });
  await clock.advance(1000);
  expect(await countCompleted()).toBe(1501);
  await clock.advance(2 * HOUR_MS);
  await mutate("addLater", { name: "a sweep" });
  const counts = new Set<number>();
  for (let i = 0; i < 20; i++) {
    await clock.advance(1000);
    counts.add(await countCompleted());
  }
  expect([...counts]).toEqual([502, 2]);
  expect(await countArguments()).toBe(2);
});

async function insertCompleted(rows: number): Promise<void> {
  const tx = backend.database.begin();
  const row = {
    name: "lib.js:add",
    scheduledTime: clock.now(),
    completedTime: clock.now(),
    state: { kind: "success" },
    target: { namespace: "", path: "lib:add" },
    systemErrors: 0,
  };
  for (let i = 0; i < rows; i++) {
    const argsId = await tx.insert("", ARGS_TABLE, { args: [{}] }, { system: true });
    await tx.insert("", SCHEDULED_TABLE, { ...row, argsId }, { system: true });
  }
  await backend.database.commit(tx, "test");
}

const countCompleted = () => countRows(SCHEDULED_TABLE, COMPLETED_INDEX);
const countArguments = () => countRows(ARGS_TABLE, "by_id");

function countRows(table: string, index: string): Promise<number> {
  return clock.run(async () => {
    let count = 0;
    const range = { table, index, range: [], order: "asc" as const };
    for await (const _row of backend.database.begin().stream("", { ...range, system: true }))
      count++;
    return count;
  });
}
