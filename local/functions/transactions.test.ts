import { afterEach, describe, expect, test } from "vitest";
import { wallEnvironment, type Environment } from "../environment.js";
import { PlatformError } from "./errors.js";
import {
  PRELUDE,
  createTestClock,
  startTestBackend,
  type Sources,
  type TestBackend,
  type TestOptions,
} from "./testing.js";
import type { Completion } from "./types.js";

let backend: TestBackend;
afterEach(() => backend.stop());

async function start(sources: Sources, options?: TestOptions): Promise<void> {
  backend = await startTestBackend(sources, options);
}

const COUNTER = {
  "counter.ts": `${PRELUDE}
    export const create = mutation((ctx) => ctx.db.insert("counters", { n: 0 }));
    export const increment = mutation(async (ctx, { id }) => {
      console.log("attempt");
      const { n } = await ctx.db.get(id);
      await ctx.db.patch(id, { n: n + 1 });
      return n + 1;
    });
    export const read = query(async (ctx, { id }) => (await ctx.db.get(id)).n);`,
};

test("mutations interleave, lose to one another, and are retried until each has counted once", async () => {
  await start({ "": COUNTER });
  const completions: Completion[] = [];
  backend.runner.onCompletion((completion) => completions.push(completion));
  const id = await backend.mutation("counter:create");
  // Three at once lose at most twice each, well within the five attempts.
  const results = await Promise.all(
    [1, 2, 3].map(() => backend.mutation("counter:increment", { id })),
  );
  expect(results.sort()).toEqual([1, 2, 3]);
  expect(await backend.query("counter:read", { id })).toBe(3);
  const conflicts = completions.reduce((sum, completion) => sum + completion.conflicts, 0);
  expect(conflicts).toBeGreaterThanOrEqual(2);
});

test("a mutation that loses five times fails with the table, the document and the commit that it lost to", async () => {
  let disturb: (() => Promise<void>) | null = null;
  const clock: Environment = {
    ...wallEnvironment,
    // Another commit comes whenever the mutation yields.
    pause: async () => {
      const disturbing = disturb;
      disturb = null;
      await disturbing?.();
      if (disturbing !== null) disturb = disturbing;
      await wallEnvironment.pause();
    },
  };
  await start({ "": COUNTER }, { clock });
  const id = await backend.mutation("counter:create");
  const completion = new Promise<Completion>((resolve) => backend.runner.onCompletion(resolve));
  let n = 100;
  disturb = async () => {
    const tx = backend.database.begin();
    await tx.patch("", id, { n: n++ });
    await backend.database.commit(tx, "other:write");
  };
  const error: unknown = await backend
    .mutation("counter:increment", { id })
    .catch((e: unknown) => e);
  disturb = null;
  expect(error).toBeInstanceOf(PlatformError);
  expect(error).toMatchObject({
    status: 503,
    code: "OptimisticConcurrencyControlFailure",
    message:
      `Documents read from or written to the "counters" table changed while this mutation was being run and on every ` +
      `subsequent retry. A call to "other:write" changed the document with ID "${id}". See https://docs.convex.dev/error#1`,
  });
  expect(await completion).toMatchObject({ conflicts: 5, logs: [{ text: "[LOG] 'attempt'" }] });
});

describe("nested calls", () => {
  const sources = {
    "": {
      // Declared, because the first row of an undeclared table creates it, which conflicts with every transaction.
      "schema.ts": `${PRELUDE}
        export default defineSchema({ rows: defineTable(v.any()), others: defineTable(v.any()) });`,
      "lib.ts": `${PRELUDE}
        export const add = internalMutation(async (ctx, { name }) => { await ctx.db.insert("rows", { name }); });
        export const addAndFail = internalMutation(async (ctx, { name }) => {
          await ctx.db.insert("rows", { name });
          await ctx.scheduler.runAfter(0, internal.lib.add, { name: "scheduled" });
          throw new ConvexError({ code: "full", room: 0n });
        });
        export const names = query(async (ctx) => (await ctx.db.query("rows").collect()).map(({ name }) => name));
        export const catches = mutation(async (ctx) => {
          await ctx.db.insert("rows", { name: "before" });
          let caught;
          try { await ctx.runMutation(internal.lib.addAndFail, { name: "gone" }); } catch (e) { caught = e; }
          const seen = await ctx.runQuery(api.lib.names);
          await ctx.db.insert("rows", { name: "after" });
          return { seen, isConvexError: caught instanceof ConvexError, data: caught.data };
        });
        export const stale = mutation(async (ctx) => {
          await ctx.db.insert("rows", { name: "mine" });
          const read = (options) => ctx.runQuery(api.lib.names, {}, options);
          return { real: await read(), stale: await read({ useStaleSnapshot: true }) };
        });
        export const lookWithoutDepending = mutation(async (ctx, { stale }) => {
          await ctx.runQuery(api.lib.names, {}, { useStaleSnapshot: stale });
          for (let i = 0; i < 50; i++) await ctx.db.query("others").first();
          await ctx.db.insert("others", {});
        });
        export const badReturn = internalMutation({
          args: {}, returns: v.string(),
          handler: async (ctx) => { await ctx.db.insert("rows", { name: "kept" }); return 1; },
        });
        export const catchesBadReturn = mutation(async (ctx) => {
          try { await ctx.runMutation(internal.lib.badReturn); } catch (e) { return e.message; }
        });
        export const deep = query(async (ctx, { levels }) =>
          levels === 0 ? 0 : 1 + await ctx.runQuery(api.lib.deep, { levels: levels - 1 }));
        export const slowAdd = internalMutation(async (ctx, { name }) => {
          const before = (await ctx.db.query("rows").collect()).length;
          for (let i = 0; i < 5; i++) await ctx.db.query("others").first();
          await ctx.db.insert("rows", { name });
          return before;
        });
        export const parallel = mutation((ctx) =>
          Promise.all(["a", "b", "c"].map((name) => ctx.runMutation(internal.lib.slowAdd, { name }))));
        export const timesAndSeeds = query(async (ctx, { again }) => [
          { now: Date.now(), random: Math.random() },
          ...(again ? await ctx.runQuery(api.lib.timesAndSeeds, { again: false }) : [])]);`,
    },
  };

  test("one that fails takes its writes and its schedules with it; the caller catches its data and goes on", async () => {
    await start(sources);
    expect(await backend.mutation("lib:catches")).toEqual({
      seen: ["before"],
      isConvexError: true,
      data: { code: "full", room: 0n },
    });
    expect(await backend.query("lib:names")).toEqual(["before", "after"]);
  });

  test("a query on a stale snapshot does not see the caller's writes", async () => {
    await start(sources);
    expect(await backend.mutation("lib:stale")).toEqual({ real: ["mine"], stale: [] });
  });

  test.each([
    { stale: true, conflicts: 0, what: "a read of a stale snapshot is no dependency" },
    { stale: false, conflicts: 1, what: "a nested query's read is the caller's dependency" },
  ])("$what", async ({ stale, conflicts }) => {
    await start(sources);
    const ended = new Promise<Completion>((resolve) =>
      backend.runner.onCompletion((completion) => {
        if (completion.address.path === "lib:lookWithoutDepending") resolve(completion);
      }),
    );
    // The row is committed while the other reads on: its 50 database calls yield 50 times.
    const looking = backend.mutation("lib:lookWithoutDepending", { stale });
    const tx = backend.database.begin();
    await tx.insert("", "rows", { name: "meanwhile" });
    await backend.database.commit(tx, "test");
    await looking;
    expect((await ended).conflicts).toBe(conflicts);
  });

  test("one that fails by its return value has written all the same, as on the platform", async () => {
    await start(sources);
    expect(await backend.mutation("lib:catchesBadReturn")).toMatch(/^ReturnsValidationError: /);
    expect(await backend.query("lib:names")).toEqual(["kept"]);
  });

  test("they go eight deep and no deeper", async () => {
    await start(sources);
    expect(await backend.query("lib:deep", { levels: 8 })).toBe(8);
    await expect(backend.query("lib:deep", { levels: 9 })).rejects.toThrow(
      /Cross component call depth limit exceeded/,
    );
  });

  test("calls started together run one after the other, in order", async () => {
    await start(sources);
    expect(await backend.mutation("lib:parallel")).toEqual([0, 1, 2]);
    expect(await backend.query("lib:names")).toEqual(["a", "b", "c"]);
  });

  test("they share the caller's time and draw a seed of their own", async () => {
    await start(sources);
    const [outer, inner] = await backend.query("lib:timesAndSeeds", { again: true });
    expect(inner.now).toBe(outer.now);
    expect(inner.random).not.toBe(outer.random);
  });
});

test("every row of a transaction gets the commit's timestamp, and so does the mutation's result", async () => {
  await start({
    "": {
      "schema.ts": `${PRELUDE}
        export default defineSchema({ rows: defineTable({ seq: v.commitTs() }).index("by_seq", ["seq"]) });`,
      "lib.ts": `${PRELUDE}
        export const add = mutation(async (ctx) => {
          const seq = ctx.db.vars.commitTs;
          await ctx.db.insert("rows", { seq });
          await ctx.db.insert("rows", { seq });
          const own = await ctx.db.query("rows").withIndex("by_seq", (q) => q.eq("seq", seq)).collect();
          return { seq, own: own.length };
        });
        export const all = query(async (ctx) => (await ctx.db.query("rows").withIndex("by_seq").collect()).map((row) => row.seq));`,
    },
  });
  const first = await backend.mutation("lib:add");
  const second = await backend.mutation("lib:add");
  expect([first.own, second.own]).toEqual([2, 2]);
  expect(second.seq).toBeGreaterThan(first.seq);
  expect(await backend.query("lib:all")).toEqual([first.seq, first.seq, second.seq, second.seq]);
});

test("system calls that are not awaited run to their end before the commit", async () => {
  await start({
    "": {
      "lib.ts": `${PRELUDE}
        export const floating = mutation(async (ctx) => { void ctx.db.insert("rows", {}); });
        export const count = query(async (ctx) => (await ctx.db.query("rows").collect()).length);`,
    },
  });
  await backend.mutation("lib:floating");
  expect(await backend.query("lib:count")).toBe(1);
});

test("an unhandled rejection fails the function, and nothing else", async () => {
  // The test runner's own listeners would take the rejection for a failure of the tests.
  const others = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  try {
    await start({
      "": {
        "lib.ts": `${PRELUDE}
          export const floating = mutation(async (ctx) => {
            await ctx.db.insert("rows", {});
            void ctx.db.delete("no id");
          });
          export const count = query(async (ctx) => (await ctx.db.query("rows").collect()).length);`,
      },
    });
    await expect(backend.mutation("lib:floating")).rejects.toThrow(/"no id" is not a document ID/);
    expect(await backend.query("lib:count")).toBe(0);
  } finally {
    for (const listener of others) process.on("unhandledRejection", listener);
  }
});

test("a function that waits for a result that never comes is ended", async () => {
  const clock = createTestClock();
  await start(
    { "": { "lib.ts": `${PRELUDE} export const wait = mutation(() => new Promise(() => {}));` } },
    { clock },
  );
  const waiting = backend.mutation("lib:wait");
  const ended = expect(waiting).rejects.toThrow("Returned promise will never resolve");
  // The sandbox is made, and the function begun, before the clock is put forward.
  for (let i = 0; i < 100; i++) await clock.pause();
  clock.advance(150);
  await ended;
});

test("one that waits for work of Node's elsewhere is not mistaken for one that never ends", async () => {
  await start({
    "": {
      "lib.ts": `${PRELUDE}
        const bytes = () => new Uint8Array(3_000_000).fill(7);
        export const busy = query(async () => {
          const blob = new Blob([bytes(), bytes()]);
          const size = (await blob.arrayBuffer()).byteLength;
          const text = await new Response(new Blob([bytes()]).stream()).text();
          const { instance } = await WebAssembly.instantiate(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
          const signature = await crypto.subtle.digest("SHA-512", bytes());
          return [size, text.length, Object.keys(instance.exports).length, signature.byteLength];
        });`,
    },
  });
  expect(await backend.query("lib:busy")).toEqual([6_000_000, 3_000_000, 0, 64]);
});

test("a nested call that never ends fails, and its caller goes on", async () => {
  await start({
    "": {
      "lib.ts": `${PRELUDE}
        export const wait = internalMutation(() => new Promise(() => {}));
        export const outer = mutation((ctx) => ctx.runMutation(internal.lib.wait, {}).catch((e) => e.message));`,
    },
  });
  expect(await backend.mutation("lib:outer")).toContain("Returned promise will never resolve");
});

test.each([
  {
    session: { sessionId: "s", requestId: 0 },
    conflicts: 1,
    why: "the platform records its request with it",
  },
  { session: undefined, conflicts: 0, why: "there is nothing to commit" },
])(
  "a mutation that only reads conflicts $conflicts times of $session: $why",
  async ({ session, conflicts }) => {
    let disturb: (() => Promise<void>) | null = null;
    const clock: Environment = {
      ...wallEnvironment,
      pause: async () => {
        const disturbing = disturb;
        disturb = null;
        await disturbing?.();
        await wallEnvironment.pause();
      },
    };
    const look = `export const look = mutation(async (ctx, { id }) => {
    const { n } = await ctx.db.get(id);
    await ctx.db.get(id);
    return n;
  });`;
    await start({ "": { "counter.ts": `${COUNTER["counter.ts"]}${look}` } }, { clock });
    const id = (await backend.mutation("counter:create")) as string;
    const ended = new Promise<Completion>((resolve) => backend.runner.onCompletion(resolve));
    disturb = async () => {
      const tx = backend.database.begin();
      await tx.patch("", id, { n: 7 });
      await backend.database.commit(tx, "other:write");
    };
    await backend.runner.mutation(
      { namespace: "", path: "counter:look" },
      { id },
      { identity: { kind: "none" }, publicOnly: true, requestId: "r", ...(session && { session }) },
    );
    expect((await ended).conflicts).toBe(conflicts);
  },
);
