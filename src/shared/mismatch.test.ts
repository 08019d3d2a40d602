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

const shapes = v.union(
  v.object({ kind: v.literal("frame"), n: v.number() }),
  v.object({ kind: v.literal("probe") }),
);
const sizes = v.union(v.literal("s"), v.literal("m"), v.literal(3));

test.each<[string, Validator<any, "required", any>, unknown, string]>([
  ["the object that its literal names", shapes, { kind: "frame", n: "1" }, "p.n: number, string"],
  ["a field of it that is missing", shapes, { kind: "frame" }, "p.n: number, undefined"],
  ["a field that it does not have", shapes, { kind: "probe", n: 1 }, "p.n: nothing, number"],
  ["no object's literal", shapes, { kind: "film" }, 'p.kind: "frame" or "probe", "film"'],
  [
    "within an object",
    v.object({ of: shapes }),
    { of: { kind: "frame" } },
    "p.of.n: number, undefined",
  ],
  [
    "within a list",
    v.array(shapes),
    [{ kind: "probe" }, { kind: "frame" }],
    "p[1].n: number, undefined",
  ],
  [
    "within a record",
    v.record(v.string(), shapes),
    { a: { kind: "a" } },
    'p.a.kind: "frame" or "probe", "a"',
  ],
  [
    "the only object",
    v.union(v.object({ id: v.string() }), v.null()),
    { id: 1 },
    "p.id: string, number",
  ],
  [
    "the object with most in common",
    v.union(v.object({ a: v.string(), b: v.number() }), v.object({ c: v.string() })),
    { a: "a", b: "b" },
    "p.b: number, string",
  ],
  [
    "a record",
    v.union(v.null(), v.record(v.string(), v.number())),
    { a: "a" },
    "p.a: number, string",
  ],
  ["the only list", v.union(v.string(), v.array(v.number())), ["a"], "p[0]: number, string"],
  ["one of some words", v.object({ size: sizes }), { size: "xl" }, 'p.size: "s", "m" or 3, "xl"'],
  ["a number, beside words", sizes, 4, 'p: "s", "m" or 3, 4'],
  ["a union of unions", v.union(sizes, v.null()), [], 'p: "s", "m", 3 or null, array'],
  [
    "a field that may be null",
    v.object({ a: v.optional(v.union(v.id("a"), v.null())) }),
    { a: 1 },
    "p.a: Id<a> or null, number",
  ],
  [
    "a union that is missing",
    v.object({ a: v.union(v.string(), v.null()) }),
    {},
    "p.a: string or null, undefined",
  ],
  ["a word alone", v.literal("a"), "b", 'p: "a", "b"'],
])("of a union is named what the value was meant to be: %s", (_what, validator, value, said) => {
  const { path, expected, got } = findMismatch(validator, value, "p")!;
  expect(`${path}: ${expected}, ${got}`).toBe(said);
});
