import { v, type Validator } from "convex/values";
import { expect, test } from "vitest";
import { explainBadResult } from "./mismatch.js";
import { readValidator, writeValidator } from "./writtenValidator.js";

const VALIDATORS: Record<string, Validator<any, "required", any>> = {
  null: v.null(),
  number: v.number(),
  bigint: v.int64(),
  boolean: v.boolean(),
  string: v.string(),
  bytes: v.bytes(),
  id: v.id("users"),
  text: v.literal("a"),
  big: v.literal(7n),
  yes: v.literal(true),
  list: v.array(v.number()),
  record: v.record(v.string(), v.array(v.int64())),
  byId: v.record(v.id("users"), v.null()),
  either: v.union(v.literal("x"), v.null(), v.object({ n: v.number() })),
  empty: v.object({}),
  object: v.object({
    title: v.string(),
    note: v.optional(v.union(v.string(), v.null())),
    deep: v.object({ any: v.any(), maybe: v.optional(v.array(v.bytes())) }),
  }),
};

const VALUES: unknown[] = [
  ...[null, 0, -1.5, 7n, true, false, "", "a", "x", new ArrayBuffer(2), [], [1, 2], [1, "2"], {}],
  ...[{ a: [1n] }, { a: [1] }, { n: 1 }, { n: 1, more: 1 }, { u1: null }, [null]],
  { title: "t", deep: { any: [1] } },
  { title: "t", note: null, deep: { any: null, maybe: [new ArrayBuffer(1)] } },
  { title: "t", note: 1, deep: { any: null } },
  { title: "t", deep: { any: null, maybe: [1] } },
  { title: "t", deep: {} },
  { deep: { any: 1 } },
];

test.each(Object.entries(VALIDATORS))(
  "%s, written and read, says of every value what it said before",
  (_name, validator) => {
    const read = readValidator(writeValidator(validator, 1_000)!);
    const says = VALUES.map((value) => explainBadResult("q", validator, value));
    expect(VALUES.map((value) => explainBadResult("q", read, value))).toEqual(says);
    expect(says).toContain(null);
    expect(says.some((one) => one !== null)).toBe(true);
  },
);

test("a validator for any value, and one that is too long, is not written", () => {
  expect(writeValidator(v.any(), 1_000)).toBeNull();
  const long = v.object(
    Object.fromEntries(Array.from({ length: 99 }, (_, i) => [`f${i}`, v.null()])),
  );
  expect(writeValidator(long, 1_000)).toBeNull();
  expect(writeValidator(long, 10_000)).not.toBeNull();
});
