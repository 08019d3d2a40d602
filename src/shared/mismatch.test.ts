/** Values that the library takes for fitting, and the platform does not. */
import { v, type Validator } from "convex/values";
import { expect, test } from "vitest";
import { findMismatch } from "./mismatch.js";

const counts = v.record(v.string(), v.number());
const either = v.union(v.string(), counts, v.array(v.number()));

test.each<[string, Validator<any, "required", any>, unknown, string, string]>([
  ["a list in place of a record", counts, [1, 2], "payload", "array"],
  ["bytes in place of a record", counts, new ArrayBuffer(1), "payload", "bytes"],
  ["within an object", v.object({ counts }), { counts: [1] }, "payload.counts", "array"],
  [
    "behind a field that is left out",
    v.object({ counts }),
    { no: undefined, counts: [1] },
    "payload.counts",
    "array",
  ],
  ["within a list", v.array(counts), [{ a: 1 }, [1]], "payload[1]", "array"],
  ["within a record", v.record(v.string(), counts), { a: [1] }, "payload.a", "array"],
  ["within a union", v.union(v.string(), counts), [1], "payload", "array"],
  ["a field of every object", v.object({}), { toString: "a" }, "payload.toString", "string"],
  [
    "a field of every object that is missing",
    v.object({ constructor: v.any() }),
    {},
    "payload.constructor",
    "undefined",
  ],
  ["minus zero in place of zero", v.union(v.literal(0), v.null()), -0, "payload", "-0"],
])("%s is a mismatch", (_what, validator, value, path, got) => {
  expect(findMismatch(validator, value, "payload")).toMatchObject({ path, got });
});

test.each<[Validator<any, "required", any>, unknown]>([
  [counts, {}],
  [counts, { a: 1, b: undefined }],
  [either, [1]],
  [either, { a: 1 }],
  [v.object({ constructor: v.optional(v.string()) }), {}],
  [v.array(v.object({ constructor: v.string() })), [{ constructor: "a" }]],
  [v.union(v.literal(0), v.number()), -0],
  [v.object({ counts: v.optional(counts), any: v.any() }), { any: [1], other: undefined }],
])("%o is taken", (validator, value) => {
  expect(findMismatch(validator, value, "payload")).toBeNull();
});
