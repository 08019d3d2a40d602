import { afterEach, expect, test } from "vitest";
import {
  PRELUDE,
  createTestClock,
  startTestBackend,
  type TestBackend,
  type TestOptions,
} from "./testing.js";
import type { Completion } from "./types.js";

let backend: TestBackend;
let completions: Completion[];
afterEach(() => backend.stop());

const SOURCES = {
  "": {
    "schema.ts": `${PRELUDE}
      export default defineSchema({ rows: defineTable({ group: v.string() }).index("group", ["group"]) });`,
    "lib.ts": `${PRELUDE}
      export const add = mutation((ctx, { group }) => ctx.db.insert("rows", { group }));
      export const count = query(async (ctx, { group }) =>
        (await ctx.db.query("rows").withIndex("group", (q) => q.eq("group", group)).collect()).length);
      export const fails = query(async (ctx) => {
        await ctx.db.query("rows").collect();
        throw new ConvexError(Math.random());
      });
      export const now = query(() => Date.now());
      export const me = query(async (ctx) => (await ctx.auth.getUserIdentity())?.subject ?? null);`,
  },
};

async function start(options?: TestOptions): Promise<void> {
  backend = await startTestBackend(SOURCES, options);
  completions = [];
  backend.runner.onCompletion((completion) => completions.push(completion));
}

function executions(path: string): number {
  return completions.filter(({ address, cached }) => address.path === path && !cached).length;
}

test("a result is served again until a commit writes into its read set, and only then computed anew", async () => {
  await start();
  expect(await backend.query("lib:count", { group: "a" })).toBe(0);
  expect(await backend.query("lib:count", { group: "a" })).toBe(0);
  expect(executions("lib:count")).toBe(1);
  await backend.mutation("lib:add", { group: "b" });
  expect(await backend.query("lib:count", { group: "a" })).toBe(0);
  expect(executions("lib:count")).toBe(1);
  await backend.mutation("lib:add", { group: "a" });
  expect(await backend.query("lib:count", { group: "a" })).toBe(1);
  expect(executions("lib:count")).toBe(2);
});

test("other arguments are another result", async () => {
  await start();
  await backend.mutation("lib:add", { group: "a" });
  expect(await backend.query("lib:count", { group: "a" })).toBe(1);
  expect(await backend.query("lib:count", { group: "b" })).toBe(0);
});

test("callers that ask at once for the same share one run", async () => {
  await start();
  const asked = [1, 2, 3].map(() => backend.query("lib:count", { group: "a" }));
  expect(await Promise.all(asked)).toEqual([0, 0, 0]);
  expect(executions("lib:count")).toBe(1);
});

test("a commit while the query runs is seen by the next caller", async () => {
  await start();
  const early = backend.query("lib:count", { group: "a" });
  await backend.mutation("lib:add", { group: "a" });
  expect(await early).toBe(0);
  expect(await backend.query("lib:count", { group: "a" })).toBe(1);
});

test("queries asked for in one tick see one snapshot", async () => {
  await start();
  const options = { identity: { kind: "none" }, publicOnly: true, requestId: "r" } as const;
  const address = { namespace: "", path: "lib:count" };
  await backend.query("lib:count", { group: "a" });
  await backend.mutation("lib:add", { group: "c" });
  const results = await Promise.all(
    ["a", "b"].map((group) => backend.runner.query(address, { group }, options)),
  );
  expect(new Set(results.map(({ ts }) => ts)).size).toBe(1);
});

test("a result that asked for the time is not served for long", async () => {
  const clock = createTestClock();
  await start({ clock });
  const first = await backend.query("lib:now");
  expect(await backend.query("lib:now")).toBe(first);
  clock.advance(20_000);
  expect(await backend.query("lib:now")).toBeGreaterThan(first);
});

test("a result that depends on its caller is served to no other, and any other result to all", async () => {
  await start();
  const as = (subject: string) => {
    const user = {
      tokenIdentifier: `https://issuer|${subject}`,
      issuer: "https://issuer",
      subject,
    };
    return { identity: { kind: "user", user, expiresAt: Infinity, token: "" } } as const;
  };
  expect(await backend.query("lib:me", {}, as("ada"))).toBe("ada");
  expect(await backend.query("lib:me", {}, as("bob"))).toBe("bob");
  expect(await backend.query("lib:me")).toBeNull();
  expect(await backend.query("lib:me", {}, as("ada"))).toBe("ada");
  expect(executions("lib:me")).toBe(3);
  for (const user of ["ada", "bob"]) await backend.query("lib:count", { group: "a" }, as(user));
  expect(executions("lib:count")).toBe(1);
});

test("an error is served to no other caller: each runs for itself, and reads", async () => {
  await start();
  await backend.mutation("lib:add", { group: "a" });
  const options = { identity: { kind: "none" }, publicOnly: true, requestId: "r" } as const;
  const address = { namespace: "", path: "lib:fails" };
  const ask = () => backend.runner.query(address, {}, options);
  const told = [...(await Promise.all([ask(), ask(), ask()])), await ask()];
  expect(new Set(told.map((result) => !result.ok && result.data)).size).toBe(4);
  expect(executions("lib:fails")).toBe(4);
  const failed = completions.filter(({ address }) => address.path === "lib:fails");
  expect(failed.map(({ spent }) => spent.cost.user.documentsRead)).toEqual([1, 1, 1, 1]);
});

test("a query that is not there is a call too", async () => {
  await start();
  await expect(backend.query("lib:gone")).rejects.toThrow("Could not find");
  expect(completions).toMatchObject([{ address: { path: "lib:gone" }, billed: 1, cached: false }]);
});

test("a push forgets results of the old code", async () => {
  await start();
  expect(await backend.query("lib:count", { group: "a" })).toBe(0);
  const source = SOURCES[""]["lib.ts"].replace(".length)", ".length + 100)");
  await backend.push({ "": { ...SOURCES[""], "lib.ts": source } });
  expect(await backend.query("lib:count", { group: "a" })).toBe(100);
});
