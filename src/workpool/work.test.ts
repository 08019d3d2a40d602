/** A piece of work as a job: its rules, its time, its name. */
import { convexTest } from "convex-test";
import { anyApi, componentsGeneric, defineSchema, mutationGeneric } from "convex/server";
import { expect, test } from "vitest";
import type { JobOptions } from "../shared/index.js";
import { register } from "../test.js";
import type { WorkOptions } from "./options.js";
import { declarationOf, jobOptions } from "./work.js";
import { Workpool, type WorkpoolComponent } from "./workpool.js";

const NOW = 1_800_000_000_000;
const YEAR = 366 * 86_400_000;

/** Handles can only be made inside a function. */
async function inFunction<T>(what: () => Promise<T>): Promise<T> {
  let got: T | undefined;
  const functions = {
    run: mutationGeneric({
      args: {},
      handler: async () => {
        got = await what();
      },
    }),
  };
  const t = convexTest(defineSchema({}), {
    "/convex/_generated/server.ts": async () => ({}),
    "/convex/app.ts": async () => functions,
  });
  await t.mutation(anyApi["app"]!["run"] as any, {});
  return got!;
}

const make = (type: "action" | "mutation" | "query", options: WorkOptions): Promise<JobOptions> =>
  inFunction(() => jobOptions(type, anyApi["mails"]!["send"] as never, options, NOW));

const retried = (maxAttempts: number, initialBackoffMs = 250, base = 2): WorkOptions => ({
  retryBehavior: { maxAttempts, initialBackoffMs, base },
});

test("a name is cut to its first 128 characters, of which none is half", async () => {
  const { name } = await make("query", { name: `x${"🙂".repeat(100)}` });
  expect(name).toMatch(/^x(🙂){63}/u);
  expect(name).not.toMatch(/\p{Surrogate}/u);
});

test("a name of blanks is none, and is the function's path", async () => {
  expect(await make("query", { name: " \n" })).toMatchObject({ name: "mails:send" });
  expect(await make("query", { name: `${" ".repeat(200)}x` })).toMatchObject({ name: "x" });
});

test("an action that is not retried loses its work with its lane, since it may have run", async () => {
  const { rules } = await make("action", {});
  expect(rules).toMatchObject({ retry: { maxAttempts: 1 }, maxResets: 0 });
});

test("a lost lane is one of the attempts of an action that is retried", async () => {
  const { rules } = await make("action", retried(4));
  expect(rules).toMatchObject({ retry: { maxAttempts: 4, initialBackoffMs: 250 }, maxResets: 3 });
});

// Shows WP-38.
test("a mutation or query that lost its lane has left no trace, and is begun again; one that throws is not", async () => {
  for (const type of ["mutation", "query"] as const) {
    const { rules } = await make(type, retried(4));
    expect(rules).toMatchObject({ retry: { maxAttempts: 1 }, maxResets: 3 });
    expect(rules!.handler).toMatchObject({ kind: type, takes: "payload" });
  }
});

test.each([
  [0, 1],
  [1, 1],
  [NaN, 1],
  [2.5, 3],
  [Infinity, 1_000],
])("maxAttempts %s comes to %s attempts", async (given, attempts) => {
  expect((await make("action", retried(given))).rules!.retry!.maxAttempts).toBe(attempts);
});

test("a backoff in fractions of a millisecond is rounded, and has no bound but a year", async () => {
  const { retry } = (await make("action", retried(2, 99.6, 1.1))).rules!;
  expect(retry).toEqual({
    ...{ maxAttempts: 2, initialBackoffMs: 100, base: 1.1 },
    maxBackoffMs: YEAR,
  });
});

test.each([
  { when: "at once", options: {}, runAt: undefined },
  { when: "at a time", options: { runAt: NOW + 5 }, runAt: NOW + 5 },
  { when: "after a time", options: { runAfter: 5 }, runAt: NOW + 5 },
  { when: "a year ago at most", options: { runAt: NOW - YEAR }, runAt: NOW - YEAR },
  { when: "long ago: now", options: { runAt: 0 }, runAt: undefined },
  { when: "too far ahead: in a year", options: { runAfter: 5 * YEAR }, runAt: NOW + YEAR },
])("due $when", async ({ options, runAt }) => {
  expect((await make("action", options)).runAt).toBe(runAt);
});

test("failed work includes timed out work, for an exclusion of it", async () => {
  const { rules } = await make("action", { onCompleteExcludeKinds: ["failed", "canceled"] });
  expect(rules!.onCompleteExclude).toEqual(["failed", "timedOut", "canceled"]);
});

test("a context is kept only for a callback", async () => {
  const onComplete = anyApi["mails"]!["sent"] as never;
  expect(await make("action", { context: 1 })).not.toHaveProperty("context");
  expect(await make("action", { context: 1, onComplete })).toMatchObject({ context: 1 });
  expect((await make("action", { context: 1, onComplete: null })).rules).not.toHaveProperty(
    "onComplete",
  );
});

test("a name is the function's path where none is given, and cut where it is too long", async () => {
  expect((await make("action", {})).name).toBe("mails:send");
  expect((await make("action", { name: "mine" })).name).toBe("mine");
  expect((await make("action", { name: "x".repeat(500) })).name).toHaveLength(128);
});

test("a handle is run and named as it is", async () => {
  const handle = "function://;mailer:send";
  const made = await inFunction(() => jobOptions("action", handle as never, {}, NOW));
  expect(made.rules!.handler!.handle).toBe(handle);
  expect(made.name).toBe(handle);
});

test("a pool of one begins its work in the order in which it came; a larger pool spreads it", () => {
  expect(declarationOf({ maxParallelism: 1 }).config).toMatchObject({ shards: 1, push: true });
  expect(declarationOf({ maxParallelism: 2 }).config.shards).toBeGreaterThan(1);
  expect(declarationOf({ logLevel: "REPORT" }).config.logLevel).toBe("warn");
});

test("the status of any number of pieces of work is asked for in one call", async () => {
  const t = convexTest(defineSchema({}), { "/convex/_generated/server.ts": async () => ({}) });
  register(t);
  const { conveyor } = componentsGeneric() as unknown as { conveyor: WorkpoolComponent };
  const pool = new Workpool(conveyor);
  const ids = Array.from({ length: 1_001 }, (_, n) => `none ${n}` as never);
  const all = await t.run((ctx) => pool.statusBatch(ctx, ids));
  expect(all).toEqual(ids.map(() => ({ state: "finished" })));
  expect(await t.run((ctx) => pool.statusBatch(ctx, []))).toEqual([]);
});
