/** Functions that run at the same time: permits and the write rate, with functions, on virtual time. */
import { afterEach, expect, test } from "vitest";
import type { Step } from "../environment.js";
import type { VirtualClock } from "../virtual/clock.js";
import { Stats } from "../stats/stats.js";
import type { Wait } from "./events.js";
import { PRELUDE, startVirtualBackend, type TestBackend } from "./testing.js";
import type { Completion, RunnerOptions } from "./types.js";

const SLOW_MS = 100;
const MIB = 1 << 20;

let backend: TestBackend;
let clock: VirtualClock;
let completions: (Completion & { endedAt: number })[];
let waits: Wait[];
let startedAt: number;
afterEach(() => clock.run(() => backend.stop()));

/** A long write takes `SLOW_MS`, or as many ms as it has bytes beyond 10,000; nothing else takes any time. */
function costs(step: Step): number {
  if (step.kind !== "write" || step.bytes < 1000) return 0;
  return step.bytes < 10_000 ? SLOW_MS : step.bytes - 10_000;
}

const SCHEMA = `${PRELUDE}
  const any = () => defineTable(v.any());
  export default defineSchema({ rows: any(), counters: any(), noise: any() });
`;
const LIB = `${PRELUDE}
  export const slow = mutation((ctx) => ctx.db.insert("rows", { text: "x".repeat(2000) }));
  export const take = mutation((ctx, { ms }) => ctx.db.insert("rows", { text: "x".repeat(10_000 + ms) }));
  export const nested = mutation(async (ctx) => {
    await ctx.runQuery(api.lib.count);
    await ctx.runMutation(api.lib.slow);
  });
  export const count = query(async (ctx) => (await ctx.db.query("rows").collect()).length);
  export const scheduleTake = mutation((ctx, { ms, delay }) => ctx.scheduler.runAfter(delay ?? 0, api.lib.take, { ms }));
  export const states = query(async (ctx) =>
    (await ctx.db.system.query("_scheduled_functions").collect()).map(({ state }) => state.kind));
  export const begin = mutation((ctx) => ctx.db.insert("counters", { n: 0 }));
  export const addSlowly = mutation(async (ctx) => {
    const row = await ctx.db.query("counters").first();
    await ctx.runMutation(api.lib.slow);
    await ctx.db.patch(row._id, { n: row.n + 1 });
  });
  export const counter = query((ctx) => ctx.db.query("counters").first());
  export const callSlow = action((ctx) => ctx.runMutation(api.lib.slow));
  export const sleep = action((_ctx, { ms }) => new Promise((resolve) => setTimeout(resolve, ms)));
  export const scheduleSleep = mutation((ctx, args) => ctx.scheduler.runAfter(0, api.lib.sleep, args));
  export const callSleep = action(async (ctx, { ms }) => {
    try {
      return await ctx.runAction(api.lib.sleep, { ms });
    } catch (error) {
      return "caught: " + error.message;
    }
  });
`;

async function start(runner: RunnerOptions = {}): Promise<void> {
  // Tables that exist: creating a table conflicts with every transaction.
  const sources = { "": { "lib.ts": LIB, "schema.ts": SCHEMA } };
  ({ backend, clock } = await startVirtualBackend(sources, { costs, runner }));
  completions = [];
  waits = [];
  startedAt = clock.now();
  backend.runner.onCompletion((one) => completions.push({ ...one, endedAt: elapsed() }));
  backend.runner.onWait((wait) => waits.push(wait));
}

function elapsed(): number {
  return clock.now() - startedAt;
}

function times<T>(count: number, call: (i: number) => Promise<T>): Promise<T[]> {
  return clock.run(() => Promise.all(Array.from({ length: count }, (_, i) => call(i))));
}

/** How many ended in each round of so many milliseconds. */
function rounds(ms: number): number[] {
  const perRound: number[] = [];
  for (const { endedAt } of completions) {
    const round = Math.ceil(endedAt / ms) - 1;
    perRound[round] = (perRound[round] ?? 0) + 1;
  }
  return perRound;
}

test.each([
  ["s16", [16, 16, 16, 16, 16, 16, 4]],
  ["s256", [100]],
] as const)("of a burst of 100 mutations, class %s runs %o at once", async (name, expected) => {
  await start({ class: name });
  await times(100, () => backend.mutation("lib:slow"));
  // A commit takes a moment more than the function.
  expect(rounds(SLOW_MS + 5)).toEqual(expected);
  expect(waits.filter(({ kind }) => kind === "mutationPermit")).toHaveLength(100 - expected[0]);
});

test("a mutation that waits 5 s for its permit is refused, and the next one is not", async () => {
  await start({ classLimits: { mutations: 1 } });
  const long = backend.mutation("lib:take", { ms: 7000 });
  const refused = backend.mutation("lib:slow").catch((error: unknown) => error);
  expect(await clock.run(refused)).toMatchObject({
    status: 429,
    code: "TooManyConcurrentRequests",
  });
  expect(elapsed()).toBeCloseTo(5000, -2);
  const patientEnough = backend.mutation("lib:slow");
  await clock.run(() => Promise.all([long, patientEnough]));
  expect(await clock.run(() => backend.query("lib:count"))).toBe(2);
});

test("a refused call has not run, and is not billed", async () => {
  await start({ classLimits: { mutations: 1 } });
  const stats = new Stats(clock, backend.runner);
  const long = backend.mutation("lib:take", { ms: 7000 });
  await clock.run(() => backend.mutation("lib:slow").catch(() => {}));
  await clock.run(long);
  const { functions, total } = stats.snapshot();
  expect(functions["lib:slow"]).toMatchObject({ calls: 1, refused: 1, errors: 1, billed: 0 });
  expect(total).toMatchObject({ calls: 2, refused: 1, billed: 1 });
});

test("a transaction begins before it waits: a commit in between can conflict with it", async () => {
  await start({ classLimits: { mutations: 1 } });
  await clock.run(() => backend.mutation("lib:begin"));
  await times(2, () => backend.mutation("lib:addSlowly"));
  // One at a time ran, and still the second had begun before the first had committed.
  expect(completions.map(({ conflicts }) => conflicts).sort()).toEqual([0, 0, 1]);
  expect(await clock.run(() => backend.query("lib:counter"))).toMatchObject({ n: 2 });
});

test("no permit is held while a mutation waits for its retry", async () => {
  await start({ classLimits: { mutations: 2 } });
  await clock.run(() => backend.mutation("lib:begin"));
  const rivals = times(2, () => backend.mutation("lib:addSlowly"));
  const others = times(30, () => backend.mutation("lib:slow"));
  await Promise.all([rivals, others]);
  // 33 runs of 100 ms in two places, the second attempt of a rival among them, and none stood still.
  expect(elapsed()).toBeLessThan(17 * (SLOW_MS + 5) + 100);
});

test("nested calls run on their caller's permit", async () => {
  await start({ classLimits: { mutations: 1, queries: 1 } });
  await times(3, () => backend.mutation("lib:nested"));
  expect(waits.filter(({ kind }) => kind === "queryPermit")).toEqual([]);
  expect(await clock.run(() => backend.query("lib:count"))).toBe(3);
});

test("a call from an action takes a permit like a client's call", async () => {
  await start({ classLimits: { mutations: 4 } });
  await times(12, () => backend.action("lib:callSlow"));
  expect(rounds(SLOW_MS + 5)).toEqual([8, 8, 8]);
});

test("an answer from the cache takes no permit", async () => {
  await start({ classLimits: { queries: 1 } });
  await times(20, () => backend.query("lib:count"));
  expect(waits).toEqual([]);
});

test("an action that waits 10 s is refused, and its caller can catch that", async () => {
  await start({ classLimits: { v8Actions: 1 } });
  const answer = await clock.run(() => backend.action("lib:callSleep", { ms: 1 }));
  expect(answer).toMatch(/^caught: Too many concurrent requests/);
  expect(elapsed()).toBeCloseTo(10_000, -2);
  expect(waits).toEqual([{ kind: "actionPermit", ms: 10_000 }]);
});

test("a nested action that finds a permit runs, while its caller keeps its own", async () => {
  await start({ classLimits: { v8Actions: 2 } });
  await clock.run(() => backend.action("lib:callSleep", { ms: 20_000 }));
  expect(elapsed()).toBeCloseTo(20_000, -2);
  expect(waits).toEqual([]);
});

test("a scheduled mutation that gets no permit is put off, and runs in the end, once", async () => {
  await start({ classLimits: { mutations: 1 } });
  await clock.run(() => backend.mutation("lib:scheduleTake", { ms: 1 }));
  await clock.run(() => backend.mutation("lib:take", { ms: 9000 }));
  await clock.advance(60_000);
  const runs = completions.filter(({ scheduled }) => scheduled);
  expect(runs.map(({ error }) => error)).toEqual([
    expect.stringMatching(/^Too many concurrent requests/),
    undefined,
  ]);
  expect(await clock.run(() => backend.query("lib:count"))).toBe(2);
  expect(await clock.run(() => backend.query("lib:states"))).toEqual(["success"]);
});

test("a scheduled action that finds no permit waits for one without bound", async () => {
  await start({ classLimits: { v8Actions: 1 } });
  const long = backend.action("lib:sleep", { ms: 60_000 });
  await clock.run(() => backend.mutation("lib:scheduleSleep", { ms: 1 }));
  await clock.run(long);
  await clock.advance(10);
  expect(await clock.run(() => backend.query("lib:states"))).toEqual(["success"]);
  const [wait] = waits.filter(({ kind }) => kind === "actionPermit");
  expect(wait!.ms).toBeGreaterThan(50_000);
});

test("a mutation that begins when the last second has had too much is retried as the window moves on", async () => {
  await start({ classLimits: { writeBytesPerSecond: 10_000 } });
  await clock.run(() => backend.mutation("lib:take", { ms: 1000 }));
  const committedAt = elapsed();
  // So little is left of the second that five attempts hardly all fall into it.
  await clock.advance(950);
  await clock.run(() => backend.mutation("lib:slow"));
  const { endedAt, conflicts } = completions.at(-1)!;
  expect(endedAt).toBeGreaterThan(committedAt + 1000);
  expect(conflicts).toBe(0);
});

test("a client's mutation that finds no room in five attempts fails with that error", async () => {
  await start({ classLimits: { writeBytesPerSecond: 1000 } });
  const flood = async () => {
    for (let i = 0; i < 60; i++) {
      await backend.mutation("lib:take", { ms: 100 }).catch(() => {});
      await clock.sleep(50);
    }
  };
  const failures: unknown[] = [];
  await clock.run(() =>
    Promise.all([
      flood(),
      ...Array.from({ length: 10 }, async () => {
        await clock.sleep(500);
        await backend.mutation("lib:slow").catch((error: unknown) => failures.push(error));
      }),
    ]),
  );
  expect(failures.length).toBeGreaterThan(0);
  for (const failure of failures) {
    expect(failure).toMatchObject({ status: 429, code: "TooManyWrites" });
  }
});

test("a scheduled mutation is tried for as long as there is too much written", async () => {
  await start({ classLimits: { writeBytesPerSecond: 1000 } });
  await clock.run(() => backend.mutation("lib:scheduleTake", { ms: 1, delay: 5000 }));
  let flooding = true;
  // The scheduler's own writes are never refused, and count: these keep the window full.
  const flood = async () => {
    while (flooding) {
      const tx = backend.database.begin();
      await tx.insert("", "noise", { text: "x".repeat(2000) });
      await backend.database.commit(tx, "noise");
      await clock.sleep(100);
    }
  };
  const flooded = flood();
  await clock.advance(30_000);
  expect(await clock.run(() => backend.query("lib:states"))).toEqual(["pending"]);
  flooding = false;
  await clock.run(flooded);
  await clock.advance(120_000);
  expect(await clock.run(() => backend.query("lib:states"))).toEqual(["success"]);
});

test("one commit may go over the rate by any size, and the rate counts system rows and indexes", async () => {
  await start({ classLimits: { writeBytesPerSecond: MIB } });
  const bytes: number[] = [];
  backend.database.onPublish((commit) => bytes.push(commit.bytes));
  await clock.run(() => backend.mutation("lib:slow"));
  const [document] = bytes;
  // The document, its entries in by_id and by_creation_time.
  expect(document).toBeGreaterThan(2000 + 3 * 40);
  expect(document).toBeLessThan(2500);
  await clock.run(() => backend.mutation("lib:scheduleTake", { ms: 1 }));
  expect(bytes[1]).toBeGreaterThan(300);
});
