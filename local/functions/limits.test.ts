import { afterEach, describe, expect, test } from "vitest";
import type { Limits } from "../limits.js";
import { PRELUDE, startTestBackend, type TestBackend } from "./testing.js";

let backend: TestBackend;
afterEach(() => backend.stop());

const MODULE = `${PRELUDE}
  export const nothing = mutation(async () => null);
  export const insert = mutation(async (ctx, { n }) => {
    for (let i = 0; i < n; i++) await ctx.db.insert("rows", { i });
  });
  export const count = query(async (ctx) => (await ctx.db.query("rows").collect()).length);
  export const read = query(async (ctx, { n }) => (await ctx.db.query("rows").take(n)).length);
  export const echo = query(async (ctx, { value, times = 1 }) => Array(times).fill(value).join(""));
  export const given = action(async (ctx, { value }) => value.length);
  export const plan = mutation(async (ctx, { n, size = 0, at = 60_000 }) => {
    for (let i = 0; i < n; i++) await ctx.scheduler.runAfter(at, api.m.nothing, { text: "x".repeat(size) });
  });
  export const planOne = action((ctx, { size }) => ctx.scheduler.runAfter(60_000, api.m.nothing, { text: "x".repeat(size) }));
  /** Goes over a limit on reading, catches it, and returns the errors and the reads that still work. */
  export const goOn = mutation(async (ctx, { n }) => {
    const said = [];
    for (let i = 0; i < 2; i++) {
      try { await ctx.db.query("rows").take(n); } catch (error) { said.push(error.message.split(":")[0]); }
    }
    const { documentsRead } = await ctx.meta.getTransactionMetrics();
    await ctx.db.insert("rows", { caught: true });
    return { said, documentsRead };
  });
  export const resume = query(async (ctx, { n }) => {
    const rows = ctx.db.query("rows")[Symbol.asyncIterator]();
    const seen = [];
    for (let i = 0; i < n; i++) {
      try { const next = await rows.next(); seen.push(next.done ? "done" : "row"); } catch (error) { seen.push(error.message.split(":")[0]); }
    }
    return seen;
  });
  export const insist = mutation(async (ctx, { n }) => {
    for (let i = 0; i < n; i++) await ctx.scheduler.runAfter(0, api.m.nothing, {}).catch(() => {});
  });
  export const undone = mutation(async (ctx, { n }) => {
    await ctx.runMutation(api.m.planAndFail, { n }).catch(() => {});
    return ctx.meta.getTransactionMetrics();
  });
  export const planAndFail = mutation(async (ctx, { n }) => {
    await ctx.db.query("rows").take(n);
    for (let i = 0; i < n; i++) await ctx.scheduler.runAfter(0, api.m.nothing, {});
    throw new Error("no");
  });
  export const metrics = mutation(async (ctx) => ctx.meta.getTransactionMetrics());
  export const within = mutation(async (ctx, { transactionLimits }) => {
    await ctx.db.insert("rows", {});
    return ctx.runMutation(api.m.metrics, {}, { transactionLimits });
  });
  export const stale = mutation(async (ctx, { n }) => {
    await ctx.db.query("rows").take(n);
    const seen = await ctx.runQuery(api.m.read, { n }, { useStaleSnapshot: true });
    return { seen, used: (await ctx.meta.getTransactionMetrics()).documentsRead.used };
  });
  export const page = query(async (ctx, args) => (await ctx.db.query("rows").paginate({ cursor: null, ...args })).page.length);
  export const wholePage = query((ctx, args) => ctx.db.query("rows").paginate({ cursor: null, ...args }));
  export const filters = query(async (ctx, { n }) => {
    let rows = ctx.db.query("rows");
    for (let i = 0; i < n; i++) rows = rows.filter((q) => q.eq(q.field("i"), 0));
    return (await rows.collect()).length;
  });
  export const deep = mutation(async (ctx, { n }) => (n === 0 ? 0 : 1 + await ctx.runMutation(api.m.deep, { n: n - 1 })));
  export const talk = mutation(async (ctx, { n }) => { for (let i = 0; i < n; i++) console.log(i); });
  export const talkInAction = action(async (ctx, { n }) => { for (let i = 0; i < n; i++) console.log(i); });
  export const twoPages = query(async (ctx) => {
    const options = { cursor: null, numItems: 1 };
    await ctx.db.query("rows").paginate(options);
    await ctx.db.query("rows").paginate(options);
  });`;

async function start(limits: Partial<Limits> = {}): Promise<void> {
  backend = await startTestBackend({ "": { "m.ts": MODULE } }, { database: { limits } });
}

/** Once at the limit, and once one over it. */
async function atAndOver(path: string, at: object, over: object, message: RegExp): Promise<void> {
  const kind = path === "m:given" ? "action" : QUERIES.has(path) ? "query" : "mutation";
  await backend[kind](path, at);
  await expect(backend[kind](path, over)).rejects.toThrow(message);
}
const QUERIES = new Set(["m:echo", "m:page", "m:filters", "m:read"]);

describe("a function that goes over", () => {
  test("a mutation that does not catch the limit on reads fails, and its writes are undone", async () => {
    await start({ documentsRead: 5 });
    await backend.mutation("m:insert", { n: 6 });
    await atAndOver(
      "m:read",
      { n: 5 },
      { n: 6 },
      /Uncaught Error: TooManyDocumentsRead: Too many documents read in a single function execution \(limit: 5\)/,
    );
  });

  test("may catch it, as on the platform: the excess is counted, and every later read fails", async () => {
    await start({ documentsRead: 5 });
    await backend.mutation("m:insert", { n: 10 });
    expect(await backend.mutation("m:goOn", { n: 6 })).toEqual({
      said: ["TooManyDocumentsRead", "TooManyDocumentsRead"],
      documentsRead: { used: 7, remaining: -2 },
    });
  });

  test("cannot take a scan that failed for one that is at its end", async () => {
    await start({ documentsRead: 2 });
    await backend.mutation("m:insert", { n: 4 });
    const [first, second, third, fourth] = await backend.query("m:resume", { n: 4 });
    expect([first, second, third]).toEqual(["row", "row", "TooManyDocumentsRead"]);
    expect(fourth).not.toMatch(/row|done/);
  });

  test("the platform's own limits cannot catch that: it is no mistake of the function's", async () => {
    // Two for each scheduled function.
    await start({ systemDocumentsWritten: 6 });
    await backend.mutation("m:insist", { n: 3 });
    await expect(backend.mutation("m:insist", { n: 4 })).rejects.toMatchObject({
      status: 500,
      message: expect.stringContaining("Too many system document writes"),
    });
  });
});

describe("scheduling", () => {
  test("1,000 functions are scheduled by a mutation, and not one more", async () => {
    await start();
    await atAndOver(
      "m:plan",
      { n: 1000 },
      { n: 1001 },
      /TooManyFunctionsScheduled: Too many functions scheduled by this mutation \(limit: 1000\)/,
    );
  });

  test("their arguments together have a size, and one alone may be larger than a document", async () => {
    // The bytes around the text: the list of arguments, the object, the field's name, the string's own bytes.
    const around = 2 + 2 + "text".length + 1 + 2;
    await start({ scheduledFunctionArgsBytes: 2 * (1_500_000 + around) });
    const args = { n: 2, size: 1_500_000 };
    await atAndOver(
      "m:plan",
      args,
      { ...args, size: 1_500_001 },
      /ScheduledFunctionsArgumentsTooLarge/,
    );
  });

  test("arguments have that size too when an action schedules", async () => {
    await start({ scheduledFunctionArgsBytes: 1000 });
    await backend.action("m:planOne", { size: 900 });
    const over = backend.action("m:planOne", { size: 1000 });
    await expect(over).rejects.toThrow(/ScheduledFunctionsArgumentsTooLarge/);
  });

  test("is possible as far as five years from now, both ways", async () => {
    await start();
    const distance = 5 * 366 * 24 * 60 * 60 * 1000;
    await atAndOver(
      "m:plan",
      { n: 1, at: distance - 60_000 },
      { n: 1, at: distance + 60_000 },
      /InvalidScheduledFunctionDelay/,
    );
  });

  test("and reads that were rolled back stay counted", async () => {
    await start();
    await backend.mutation("m:insert", { n: 3 });
    expect(await backend.mutation("m:undone", { n: 3 })).toMatchObject({
      documentsRead: { used: 3, remaining: 31_997 },
      functionsScheduled: { used: 3, remaining: 997 },
    });
  });
});

describe("transactionLimits", () => {
  test("come on top of the transaction's earlier use, and the callee can read them", async () => {
    await start();
    const given = { transactionLimits: { documentsWritten: 5, functionsScheduled: 2 } };
    expect(await backend.mutation("m:within", given)).toMatchObject({
      documentsWritten: { used: 1, remaining: 5 },
      functionsScheduled: { used: 0, remaining: 2 },
      documentsRead: { used: 0, remaining: 32_000 },
    });
  });

  test("lift nothing that is limited anyway, and end with the call", async () => {
    await start({ documentsWritten: 3 });
    const given = { transactionLimits: { documentsWritten: 1_000_000 } };
    expect(await backend.mutation("m:within", given)).toMatchObject({
      documentsWritten: { used: 1, remaining: 2 },
    });
  });
});

test("a query on a stale snapshot counts from zero, and nothing of it is its caller's", async () => {
  await start({ documentsRead: 3 });
  await backend.mutation("m:insert", { n: 3 });
  expect(await backend.mutation("m:stale", { n: 3 })).toEqual({ seen: 3, used: 3 });
});

describe("values on their way", () => {
  test("arguments have a size", async () => {
    const around = 2 + 2 + "value".length + 1 + 2;
    await start({ argumentBytes: 1000 });
    const text = "x".repeat(1000 - around);
    await atAndOver(
      "m:echo",
      { value: text },
      { value: `${text}x` },
      /^Arguments for m:echo are too large \(actual: 1001 B, limit: 1000 B\)/,
    );
  });

  test("an action in Node takes less", async () => {
    backend = await startTestBackend(
      { "": { "m.ts": MODULE, "n.ts": `"use node";\n${MODULE}` } },
      { database: { limits: { nodeArgumentBytes: 100 } } },
    );
    const value = "x".repeat(100);
    expect(await backend.action("m:given", { value })).toBe(100);
    await expect(backend.action("n:given", { value })).rejects.toThrow(/limit: 100 B/);
  });

  test("results have a size", async () => {
    await start({ resultBytes: 12 });
    const ten = { value: "0123456789" };
    await atAndOver(
      "m:echo",
      ten,
      { ...ten, times: 2 },
      /^Function m:echo return value is too large \(actual: 22 B, limit: 12 B\)/,
    );
  });

  test.each<[string, (size: number) => unknown, Partial<Limits>, RegExp]>([
    [
      "levels",
      (n) => Array.from({ length: n - 1 }).reduce((inner) => [inner], 1),
      { valueNesting: 6 },
      /too nested/,
    ],
    ["elements", (n) => Array(n).fill(1), { arrayLength: 5 }, /6 > maximum length 5/],
    [
      "fields",
      (n) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`f${i}`, 1])),
      { objectFields: 5 },
      /6 > maximum number 5/,
    ],
  ])("have a number of %s", async (_, make, limits, message) => {
    await start(limits);
    await atAndOver("m:echo", { value: make(5) }, { value: make(6) }, message);
  });

  test("log lines are kept up to 256, the last of which says that there were more", async () => {
    await start();
    for (const [kind, path] of [
      ["mutation", "m:talk"],
      ["action", "m:talkInAction"],
    ] as const) {
      const run = async (n: number) => {
        const address = { namespace: "", path };
        const options = { identity: { kind: "none" }, publicOnly: false, requestId: "r" } as const;
        return (await backend.runner[kind](address, { n }, options)).logs;
      };
      expect(await run(255)).toHaveLength(255);
      const logs = await run(400);
      expect(logs).toHaveLength(256);
      expect(logs.slice(-2)).toEqual([
        "[LOG] 254",
        "[ERROR] 'Log overflow (maximum 256). Remaining log lines omitted.'",
      ]);
    }
  });
});

describe("the limits on one call's requests", () => {
  test("pages have a size, from one row up", async () => {
    await start();
    await backend.mutation("m:insert", { n: 2 });
    await atAndOver("m:page", { numItems: 32_000 }, { numItems: 32_001 }, /PageSizeTooLarge/);
    await expect(backend.query("m:page", { numItems: 0 })).rejects.toThrow(
      /NoDocumentsForPagination/,
    );
    await expect(backend.query("m:page", { numItems: 1, maximumRowsRead: 0 })).rejects.toThrow(
      /InvalidPaginationLimit/,
    );
  });

  test("a page that the transaction's limit cuts short asks to be split, and the next goes on behind it", async () => {
    await start({ documentsRead: 3 });
    for (let n = 0; n < 2; n++) await backend.mutation("m:insert", { n: 2 });
    const first = await backend.query("m:wholePage", { numItems: 10 });
    expect(first).toMatchObject({ pageStatus: "SplitRequired", isDone: false });
    expect(first.page).toHaveLength(3);
    const rest = await backend.query("m:wholePage", { numItems: 10, cursor: first.continueCursor });
    expect(rest).toMatchObject({ isDone: true, page: [{ i: 1 }] });
  });

  test("a function paginates once", async () => {
    await start();
    await expect(backend.query("m:twoPages")).rejects.toThrow(/MultiplePaginatedDatabaseQueries/);
  });

  test("a query has 256 operators, which the official client sees to itself", async () => {
    await start();
    await atAndOver("m:filters", { n: 256 }, { n: 257 }, /more than 256 operators/);
  });

  test("calls nest eight deep", async () => {
    await start();
    await atAndOver(
      "m:deep",
      { n: 8 },
      { n: 9 },
      /Cross component call depth limit exceeded\. Limit is 8/,
    );
  });
});

test("a limit that does not exist, or is no number, is refused by name", async () => {
  await start();
  await expect(
    startTestBackend({}, { database: { limits: { documentRead: 1 } as never } }),
  ).rejects.toThrow(/There is no limit "documentRead"/);
  await expect(
    startTestBackend({}, { database: { limits: { documentsRead: -1 } } }),
  ).rejects.toThrow(/documentsRead must be a number of 0 or more, got -1/);
});
