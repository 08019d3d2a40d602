import { afterEach, expect, test } from "vitest";
import {
  PRELUDE,
  createTestClock,
  startTestBackend,
  type Sources,
  type TestBackend,
  type TestOptions,
} from "./testing.js";
import type { Completion } from "./types.js";

const HOUR_MS = 60 * 60 * 1000;

let backend: TestBackend;
let completions: Completion[];
afterEach(() => backend.stop());

async function start(module: string, options: TestOptions = {}, more: Sources = {}): Promise<void> {
  backend = await startTestBackend(
    { "": { "lib.ts": PRELUDE + COMMON + module }, ...more },
    options,
  );
  completions = [];
  backend.runner.onCompletion((completion) => completions.push(completion));
}

const COMMON = `
  export const add = internalMutation((ctx, { name }) => ctx.db.insert("rows", { name }));
  export const addLater = mutation((ctx, { name, delay }) => ctx.scheduler.runAfter(delay ?? 0, internal.lib.add, { name }));
  export const names = query(async (ctx) => (await ctx.db.query("rows").collect()).map((row) => row.name));
  export const scheduled = query((ctx, { id }) => ctx.db.system.get(id));
  export const allScheduled = query((ctx) => ctx.db.system.query("_scheduled_functions").collect());
  export const cancel = mutation((ctx, { id }) => ctx.scheduler.cancel(id));
`;

/** Waits for a state by watching commits, so that no test depends on how fast the machine is. */
async function until(path: string, args: object, holds: (value: any) => boolean): Promise<any> {
  for (;;) {
    const changed = new Promise<void>((resolve) => {
      const stop = backend.database.onPublish(() => (stop(), resolve()));
    });
    const value = await backend.query(path, args);
    if (holds(value)) return value;
    await changed;
  }
}

function ended(id: string): Promise<any> {
  return until("lib:scheduled", { id }, (row) => row.completedTime !== undefined);
}

test("a scheduled mutation runs, and its row says so in the documented shape", async () => {
  await start("");
  const id = await backend.mutation("lib:addLater", { name: "x" });
  const row = await ended(id);
  expect(row).toEqual({
    _id: id,
    _creationTime: expect.any(Number),
    name: "lib.js:add",
    args: [{ name: "x" }],
    scheduledTime: expect.any(Number),
    completedTime: expect.any(Number),
    state: { kind: "success" },
  });
  expect(await backend.query("lib:names")).toEqual(["x"]);
  expect(await backend.query("lib:allScheduled")).toEqual([row]);
});

test("a mutation's schedules are part of it: nothing runs when it fails", async () => {
  await start(`
    export const failing = mutation(async (ctx) => {
      await ctx.scheduler.runAfter(0, internal.lib.add, { name: "never" });
      throw new Error("changed my mind");
    });`);
  await expect(backend.mutation("lib:failing")).rejects.toThrow("changed my mind");
  expect(await backend.query("lib:allScheduled")).toEqual([]);
});

test("functions due at once start in the order in which they were scheduled", async () => {
  await start(
    `export const three = mutation(async (ctx) => {
       for (const name of ["a", "b", "c"]) await ctx.scheduler.runAfter(0, internal.lib.add, { name });
     });`,
    { runner: { classLimits: { scheduledJobs: 1 } } },
  );
  await backend.mutation("lib:three");
  expect(await until("lib:names", {}, (names) => names.length === 3)).toEqual(["a", "b", "c"]);
});

test("a later one waits, and an earlier one that comes meanwhile goes first", async () => {
  const clock = createTestClock();
  await start("", { clock });
  const late = await backend.mutation("lib:addLater", { name: "late", delay: HOUR_MS });
  await ended(await backend.mutation("lib:addLater", { name: "early" }));
  expect(await backend.query("lib:names")).toEqual(["early"]);
  clock.advance(HOUR_MS);
  const { scheduledTime, completedTime } = await ended(late);
  expect(await backend.query("lib:names")).toEqual(["early", "late"]);
  expect(completedTime).toBeGreaterThanOrEqual(Math.floor(scheduledTime));
});

test("a scheduled mutation that loses to other commits is retried until it counts, and then once", async () => {
  await start(`
    export const create = mutation((ctx) => ctx.db.insert("counters", { n: 0 }));
    export const increment = internalMutation(async (ctx, { id }) => {
      const { n } = await ctx.db.get(id);
      await ctx.db.patch(id, { n: n + 1 });
    });
    export const schedule = mutation(async (ctx, { id, times }) => {
      for (let i = 0; i < times; i++) await ctx.scheduler.runAfter(0, internal.lib.increment, { id });
    });
    export const read = query(async (ctx, { id }) => (await ctx.db.get(id)).n);`);
  const id = await backend.mutation("lib:create");
  await backend.mutation("lib:schedule", { id, times: 8 });
  await until("lib:allScheduled", {}, (rows) =>
    rows.every((row: any) => row.state.kind === "success"),
  );
  expect(await backend.query("lib:read", { id })).toBe(8);
  expect(completions.filter(({ scheduled }) => scheduled)).toHaveLength(8);
  expect(completions.some(({ scheduled, conflicts }) => scheduled && conflicts > 0)).toBe(true);
});

test("a scheduled mutation that fails leaves nothing but its error, and is not retried", async () => {
  await start(`
    export const fail = internalMutation(async (ctx) => { await ctx.db.insert("rows", { name: "gone" }); throw new Error("broken"); });
    export const failLater = mutation((ctx) => ctx.scheduler.runAfter(0, internal.lib.fail));`);
  const { state } = await ended(await backend.mutation("lib:failLater"));
  expect(state.kind).toBe("failed");
  expect(state.error).toMatch(/^Uncaught Error: broken/);
  expect(await backend.query("lib:names")).toEqual([]);
  expect(completions.filter(({ scheduled }) => scheduled)).toHaveLength(1);
});

test("a scheduled action is in progress for all to see while it runs, and knows its row", async () => {
  await start(`
    export const act = internalAction(async (ctx) => {
      const { scheduledFunctionId } = await ctx.meta.getRequestMetadata();
      await ctx.runMutation(internal.lib.add, { name: scheduledFunctionId });
      while (!(await ctx.runQuery(api.lib.names)).includes("go on")) await new Promise((resolve) => setTimeout(resolve, 2));
    });
    export const actLater = mutation((ctx) => ctx.scheduler.runAfter(0, internal.lib.act));`);
  const id = await backend.mutation("lib:actLater");
  expect(await until("lib:names", {}, (names) => names.length === 1)).toEqual([id]);
  expect((await backend.query("lib:scheduled", { id })).state).toEqual({ kind: "inProgress" });
  await backend.mutation("lib:add", { name: "go on" });
  expect((await ended(id)).state).toEqual({ kind: "success" });
});

test("an action found in progress by a backend that did not begin it has failed, and is not retried", async () => {
  const source = `
    export const act = internalAction((ctx) => ctx.runMutation(internal.lib.add, { name: "ran twice" }));
    export const actLater = mutation((ctx) => ctx.scheduler.runAfter(${HOUR_MS}, internal.lib.act));`;
  const clock = createTestClock();
  await start(source, { clock });
  const id = await backend.mutation("lib:actLater");
  // As a backend leaves it that is killed right after the run began.
  const tx = backend.database.begin();
  await tx.patch("", id, { state: { kind: "inProgress" } }, "_scheduled_functions", {
    system: true,
  });
  await backend.database.commit(tx, "test");
  clock.advance(HOUR_MS);
  expect((await ended(id)).state).toEqual({
    kind: "failed",
    error: "Transient error while executing action",
  });
  expect(await backend.query("lib:names")).toEqual([]);
});

test("a canceled function does not run", async () => {
  await start("");
  const id = await backend.mutation("lib:addLater", { name: "never", delay: HOUR_MS });
  await backend.mutation("lib:cancel", { id });
  const { state, completedTime } = await backend.query("lib:scheduled", { id });
  expect(state).toEqual({ kind: "canceled" });
  expect(completedTime).toEqual(expect.any(Number));
  await backend.mutation("lib:cancel", { id });
  expect((await backend.query("lib:scheduled", { id })).completedTime).toBe(completedTime);
});

test("functions that a canceled action schedules, by itself or through its mutations, are born canceled", async () => {
  await start(`
    export const act = internalAction(async (ctx) => {
      await ctx.runMutation(internal.lib.add, { name: "begun" });
      while ((await ctx.runQuery(api.lib.names)).length < 2) await new Promise((resolve) => setTimeout(resolve, 2));
      const own = await ctx.scheduler.runAfter(0, internal.lib.add, { name: "own child" });
      const through = await ctx.runMutation(api.lib.addLater, { name: "mutation's child" });
      await ctx.runMutation(internal.lib.add, { name: own + " " + through });
    });
    export const actLater = mutation((ctx) => ctx.scheduler.runAfter(0, internal.lib.act));`);
  const id = await backend.mutation("lib:actLater");
  await until("lib:names", {}, (names) => names.length === 1);
  await backend.mutation("lib:cancel", { id });
  await backend.mutation("lib:add", { name: "go on" });
  const [, , children] = await until("lib:names", {}, (names) => names.length === 3);
  for (const child of children.split(" ")) {
    expect((await backend.query("lib:scheduled", { id: child })).state).toEqual({
      kind: "canceled",
    });
  }
  expect((await backend.query("lib:scheduled", { id })).state).toEqual({ kind: "canceled" });
});

test("a mutation that cancels itself goes on, and is warned", async () => {
  await start(`
    export const cancelSelf = internalMutation(async (ctx) => {
      const { scheduledFunctionId } = await ctx.meta.getRequestMetadata();
      await ctx.scheduler.cancel(scheduledFunctionId);
      await ctx.db.insert("rows", { name: (await ctx.db.system.get(scheduledFunctionId)).state.kind });
    });
    export const later = mutation((ctx) => ctx.scheduler.runAfter(0, internal.lib.cancelSelf));`);
  expect((await ended(await backend.mutation("lib:later"))).state).toEqual({ kind: "success" });
  expect(await backend.query("lib:names")).toEqual(["inProgress"]);
  expect(completions.find(({ scheduled }) => scheduled)?.logs[0]?.text).toMatch(
    /cannot cancel itself/,
  );
});

test("a function that a push took away fails by name", async () => {
  const clock = createTestClock();
  await start("", { clock });
  const id = await backend.mutation("lib:addLater", { name: "x", delay: HOUR_MS });
  await backend.push({
    "": { "lib.ts": (PRELUDE + COMMON).replace("export const add = ", "export const renamed = ") },
  });
  clock.advance(HOUR_MS);
  const { state } = await ended(id);
  expect(state.error).toMatch(/^Could not find function for 'lib:add'/);
});

test("no more run at once than the limit, and all run in the end", async () => {
  await start(
    `export const act = internalAction(async (ctx, { i }) => {
       await ctx.runMutation(internal.lib.add, { name: "+" });
       await new Promise((resolve) => setTimeout(resolve, 1));
       await ctx.runMutation(internal.lib.add, { name: "-" });
     });
     export const many = mutation(async (ctx) => {
       for (let i = 0; i < 9; i++) await ctx.scheduler.runAfter(0, internal.lib.act, { i });
     });`,
    { runner: { classLimits: { scheduledJobs: 3 } } },
  );
  await backend.mutation("lib:many");
  const marks: string[] = await until("lib:names", {}, (names) => names.length === 18);
  let running = 0;
  let most = 0;
  for (const mark of marks) most = Math.max(most, (running += mark === "+" ? 1 : -1));
  expect(most).toBeLessThanOrEqual(3);
  expect(running).toBe(0);
});

test("the function due earliest starts first, in any component", async () => {
  const clock = createTestClock();
  await start(
    `export const childLater = mutation((ctx, args) => ctx.runMutation(components.child.lib.later, args));`,
    { clock, runner: { classLimits: { scheduledJobs: 1 } } },
    {
      child: {
        "lib.ts": `${PRELUDE}
          export const note = internalMutation(() => null);
          export const later = mutation((ctx, { delay }) => ctx.scheduler.runAfter(delay, internal.lib.note));`,
      },
    },
  );
  await backend.mutation("lib:addLater", { name: "second", delay: 2 * HOUR_MS });
  await backend.mutation("lib:childLater", { delay: HOUR_MS });
  clock.advance(3 * HOUR_MS);
  await until("lib:names", {}, (names) => names.length === 1);
  const started = completions.filter(({ scheduled }) => scheduled).map(({ address }) => address);
  expect(started.map(({ namespace }) => namespace)).toEqual(["child", ""]);
});

test("a component schedules in its own namespace, and by a handle the app's functions", async () => {
  await start(
    `export const viaChild = mutation(async (ctx) => ctx.runMutation(components.child.lib.later, {
       handle: await createFunctionHandle(internal.lib.add) }));`,
    {},
    {
      child: {
        "lib.ts": `${PRELUDE}
          export const later = mutation((ctx, { handle }) => ctx.scheduler.runAfter(0, handle, { name: "by handle" }));
          export const all = query((ctx) => ctx.db.system.query("_scheduled_functions").collect());`,
      },
    },
  );
  await backend.mutation("lib:viaChild");
  expect(await until("lib:names", {}, (names) => names.length === 1)).toEqual(["by handle"]);
  expect(await backend.query("lib:allScheduled")).toEqual([]);
  expect(await backend.query("child::lib:all")).toMatchObject([{ state: { kind: "success" } }]);
});

test("rows of functions that ended a week ago are deleted", async () => {
  const clock = createTestClock();
  await start("", { clock });
  const old = await backend.mutation("lib:addLater", { name: "old" });
  await ended(old);
  clock.advance(8 * 24 * HOUR_MS);
  await ended(await backend.mutation("lib:addLater", { name: "new" }));
  await until("lib:scheduled", { id: old }, (row) => row === null);
});

test.each([
  [
    "an export that does not exist",
    "api.lib.missing, {}",
    /Could not find function for 'lib:missing'/,
  ],
  [
    "the commit timestamp",
    "internal.lib.add, { name: ctx.db.vars.commitTs }",
    /cannot be an argument of a scheduled function/,
  ],
])("scheduling %s is refused at once", async (_, call, message) => {
  await start(`export const bad = mutation((ctx) => ctx.scheduler.runAfter(0, ${call}));`);
  await expect(backend.mutation("lib:bad")).rejects.toThrow(message);
});

test("a query that is scheduled fails when it is due", async () => {
  await start(
    `export const late = mutation((ctx) => ctx.scheduler.runAfter(0, api.lib.names, {}));`,
  );
  const id = await backend.mutation("lib:late");
  const row = await ended(id);
  expect(row.state.kind).toBe("failed");
  expect(row.state.error).toMatch(/defined as a Query/);
});

test("a time that is decades ahead is refused with the bound", async () => {
  await start(
    `export const far = mutation((ctx) => ctx.scheduler.runAfter(1e12, internal.lib.add, {}));`,
  );
  await expect(backend.mutation("lib:far")).rejects.toThrow(
    /InvalidScheduledFunctionDelay: .* more than five years ahead/,
  );
});
