import { jsonToConvex, v, type Validator, type ValidatorJSON, type Value } from "convex/values";
import { describe, expect, test } from "vitest";
import { checkValue } from "./validators.js";

/** The JSON that the CLI gets from a validator. */
function jsonOf(validator: Validator<any, any, any>): ValidatorJSON {
  return (validator as unknown as { json: ValidatorJSON }).json;
}

function check(validator: Validator<any, any, any>, value: Value | undefined): string | null {
  return checkValue(jsonOf(validator), value, "", (id) => (id.startsWith("u:") ? "users" : null));
}

const bytes = new ArrayBuffer(2);
const commitTs = jsonToConvex({ $commitTs: null });

describe("a validator", () => {
  const kinds: [string, Validator<any, any, any>, Value][] = [
    ["null", v.null(), null],
    ["float64", v.number(), 1],
    ["int64", v.int64(), 1n],
    ["boolean", v.boolean(), false],
    ["string", v.string(), "a"],
    ["bytes", v.bytes(), bytes],
    ["array", v.array(v.any()), [1]],
    ["object", v.object({ a: v.number() }), { a: 1 }],
    ["record", v.record(v.string(), v.boolean()), { a: true }],
    ["id", v.id("users"), "u:1"],
    ["literal", v.literal("yes"), "yes"],
  ];

  test.each(kinds)(
    "of kind %s takes its own values and none of another type",
    (_, validator, own) => {
      expect(check(validator, own)).toBeNull();
      for (const [, , other] of kinds) {
        const alike = describeType(other) === describeType(own);
        if (!alike) expect(check(validator, other)).not.toBeNull();
      }
    },
  );

  test("of any kind takes anything but nothing", () => {
    for (const [, , value] of kinds) expect(check(v.any(), value)).toBeNull();
    expect(check(v.any(), undefined)).not.toBeNull();
  });

  test("of an int64 or a commit timestamp takes the placeholder too", () => {
    expect(check(v.commitTs(), commitTs)).toBeNull();
    expect(check(v.commitTs(), 5n)).toBeNull();
    expect(check(v.int64(), commitTs)).toBeNull();
    expect(check(v.object({}), commitTs)).not.toBeNull();
    expect(check(v.commitTs(), 5)).not.toBeNull();
  });

  test("of a union accepts the values of any member", () => {
    const union = v.union(v.string(), v.object({ kind: v.literal("a") }));
    expect(check(union, "x")).toBeNull();
    expect(check(union, { kind: "a" })).toBeNull();
    expect(check(union, { kind: "b" })).not.toBeNull();
    expect(check(v.union(), null)).not.toBeNull();
  });

  test("of an object lets optional fields be absent, and no unknown fields be there", () => {
    const object = v.object({ a: v.number(), b: v.optional(v.string()) });
    expect(check(object, { a: 1 })).toBeNull();
    expect(check(object, { a: 1, b: undefined })).toBeNull();
    expect(check(object, { a: 1, b: null })).not.toBeNull();
    expect(check(object, { b: "x" })).not.toBeNull();
    expect(check(object, { a: 1, toString: 1 })).not.toBeNull();
  });

  test("of a literal tells int64 from float64", () => {
    expect(check(v.literal(1n), 1n)).toBeNull();
    expect(check(v.literal(1n), 1)).not.toBeNull();
  });
});

describe("the message", () => {
  test("names the path, the value and the expected type", () => {
    const validator = v.object({ jobs: v.array(v.object({ n: v.number() })) });
    expect(check(validator, { jobs: [{ n: 1 }, { n: "two" }] })).toBe(
      'Value does not match validator.\nPath: .jobs[1].n\nValue: "two"\nValidator: v.float64()',
    );
  });

  test("leaves the path's line empty at the root", () => {
    expect(check(v.string(), 1n)).toBe(
      "Value does not match validator.\n\nValue: 1\nValidator: v.string()",
    );
  });

  test("shows the object of which a field is missing, with its validator", () => {
    const validator = v.object({ b: v.optional(v.int64()), a: v.string() });
    expect(check(validator, { b: 2n })).toBe(
      "Object is missing the required field `a`. Consider wrapping the field validator in " +
        "`v.optional(...)` if this is expected.\n\nObject: {b: 2}\n" +
        "Validator: v.object({a: v.string(), b: v.optional(v.int64())})",
    );
  });

  test("shows the object that has a field too many, at its path", () => {
    expect(check(v.object({ in: v.object({}) }), { in: { x: [1, true, bytes] } })).toBe(
      "Object contains extra field `x` that is not in the validator.\nPath: .in\n" +
        "Object: {x: [1.0, true, <2 bytes>]}\nValidator: v.object({})",
    );
  });

  test("names the table that an id is of, when it is another one's", () => {
    expect(check(v.id("posts"), "u:1")).toBe(
      'Found ID "u:1" from table `users`, which does not match the table name in validator `v.id("posts")`.\n',
    );
  });

  test("describes every kind of validator as it is written in code", () => {
    const validator = v.union(
      v.id("users"),
      v.literal("a"),
      v.record(v.string(), v.array(v.bytes())),
      v.null(),
      v.any(),
    );
    expect(checkValue(jsonOf(v.array(validator)), 1)).toContain(
      'v.array(v.union(v.id("users"), v.literal("a"), v.record(v.string(), v.array(v.bytes())), v.null(), v.any()))',
    );
  });

  test("cuts values that are too long to read", () => {
    expect(check(v.number(), "x".repeat(1 << 20))!.length).toBeLessThan(20_000);
  });
});

test("without a way to look up ids, any string may be one", () => {
  expect(checkValue(jsonOf(v.id("users")), "anything")).toBeNull();
  expect(checkValue(jsonOf(v.id("users")), 1)).not.toBeNull();
});

/** Strings are ids and literals too; objects are records. */
function describeType(value: Value): string {
  if (value === null || value instanceof ArrayBuffer || Array.isArray(value)) {
    return Object.prototype.toString.call(value);
  }
  return typeof value;
}
