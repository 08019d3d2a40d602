import { getConvexSize, getDocumentSize } from "convex/values";
import { afterEach, expect, test } from "vitest";
import { wallEnvironment, type Environment } from "../environment.js";
import { PRELUDE, startTestBackend, type Sources, type TestBackend } from "../functions/testing.js";
import type { RunnerOptions } from "../functions/types.js";
import { Stats } from "./stats.js";

let backend: TestBackend;
let stats: Stats;
afterEach(async () => {
  await backend.stop();
  stats.close();
});

let hold: (() => Promise<void>) | null = null;

/** The next reader has read, and waits. */
function holdNextRead(): { reached: Promise<void>; release(): void } {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const reached = new Promise<void>((resolve) => {
    hold = () => {
      hold = null;
      resolve();
      return released;
    };
  });
  return { reached, release };
}

const clock: Environment = {
  ...wallEnvironment,
  async spend(step) {
    // A patch brings nothing that its `get` has not brought.
    if (step.kind === "read" && step.isThere !== true) await hold?.();
    await wallEnvironment.spend(step);
  },
};

async function start(sources: Sources, runner: RunnerOptions = {}): Promise<void> {
  backend = await startTestBackend(sources, { runner, clock });
  stats = new Stats(wallEnvironment, backend.runner);
}

const counted = (name: string) => stats.snapshot().functions[name]!;

/** Resolves once so many scheduled functions have ended. */
function scheduledRuns(count: number): Promise<void> {
  return new Promise((resolve) => {
    let left = count;
    const stop = backend.runner.onCompletion(({ scheduled }) => {
      if (!scheduled || --left > 0) return;
      stop();
      resolve();
    });
  });
}

function housekeepings(count: number): Promise<void> {
  return new Promise((resolve) => {
    let left = count;
    const stop = backend.runner.onHousekeeping(() => {
      if (--left > 0) return;
      stop();
      resolve();
    });
  });
}

const SCHEMA = `${PRELUDE}
  export default defineSchema({ jobs: defineTable(v.any()).index("by_state", ["state"]) });`;

/** Four designs of a job queue, by the platform's bill per job of each. */
const QUEUE = `${PRELUDE}
  export const work = action(async (ctx, { id }) => { await ctx.runMutation(api.m.finish, { ids: [id] }); });
  export const perJob = mutation(async (ctx) => {
    const id = await ctx.db.insert("jobs", { state: "pending" });
    await ctx.scheduler.runAfter(0, api.m.work, { id });
  });
  export const finish = mutation(async (ctx, { ids }) => {
    for (const id of ids) await ctx.db.patch(id, { state: "done" });
  });
  export const pending = query(async (ctx) =>
    (await ctx.db.query("jobs").withIndex("by_state", (q) => q.eq("state", "pending")).collect()).map((job) => job._id));
  export const enqueue = mutation(async (ctx, { n }) => {
    for (let i = 0; i < n; i++) await ctx.db.insert("jobs", { state: "pending" });
  });
  export const worker = action(async (ctx) => {
    const ids = await ctx.runQuery(api.m.pending, {});
    await ctx.runMutation(api.m.finish, { ids });
  });
  export const inline = mutation(async (ctx) => {
    await ctx.runMutation(api.m.finish, { ids: await ctx.runQuery(api.m.pending, {}) });
  });
  export const later = mutation(async (ctx) => { await ctx.scheduler.runAfter(0, api.m.inline, {}); });`;

test("a scheduled action for each job is billed twice beyond the enqueue: itself, and the mutation that it reports by", async () => {
  await start({ "": { "m.ts": QUEUE, "schema.ts": SCHEMA } });
  const ran = scheduledRuns(3);
  for (let n = 0; n < 3; n++) await backend.mutation("m:perJob");
  await ran;
  expect(counted("m:perJob").billed).toBe(3);
  expect(stats.snapshot().total.billed - 3).toBe(2 * 3);
});

test("a worker that takes ten jobs at once is billed for its calls and not for its jobs", async () => {
  await start({ "": { "m.ts": QUEUE, "schema.ts": SCHEMA } });
  await backend.mutation("m:enqueue", { n: 10 });
  await backend.action("m:worker");
  const { functions, total } = stats.snapshot();
  expect(Object.entries(functions).map(([name, { billed }]) => [name, billed])).toEqual([
    ["m:enqueue", 1],
    ["m:finish", 1],
    ["m:pending", 1],
    ["m:worker", 1],
  ]);
  expect(total.billed).toBe(4);
});

test("a scheduled mutation that does ten jobs inline is billed once: its nested calls are part of it", async () => {
  await start({ "": { "m.ts": QUEUE, "schema.ts": SCHEMA } });
  await backend.mutation("m:enqueue", { n: 10 });
  const ran = scheduledRuns(1);
  await backend.mutation("m:later");
  await ran;
  const { functions } = stats.snapshot();
  expect(Object.keys(functions)).toEqual(["m:enqueue", "m:inline", "m:later"]);
  expect(functions["m:inline"]).toMatchObject({ billed: 1, io: { documentsWritten: 10 } });
});

test("documents are counted with the entries of declared indexes, rows of the scheduler apart", async () => {
  await start({ "": { "m.ts": QUEUE, "schema.ts": SCHEMA } });
  // The scheduler notes that the action begins, and that it has ended.
  const noted = housekeepings(2);
  await backend.mutation("m:perJob");
  await noted;
  const tx = backend.database.begin();
  const [job] = await all(tx.stream("", range("jobs", "by_state")));
  /** The key, and the document's id: 17 bytes of its table, 16 of its own. */
  const entry = (state: string) =>
    getConvexSize(state) + getConvexSize(job!._creationTime) + getConvexSize(job!._id) + 17 + 16;
  const size = (state: string) => getDocumentSize({ ...job!, state });
  expect(counted("m:perJob")).toMatchObject({
    io: {
      documentsRead: 0,
      bytesRead: 0,
      documentsWritten: 1,
      bytesWritten: size("pending") + entry("pending"),
    },
    // Its schedule is two documents: the arguments, and the row that changes with the state.
    systemIo: { documentsWritten: 2 },
  });
  // It finds the row by its id, which is no declared index, and writes its new key.
  expect(counted("m:finish").io).toEqual({
    documentsRead: 1,
    bytesRead: size("pending"),
    documentsWritten: 1,
    bytesWritten: size("done") + entry("done"),
  });
  expect(counted("m:work").io).toMatchObject({ documentsRead: 0, documentsWritten: 0 });
  const kept = Object.values(stats.snapshot().housekeeping);
  expect(kept.reduce((sum, { systemIo }) => sum + systemIo.documentsWritten, 0)).toBe(2);
});

test("an answer from the cache is a call without I/O, and a failed mutation has no writes", async () => {
  await start({
    "": {
      "m.ts": `${QUEUE}
        export const broken = mutation(async (ctx) => { await ctx.db.insert("jobs", {}); throw new Error("no"); });`,
      "schema.ts": SCHEMA,
    },
  });
  await backend.mutation("m:enqueue", { n: 2 });
  for (let n = 0; n < 3; n++) await backend.query("m:pending");
  expect(counted("m:pending")).toMatchObject({
    calls: 3,
    billed: 3,
    cached: 2,
    io: { documentsRead: 2 },
  });
  await expect(backend.mutation("m:broken")).rejects.toThrow("no");
  expect(counted("m:broken")).toMatchObject({
    billed: 1,
    errors: 1,
    io: { documentsWritten: 0, bytesWritten: 0 },
  });
});

test("a conflict names both functions, the table and the document, and its attempt is billed as another call", async () => {
  await start({
    "": {
      "m.ts": `${QUEUE}
        export const slow = mutation(async (ctx, { id }) => {
          const { n = 0 } = await ctx.db.get(id);
          await ctx.db.patch(id, { n: n + 1 });
        });
        export const quick = mutation(async (ctx, { id }) => { await ctx.db.patch(id, { quick: true }); });`,
      "schema.ts": SCHEMA,
    },
  });
  await backend.mutation("m:enqueue", { n: 1 });
  const [id] = await backend.query("m:pending");
  stats.reset();
  const held = holdNextRead();
  const slow = backend.mutation("m:slow", { id });
  await held.reached;
  await backend.mutation("m:quick", { id });
  held.release();
  await slow;
  const { conflicts, functions } = stats.snapshot();
  expect(conflicts).toEqual([
    { loser: "m:slow", winner: "m:quick", table: "jobs", count: 1, lastId: id },
  ]);
  expect(functions["m:slow"]).toMatchObject({
    calls: 1,
    billed: 2,
    conflicts: 1,
    retries: 1,
    io: { documentsRead: 4, documentsWritten: 1 },
    lostIo: { documentsRead: 2, documentsWritten: 0 },
  });
});

test("a mutation that is given up after five attempts is five calls", async () => {
  await start({
    "": {
      "m.ts": `${QUEUE}
        export const touch = mutation(async (ctx, { id }) => {
          const { n = 0 } = await ctx.db.get(id);
          await ctx.db.patch(id, { n: n + 1 });
        });`,
      "schema.ts": SCHEMA,
    },
  });
  await backend.mutation("m:enqueue", { n: 1 });
  const [id] = (await backend.query("m:pending")) as string[];
  let held = holdNextRead();
  const loser = backend.mutation("m:touch", { id });
  const given = expect(loser).rejects.toThrow(/changed while this mutation was being run/);
  for (let attempt = 1; attempt <= 5; attempt++) {
    await held.reached;
    await backend.mutation("m:touch", { id });
    const reading = held;
    if (attempt < 5) held = holdNextRead();
    reading.release();
  }
  await given;
  expect(counted("m:touch")).toMatchObject({
    calls: 6,
    billed: 5 + 5,
    conflicts: 5,
    errors: 1,
    // A `get` and a `patch` read the row each.
    io: { documentsRead: 20, documentsWritten: 5 },
  });
});

test("a repeated conflict of the same pair is one line, with the count and the last document", async () => {
  await start({
    "": {
      "m.ts": `${QUEUE}
        export const touch = mutation(async (ctx, { id }) => {
          const { n = 0 } = await ctx.db.get(id);
          await ctx.db.patch(id, { n: n + 1 });
        });`,
      "schema.ts": SCHEMA,
    },
  });
  await backend.mutation("m:enqueue", { n: 2 });
  const ids = (await backend.query("m:pending")) as string[];
  for (const id of ids) {
    const held = holdNextRead();
    const loser = backend.mutation("m:touch", { id });
    await held.reached;
    await backend.mutation("m:touch", { id });
    held.release();
    await loser;
  }
  expect(stats.snapshot().conflicts).toEqual([
    { loser: "m:touch", winner: "m:touch", table: "jobs", count: 2, lastId: ids[1] },
  ]);
});

test("the loser to a scheduled mutation reads the scheduler's name, and the counters know the function", async () => {
  await start({ "": { "m.ts": QUEUE, "schema.ts": SCHEMA } });
  await backend.mutation("m:enqueue", { n: 1 });
  const tx = backend.database.begin();
  await all(tx.stream("", range("jobs", "by_state")));
  const ran = scheduledRuns(1);
  await backend.mutation("m:later");
  await ran;
  tx.validateReads();
  await expect(backend.database.commit(tx, "reader")).rejects.toMatchObject({
    conflict: { source: "scheduled_job_mutation_success", author: "m:inline", table: "jobs" },
  });
});

test("dead index entries are counted for the functions that pass them", async () => {
  await start({ "": { "m.ts": QUEUE, "schema.ts": SCHEMA } });
  await backend.mutation("m:enqueue", { n: 3 });
  await backend.mutation("m:inline");
  expect(await backend.query("m:pending")).toEqual([]);
  expect(counted("m:pending")).toMatchObject({ tombstones: 3, io: { documentsRead: 0 } });
});

test("waits for permits and for the executor are counted by the functions that waited", async () => {
  await start(
    { "": { "m.ts": QUEUE, "schema.ts": SCHEMA } },
    { classLimits: { mutations: 1, scheduledJobs: 1 } },
  );
  const ran = scheduledRuns(3);
  await Promise.all([1, 2, 3].map(() => backend.mutation("m:perJob")));
  await ran;
  const { waits } = stats.snapshot();
  expect(waits.mutationPermit.count).toBeGreaterThanOrEqual(2);
  expect(waits.mutationPermit.maxMs).toBeLessThanOrEqual(waits.mutationPermit.totalMs);
  expect(waits.queryPermit).toEqual({ count: 0, totalMs: 0, maxMs: 0 });
  expect(waits.executor.count).toBeGreaterThan(0);
});

test("a reset begins anew, and an earlier snapshot stays as it was", async () => {
  await start({ "": { "m.ts": QUEUE, "schema.ts": SCHEMA } });
  await backend.mutation("m:enqueue", { n: 1 });
  const before = stats.snapshot();
  stats.reset();
  await backend.mutation("m:enqueue", { n: 1 });
  await backend.mutation("m:enqueue", { n: 1 });
  expect(before.total.billed).toBe(1);
  expect(stats.snapshot().total.billed).toBe(2);
  expect(stats.snapshot().since).toBeGreaterThanOrEqual(before.until);
});

function range(table: string, index: string) {
  return { table, index, range: [], order: "asc" as const };
}

async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const taken: T[] = [];
  for await (const row of rows) taken.push(row);
  return taken;
}
