/** Options and payloads that only code without types can pass: each is refused with a code, and none is taken for another. */
import { convexTest } from "convex-test";
import { componentsGeneric, defineSchema } from "convex/server";
import { v } from "convex/values";
import { describe, expect, test } from "vitest";
import { isConveyorError } from "../shared/index.js";
import { register } from "../test.js";
import { Conveyor, type ComponentApi } from "./index.js";

const { conveyor: component } = componentsGeneric() as unknown as { conveyor: ComponentApi };
const conveyor: any = new Conveyor(component);
const anything = conveyor.queue("anything", { payload: v.any() });

/** The refusal of a call inside a mutation, or of a definition; null where there is none. */
async function refusal(call: (ctx: any) => unknown): Promise<unknown> {
  const t = convexTest(defineSchema({}), {
    "/convex/_generated/api.js": () => Promise.resolve({}),
  });
  register(t);
  let refused: unknown = null;
  await t.run(async (ctx) => {
    try {
      await call(ctx);
    } catch (error) {
      refused = isConveyorError(error) ? `${error.data.code}: ${error.data.message}` : error;
    }
  });
  return refused;
}

const round: Record<string, unknown> = {};
round["round"] = round;

describe("a payload or context that no call can carry", () => {
  test.each<[string, unknown, RegExp]>([
    [
      "that contains itself",
      round,
      /(\.round){14} is nested more than 14 levels deep\. Flatten it/,
    ],
    [
      "with a name of a field that is not ASCII",
      { sizes: { größe: 1 } },
      /sizes\.größe is a field/,
    ],
    ["with a name of a field that is reserved", [{ $ref: 1 }], /\[0\]\.\$ref is a field/],
    ["with an integer of more than 64 bits", { n: 2n ** 63n }, /\.n is a bigint of more than 64/],
    ["with half a character", ["ok", "\ud83d"], /\[1\] is a text with half a character in it/],
  ])("%s is refused with its path", async (_what, value, text) => {
    const code = expect.stringMatching(/^invalidPayload: /);
    for (const call of [
      (ctx: any) => anything.enqueue(ctx, value),
      (ctx: any) => anything.enqueueBatch(ctx, [value]),
      (ctx: any) => anything.enqueue(ctx, 1, { context: value }),
    ]) {
      const refused = await refusal(call);
      expect(refused).toEqual(code);
      expect(refused).toMatch(text);
    }
  });

  test("at its bounds is taken", async () => {
    const value = { "a ~": -(2n ** 63n), emoji: "😀", undefined: undefined, größe: undefined };
    expect(await refusal((ctx) => anything.enqueue(ctx, value))).toBeNull();
  });
});

describe("a text in place of a list is not split into its letters", () => {
  test.each<[string, object]>([
    ["labels", { labels: "gpu" }],
    ["labels", { labels: "" }],
    ["labels", { labels: null }],
    ["tags", { tags: "urgent" }],
    ["tags", { tags: { urgent: true } }],
    ["prefer.labels", { prefer: { labels: "gpu", forMs: 1_000 } }],
    ["onCompleteExclude", { onCompleteExclude: "canceled" }],
  ])("%s of %o", async (option, options) => {
    expect(await refusal((ctx) => anything.enqueue(ctx, 1, options))).toMatch(
      `invalidArgument: ${option} must be a list; got `,
    );
  });

  test("of a queue's definition, and of payloads", async () => {
    expect(await refusal(() => conveyor.queue("listed", { listBy: "tag" }))).toMatch(
      "invalidArgument: listBy must be a list; got a string.",
    );
    expect(await refusal(() => conveyor.queue("told", { onCompleteExclude: "failed" }))).toMatch(
      "invalidArgument: onCompleteExclude must be a list; got a string.",
    );
    for (const payloads of ["ab", { a: 1 }, undefined, null]) {
      expect(await refusal((ctx) => anything.enqueueBatch(ctx, payloads))).toMatch(
        "invalidArgument: payloads must be a list; got ",
      );
    }
  });

  test("a set is a list", async () => {
    const options = { tags: new Set(["a"]), labels: new Set(["gpu"]) };
    expect(await refusal((ctx) => anything.enqueueBatch(ctx, new Set([1]), options))).toBeNull();
  });
});

describe("options that are none", () => {
  test.each<[unknown, string]>([
    [null, "null"],
    [5, "a number"],
    ["urgent", "a string"],
    [[{ priority: 1 }], "an Array"],
    [Promise.resolve({ priority: 1 }), "a Promise"],
  ])("%o are refused, and not passed over", async (options, got) => {
    const text = `invalidArgument: The options of a job must be an object; got ${got}.`;
    if (!(options instanceof Promise))
      expect(await refusal((ctx) => anything.enqueue(ctx, 1, options))).toMatch(text);
    expect(await refusal((ctx) => anything.enqueueBatch(ctx, [1], () => options))).toMatch(text);
  });

  test("a misspelt one of a queue's definition is refused, as a job's is", async () => {
    expect(await refusal(() => conveyor.queue("spelt", { leaseMS: 5_000 }))).toMatch(
      /^invalidArgument: A queue has no option "leaseMS"\. It has payload, result, /,
    );
    expect(await refusal(() => conveyor.queue("spelt", null))).toMatch(
      "invalidArgument: The options of a queue must be an object; got null.",
    );
  });
});

describe("a value of another type says what it is", () => {
  test.each<[object, string]>([
    [{ key: null }, "key must be a text, or an object with one as `value`; got null."],
    [{ key: 5 }, "key must be a text, or an object with one as `value`; got a number."],
    [{ key: {} }, "The key of a job must be a text; got undefined."],
    [{ key: { value: 5 } }, "The key of a job must be a text; got a number."],
    [{ name: null }, "The name of a job must be a text; got null."],
    [{ group: { id: 1 } }, "The group of a job must be a text; got an object."],
    [{ tags: [null] }, "A tag must be a text; got null."],
    [{ labels: [5] }, 'A label must be 1 to 64 letters, digits, "_", "-", "." or ":"'],
    [{ prefer: null }, "A preference names labels of the workers that it is for, or a worker"],
    [{ prefer: { worker: 5, forMs: 1_000 } }, "The preferred worker of a job must be a text"],
    [{ retry: { base: "2" } }, "base of retry must be a number from 1 to 10; got 2."],
    [{ name: "a cut 😀".slice(0, 7) }, "The name of a job must have whole characters"],
    [{ key: "\udc00" }, "The key of a job must have whole characters"],
  ])("%o", async (options, text) => {
    expect(await refusal((ctx) => anything.enqueue(ctx, 1, options))).toMatch(
      `invalidArgument: ${text}`,
    );
  });

  test.each<[object, string]>([
    [{ onCompleteExclude: ["cancelled"] }, 'onCompleteExclude must be .*; got "cancelled"'],
    [{ key: { value: "a", onConflict: "ignore" } }, 'onConflict of a key must be .*; got "ignore"'],
    [{ key: { value: "a", windowMS: 5 } }, 'A key has no option "windowMS"'],
  ])("a misspelt word in %o is refused, and not passed over", async (options, text) => {
    expect(await refusal((ctx) => anything.enqueue(ctx, 1, options))).toMatch(
      new RegExp(`^invalidArgument: ${text}`),
    );
  });

  test.each<[object, string]>([
    [{ logLevel: "verbose" }, 'logLevel of the queue "words" must be .*; got "verbose"'],
    [{ listBy: ["tags"] }, 'listBy of the queue "words" must be .*; got "tags"'],
    [{ onCompleteExclude: ["cancelled"] }, 'onCompleteExclude of .* must be .*; got "cancelled"'],
    [{ retention: { succeeded: 5 } }, 'A retention has no option "succeeded"'],
  ])("a misspelt word in a definition's %o is refused as it is defined", async (options, text) => {
    expect(await refusal(() => conveyor.queue("words", options))).toMatch(
      new RegExp(`^invalidArgument: ${text}`),
    );
  });

  test.each([5, undefined, null])("%o is no name of a queue", async (name) => {
    expect(await refusal(() => conveyor.queue(name))).toMatch(
      "invalidArgument: The name of a queue must be 1 to 64 letters",
    );
  });
});
