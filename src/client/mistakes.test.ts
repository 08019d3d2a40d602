/** A newcomer's mistakes, and the text with the right form. On `convex-test` with the real component. */
import { convexTest } from "convex-test";
import { componentsGeneric, defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
import { describe, expect, test } from "vitest";
import { register } from "../test.js";
import { Conveyor, type ComponentApi } from "./index.js";

const { conveyor: component } = componentsGeneric() as unknown as { conveyor: ComponentApi };
const conveyor = new Conveyor(component);
const anything = conveyor.queue("anything", { payload: v.any() });
const mails = conveyor.queue("mails", {
  payload: v.object({ to: v.string(), user: v.optional(v.id("users")) }),
});
const owned = conveyor.queue("owned", {
  payload: v.any(),
  context: v.object({ user: v.id("users") }),
});
const plain = conveyor.queue("plain", {});
const perJob = conveyor.queue("perJob", { perJob: true });
const tuned = conveyor.queue("tuned", { maxParallelism: 2 });

const schema = defineSchema({
  users: defineTable({ name: v.string() }),
  teams: defineTable({ name: v.string() }),
});

function setup() {
  const t = convexTest(schema, { "/convex/_generated/api.js": () => Promise.resolve({}) });
  register(t);
  return t;
}

/** The message of a refusal inside a mutation. */
async function refusal(call: (ctx: any) => Promise<unknown>): Promise<unknown> {
  const error: any = await setup()
    .run(async (ctx) => {
      await call(ctx);
    })
    .then(
      () => null,
      (thrown: unknown) => thrown,
    );
  const data = typeof error?.data === "string" ? JSON.parse(error.data) : error?.data;
  return data === undefined ? error : `${data.code}: ${data.message}`;
}

describe("a value that Convex cannot store is named by its path in the payload", () => {
  test.each<[string, unknown, string]>([
    [
      "a date",
      { at: new Date(0) },
      "payload.at is a Date. Pass its number of milliseconds: `date.getTime()`.",
    ],
    [
      "a map in a list",
      { all: [1, new Map()] },
      "payload.all[1] is a Map. Pass an object: `Object.fromEntries(map)`.",
    ],
    [
      "an instance of a class",
      { a: { b: new URL("https://example.com") } },
      "payload.a.b is an URL. Pass plain objects, arrays, strings, numbers, bigints, booleans, null or ArrayBuffers.",
    ],
    [
      "undefined in a list",
      [undefined],
      "payload[0] is undefined. Pass null, or leave the element out.",
    ],
  ])("%s", async (_what, payload, text) => {
    expect(await refusal((ctx) => anything.enqueue(ctx, payload))).toBe(
      `invalidPayload: The payload for the queue "anything" has a value that Convex cannot store: ${text}`,
    );
  });

  test("of a batch with its place, of a context as such; a field that is undefined is left out", async () => {
    const date = new Date(0);
    expect(await refusal((ctx) => anything.enqueueBatch(ctx, [1, { date }]))).toMatch(
      "payloads[1].date is a Date.",
    );
    expect(await refusal((ctx) => anything.enqueue(ctx, 1, { context: { date } }))).toMatch(
      "context.date is a Date.",
    );
    expect(await refusal((ctx) => anything.enqueue(ctx, { a: undefined }))).toBeNull();
  });
});

describe("a time that is none says how it is written", () => {
  test.each<[string, object, string]>([
    [
      "a date as runAt",
      { runAt: new Date(0) },
      "runAt must be a number; got a Date. Pass milliseconds since 1970, as `date.getTime()` is.",
    ],
    [
      "a text as runAfter",
      { runAfter: "60s" },
      "runAfter must be a number; got a string. Pass milliseconds from now on, as 60_000 is for a minute.",
    ],
    [
      "a wait below nothing",
      { runAfter: -5 },
      "runAfter must be 0 milliseconds or more; got -5. Leave it out for a job that is to run at once.",
    ],
  ])("%s", async (_what, options, text) => {
    expect(await refusal((ctx) => anything.enqueue(ctx, 1, options))).toBe(
      `invalidArgument: ${text}`,
    );
  });
});

test("a payload in place of the context says where the context goes", async () => {
  expect(await refusal(() => (mails as any).enqueue({ to: "ada" }))).toBe(
    "invalidArgument: The first argument must be the `ctx` of a mutation or an action; got an object. " +
      "Write `enqueue(ctx, payload)`, and `ctx` first in every other call of a queue.",
  );
  expect(await refusal(() => (mails as any).cancel("some id"))).toMatch("got a string.");
});

test("a query cannot enqueue, and the refusal names the contexts that can", async () => {
  const query = { db: {}, runQuery: async () => null };
  const text =
    'invalidArgument: A query changes nothing, so it cannot change jobs of the queue "mails". ' +
    "Make this function a mutation or an action.";
  expect(await refusal(() => (mails as any).enqueue(query, { to: "ada" }))).toBe(text);
  expect(await refusal(() => (mails as any).retry(query, "some id"))).toBe(text);
});

test("a field too many is to be left out, or to be added to the validator", async () => {
  expect(await refusal((ctx) => mails.enqueue(ctx, { to: "ada", cc: "bob" } as never))).toBe(
    'invalidPayload: The payload does not fit the queue "mails": payload.cc is no field of its validator, got string. ' +
      "Leave the field out, or add it to the `payload` validator in the queue's definition.",
  );
});

test("the id of another table is refused where the call has a database", async () => {
  const ofTeam = async (ctx: any) => await ctx.db.insert("teams", { name: "a" });
  expect(
    await refusal(async (ctx) => {
      await mails.enqueue(ctx, { to: "ada", user: (await ofTeam(ctx)) as never });
    }),
  ).toMatch("payload.user must be Id<users>, got a string that is no such id. ");
});

test("also in a context, which no callback would take", async () => {
  const ofTeam = async (ctx: any) => await ctx.db.insert("teams", { name: "a" });
  expect(
    await refusal(async (ctx) => {
      await owned.enqueue(ctx, 1, { context: { user: (await ofTeam(ctx)) as never } });
    }),
  ).toMatch("context.user must be Id<users>, got a string that is no such id. ");
});

test("the id of another table is the id of no job", async () => {
  const text = /^unknownJob: The queue "mails" has no job ".*"\. Pass the id that enqueue returned/;
  const ofTeam = async (ctx: any) => await ctx.db.insert("teams", { name: "a" });
  expect(await refusal(async (ctx) => await mails.cancel(ctx, await ofTeam(ctx)))).toMatch(text);
  expect(await refusal(async (ctx) => await mails.retry(ctx, await ofTeam(ctx)))).toMatch(text);
});

test("an action enqueues as a mutation does, in a transaction of its own", async () => {
  const inAction = ({ runQuery, runMutation, runAction }: any) =>
    mails.enqueue({ runQuery, runMutation, runAction } as never, { to: "ada" });
  expect(await refusal(inAction)).toBeNull();
});

test("a text that is no worker token is refused with the form of one", async () => {
  const config = { leaseMs: 30_000, maxResets: 3, shards: 1 };
  const call = {
    token: "secret",
    sessionKey: "s",
    name: "w",
    callSeq: 1,
    queues: [{ name: "mails", config }],
    max: 1,
  };
  expect(await refusal((ctx) => ctx.runMutation(component.lib.claim, call))).toBe(
    'tokenUnknown: This is no worker token: one begins with "cvy_" and has 77 characters. Pass the whole token, as it was shown.',
  );
});

test("a number that only Convex heeds is refused where nothing of Convex works on the queue", async () => {
  expect(await refusal((ctx) => tuned.enqueue(ctx, {}))).toBe(
    'invalidArgument: maxParallelism of the queue "tuned" is for jobs that Convex runs, and the queue has no handler: its jobs ' +
      "would wait for workers outside. Name a handler in the definition or with `handledBy`, or leave maxParallelism out.",
  );
});

test("a handler of one job is refused where nothing of Convex works on the queue", async () => {
  const handler = { action: "function://h" } as const;
  const text =
    'invalidArgument: A job of the queue "mails" cannot have a handler: the queue has none, so its jobs wait for workers ' +
    "outside. Add `perJob: true` to its definition, or name a handler there or with `handledBy`.";
  const mail = { to: "ada" };
  expect(await refusal((ctx) => mails.enqueue(ctx, mail, { handler }))).toBe(text);
  expect(await refusal((ctx) => mails.enqueueBatch(ctx, [mail], () => ({ handler })))).toBe(text);
  expect(await refusal((ctx) => perJob.enqueue(ctx, {}, { handler }))).toBeNull();
});

describe("a number or a name that cannot be is refused with the rule and the given value", () => {
  test.each<[string, unknown, object, string]>([
    [
      "a priority out of bounds",
      1,
      { priority: 100 },
      "invalidArgument: priority must be a whole number from -10 to 10; got 100.",
    ],
    [
      "runAt in seconds",
      1,
      { runAt: 1_893_456_000 },
      "invalidArgument: runAt must lie between one year ago and four years ahead, in milliseconds; got 1893456000. " +
        "Seconds are to be multiplied by 1,000.",
    ],
    [
      "a number of retries",
      1,
      { retry: 3 },
      "invalidArgument: retry must be true, false or an object; got 3. A number of attempts, the first included, is written " +
        "`retry: { maxAttempts: 3 }`.",
    ],
    [
      "a payload over 1 MiB",
      "x".repeat(1_100_000),
      {},
      "payloadTooLarge: A payload may be up to 1044480 bytes; this one is 1100002. Put it into file storage, and its id into " +
        "the payload.",
    ],
  ])("%s", async (_what, payload, options, text) => {
    expect(await refusal((ctx) => anything.enqueue(ctx, payload, options))).toBe(text);
  });

  test("an option of another library; a batch that no mutation can carry", async () => {
    expect(await refusal((ctx) => anything.enqueue(ctx, 1, { delay: 5 } as never))).toMatch(
      /^invalidArgument: A job has no option "delay". It has name, priority, runAt, runAfter/,
    );
    // Every object has that one.
    const inherited = { toString: undefined };
    expect(await refusal((ctx) => anything.enqueue(ctx, 1, inherited as never))).toMatch(
      /^invalidArgument: A job has no option "toString"/,
    );
    const many = Array.from({ length: 9_000 }, () => 1);
    expect(await refusal((ctx) => anything.enqueueBatch(ctx, many))).toMatch(
      "Enqueue them from an action, which needs no such bound, or in several mutations.",
    );
  });
});

test("a wrong type and a missing field are named by their path", async () => {
  const wayOut = "Correct the payload, or the `payload` validator in the queue's definition.";
  expect(await refusal((ctx) => mails.enqueue(ctx, { to: 5 } as never))).toBe(
    `invalidPayload: The payload does not fit the queue "mails": payload.to must be string, got number. ${wayOut}`,
  );
  expect(await refusal((ctx) => mails.enqueue(ctx, {} as never))).toMatch(
    `payload.to must be string, got nothing. ${wayOut}`,
  );
});

test("an id that is none, and a queue that no code has declared, say where theirs come from", async () => {
  expect(await refusal((ctx) => mails.cancel(ctx, "nonsense"))).toBe(
    'unknownJob: The queue "mails" has no job "nonsense". Pass the id that enqueue returned, on the same deployment.',
  );
  expect(await refusal((ctx) => conveyor.control("emailz").pause(ctx))).toMatch(
    /^unknownQueue: .*Check the name .* or act by its definition, as in `emails\.control\.pause\(ctx\)`, which declares it\.$/,
  );
});

test("a queue that is defined is paused before its first job", async () => {
  expect(await refusal((ctx) => mails.control.pause(ctx))).toBeNull();
});

test("a queue without a payload takes none, or an empty one", async () => {
  expect(await refusal((ctx) => plain.enqueue(ctx))).toBeNull();
  expect(await refusal((ctx) => plain.enqueue(ctx, {}, { priority: 1 }))).toBeNull();
});

test("a name is defined once", () => {
  const again = () => conveyor.queue("mails", {});
  expect(again).toThrow(
    expect.objectContaining({ data: expect.objectContaining({ queue: "mails" }) }),
  );
});
