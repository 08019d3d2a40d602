import { compareValues, CommitTsPlaceholder, jsonToConvex, type Value } from "convex/values";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { afterPrefix, compareInOrder, encodeValue, encodeValues, justAfter } from "./keys.js";

const commitTs = jsonToConvex({ $commitTs: null });

/** Every kind of value, each list entry strictly less than the next. */
const ASCENDING: (Value | undefined)[] = [
  undefined,
  null,
  -(2n ** 63n),
  -1n,
  0n,
  1n,
  2n ** 63n - 1n,
  -Infinity,
  -1.5,
  -Number.MIN_VALUE,
  -0,
  0,
  Number.MIN_VALUE,
  1,
  2 ** 53,
  Infinity,
  NaN,
  false,
  true,
  "",
  "\0",
  "\0\0",
  "\0a",
  "\x01",
  "a",
  "a\0",
  "a\x01",
  "aa",
  "é",
  // As UTF-16 these two would lie the other way round.
  "\uffff",
  "😀",
  new ArrayBuffer(0),
  new Uint8Array([0]).buffer,
  new Uint8Array([0, 0]).buffer,
  new Uint8Array([1]).buffer,
  new Uint8Array([255]).buffer,
  [],
  [null],
  [null, null],
  [1n],
  [1],
  ["a"],
  [[]],
  {},
  { a: 1 },
  { a: 1, b: 1 },
  { a: 2 },
  { aa: 1 },
  { b: null },
];

const value: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constant(null),
    fc.boolean(),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    // The client's comparison, which is the oracle here, does not tell -0 from 0 and has no order for NaN.
    fc.double({ noNaN: true }).map((float) => (Object.is(float, -0) ? 0 : float)),
    fc.string({ unit: "binary" }),
    fc.uint8Array({ maxLength: 4 }).map((bytes) => Uint8Array.from(bytes).buffer),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.stringMatching(/^[a-z]{1,2}$/), tie("value"), { maxKeys: 3 }),
  ),
})).value;

describe("index keys", () => {
  test("order values of all types as the platform does", () => {
    for (const [i, low] of ASCENDING.entries()) {
      expect(compareInOrder(low, low)).toBe(0);
      for (const high of ASCENDING.slice(i + 1)) {
        expect([low, high, compareInOrder(low, high)]).toEqual([low, high, -1]);
        expect([low, high, compareInOrder(high, low)]).toEqual([low, high, 1]);
      }
    }
  });

  test("agree with the official client's comparison on random values", () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(Math.sign(compareInOrder(a, b))).toBe(Math.sign(compareValues(a, b)));
      }),
      { seed: 1, numRuns: 2000 },
    );
  });

  test("of one value are never the beginning of another's, so rows of values order field by field", () => {
    const keys = ASCENDING.map(encodeValue);
    for (const key of keys) expect(keys.filter((other) => other.startsWith(key))).toEqual([key]);
    expect(encodeValues(["a", 2]) < encodeValues(["a\0", 1])).toBe(true);
    expect(encodeValues(["a", 2]) < encodeValues(["aa", 1])).toBe(true);
  });

  test("consist of bytes, so that a bound above all keys with a prefix exists", () => {
    for (const key of ASCENDING.map(encodeValue)) {
      expect([...key].every((unit) => unit.charCodeAt(0) <= 0xff)).toBe(true);
      expect(key < justAfter(key)).toBe(true);
      for (const rest of ["", "\x00", "\xff\xff"]) expect(key + rest < afterPrefix(key)).toBe(true);
    }
  });

  test("put an unresolved commit timestamp after every resolved one", () => {
    expect(commitTs).toBeInstanceOf(CommitTsPlaceholder);
    expect(compareInOrder(commitTs, 2n ** 63n - 2n)).toBe(1);
    expect(compareInOrder(commitTs, -Infinity)).toBe(-1);
    expect(compareInOrder(commitTs, commitTs)).toBe(0);
  });
});
