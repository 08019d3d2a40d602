/** §9, §6.3 and a rule of §13: ids, the order of values, validators, storable values, the ways to name a range. */
import { expect } from "vitest";
import { api } from "../app/convex/_generated/api.js";
import { newGroup, refusal, type Case } from "../case.js";
import { decodeId } from "../ids.js";
import type { Target } from "../target.js";

/** One value of each type and some that are close, in the order in which an index holds them. */
const IN_ORDER: unknown[] = [
  null,
  -(2n ** 63n),
  -1n,
  0n,
  2n ** 63n - 1n,
  -Infinity,
  -1.5,
  -0,
  0,
  5e-324,
  1,
  1e308,
  Infinity,
  false,
  true,
  "",
  "A",
  "Z",
  "a",
  "aa",
  "é",
  "\uffee",
  "😀",
  new ArrayBuffer(0),
  new Uint8Array([0, 1]).buffer,
  new Uint8Array([1]).buffer,
  [],
  [null],
  [1],
  [1, 2],
  [2],
  {},
  { a: 1 },
  { a: 1, b: 1 },
  { b: 0 },
];

async function ordered(target: Target, values: unknown[], order: "asc" | "desc") {
  const group = newGroup();
  // Not in the order in which they are expected.
  const shuffled = values.map((value, i) => [(i * 17) % values.length, value] as const);
  const mixed = shuffled.sort(([a], [b]) => a - b).map(([, value]) => value);
  await target.mutation(api.values.store, { group, values: mixed });
  const rows = (await target.query(api.values.ordered, { group, order })) as { value: unknown }[];
  return rows.map(({ value }) => value);
}

const seeded = async (target: Target) => {
  const group = newGroup();
  const [id] = (await target.mutation(api.rows.seed, { group, ns: [1] })) as [string];
  return { group, id };
};

function refused(
  id: string,
  says: string,
  what: string,
  size: number,
  more: Partial<Case> = {},
): Case {
  return {
    id,
    says,
    run: async (target) => {
      await refusal(target.mutation(api.values.make, { group: newGroup(), what, size }));
    },
    ...more,
  };
}

export const values: Case[] = [
  {
    id: "9.id-format",
    says: "an id is base32 of the table's number, 16 bytes and a checksum, with the day in it",
    run: async (target) => {
      const { id } = await seeded(target);
      const decoded = decodeId(id);
      expect(id).toMatch(/^[0-9a-hjkmnp-tv-z]{31,37}$/);
      expect(decoded.checksum).toBe(decoded.expected);
      expect(decoded.table).toBeGreaterThan(10_000);
      expect(Math.abs(decoded.day - Date.now() / 86_400_000)).toBeLessThan(2);
    },
    convexTest: { differs: "an id is a number and the table's name" },
  },
  {
    id: "9.ids-of-tables",
    says: "ids of different tables carry different numbers",
    run: async (target) => {
      const group = newGroup();
      const [row] = (await target.mutation(api.rows.seed, { group, ns: [1] })) as [string];
      const [value] = (await target.mutation(api.values.store, { group, values: [1] })) as [string];
      expect(decodeId(row).table).not.toBe(decodeId(value).table);
    },
    convexTest: { differs: "an id is a number and the table's name" },
  },
  {
    id: "9.ids-random",
    says: "ids are not in the order in which they were given",
    run: async (target) => {
      const ns = Array.from({ length: 40 }, (_, n) => n);
      const ids = await target.mutation(api.rows.seed, { group: newGroup(), ns });
      expect([...ids].sort()).not.toEqual(ids);
    },
    convexTest: { differs: "ids count up" },
  },
  {
    id: "9.half-characters",
    says: "half a character in a text is refused, in a call's arguments and in a result",
    run: async (target) => {
      const store = (size: number) =>
        refusal(target.mutation(api.values.make, { group: newGroup(), what: "half", size }));
      expect(await store(0xd83d)).toMatch(/Received invalid json: unexpected end of hex escape/);
      expect(await store(0xde00)).toMatch(/Received invalid json: lone leading surrogate/);
      for (const half of ["d83d", "de00"]) {
        const said = await refusal(target.query(api.values.halfCharacter, { half }));
        expect(said).toMatch(/FunctionReturnInvalidJson|Could not parse return value as json/);
      }
      expect(await target.query(api.values.echo, { value: "\\ud83d 😀" })).toBe("\\ud83d 😀");
    },
    convexTest: { differs: "it has no such limit" },
  },
  {
    id: "9.normalize",
    says: "normalizeId knows the ids of its table, whether or not the document is there",
    run: async (target) => {
      const { id } = await seeded(target);
      const ask = (table: string, of: string) =>
        target.query(api.values.normalize, { table, id: of });
      expect(await ask("rows", id)).toBe(id);
      expect(await ask("values", id)).toBeNull();
      expect(await ask("rows", "nonsense")).toBeNull();
      await target.mutation(api.values.deleteTwice, { id: id as never, then: "" });
      expect(await ask("rows", id)).toBe(id);
    },
  },
  {
    id: "9.normalize-checksum",
    says: "an id with a wrong letter is none",
    run: async (target) => {
      const { id } = await seeded(target);
      const wrong = `${id.slice(0, 10)}${id[10] === "a" ? "b" : "a"}${id.slice(11)}`;
      expect(await target.query(api.values.normalize, { table: "rows", id: wrong })).toBeNull();
    },
  },
  {
    id: "9.normalize-old",
    says: "an id as it was written years ago, 16 bytes in base64, may be one of any table",
    run: async (target) => {
      await seeded(target);
      const ask = (id: string) => target.query(api.values.normalize, { table: "rows", id });
      const id = await ask("-_0123456789abcdefghig");
      expect(id).toMatch(/^[0-9a-hjkmnp-tv-z]{31,37}$/);
      expect(await target.query(api.values.document, { id: id as never })).toBeNull();
      for (const other of ["-_0123456789abcdefghij", "-_0123456789abcdefghi", ""]) {
        expect(await ask(other)).toBeNull();
      }
    },
    convexTest: { differs: "it knows no such ids" },
  },
  {
    id: "9.get-wrong-table",
    says: "get with a table's name refuses an id of another table",
    run: async (target) => {
      const { id } = await seeded(target);
      expect(await target.query(api.values.getAs, { table: "rows", id })).toMatchObject({ n: 1 });
      await refusal(target.query(api.values.getAs, { table: "values", id }));
    },
  },
  {
    id: "9.get-no-id",
    says: "get refuses a string that is no id",
    convexTest: { differs: "it finds nothing" },
    run: async (target) => {
      await refusal(target.query(api.values.getAs, { table: null, id: "nonsense" }));
    },
  },
  {
    id: "9.order",
    says: "values of all types have one order: null, int64, float64, boolean, string, bytes, array, object",
    run: async (target) => expect(await ordered(target, IN_ORDER, "asc")).toEqual(IN_ORDER),
  },
  {
    id: "9.order-desc",
    says: "and downwards the opposite",
    run: async (target) =>
      expect(await ordered(target, IN_ORDER, "desc")).toEqual([...IN_ORDER].reverse()),
  },
  {
    id: "9.missing-first",
    says: "a missing field comes before null, and is found by an equality with undefined",
    run: async (target) => {
      const group = newGroup();
      await target.mutation(api.values.store, { group, values: [null, 0] });
      await target.mutation(api.values.storeNothing, { group });
      const rows = (await target.query(api.values.ordered, { group, order: "asc" })) as {
        has: boolean;
      }[];
      expect(rows.map(({ has }) => has)).toEqual([false, true, true]);
      expect(await target.query(api.values.equalToNothing, { group })).toBe(1);
    },
  },
  {
    id: "9.int64-is-not-float64",
    says: "1n and 1 are different keys",
    run: async (target) => {
      const group = newGroup();
      await target.mutation(api.values.store, { group, values: [1, 1n] });
      expect(await target.query(api.values.equal, { group, value: 1 })).toBe(1);
      expect(await target.query(api.values.equal, { group, value: 1n })).toBe(1);
    },
  },
  {
    id: "13.minus-zero",
    says: "-0 and 0 are different keys too",
    run: async (target) => {
      const group = newGroup();
      await target.mutation(api.values.store, { group, values: [0, -0] });
      expect(await target.query(api.values.equal, { group, value: 0 })).toBe(1);
      expect(await target.query(api.values.equal, { group, value: -0 })).toBe(1);
    },
  },
  {
    id: "9.ties-by-creation",
    says: "rows with equal fields come in the order in which they were inserted",
    run: async (target) => {
      const group = newGroup();
      const ids = await target.mutation(api.rows.seed, { group, ns: [5, 5, 5] });
      const read = { op: "read", how: { page: 3, cursor: null } } as const;
      await target.query(api.rows.look, { group, ids, steps: [read] });
      const times: number[] = [];
      for (const id of ids) {
        const doc = (await target.query(api.values.document, { id: id as never })) as {
          _creationTime: number;
        };
        times.push(doc._creationTime);
      }
      expect(times).toEqual([...times].sort((a, b) => a - b));
      expect(new Set(times).size).toBe(3);
    },
  },
  {
    id: "9.prefix-in-order",
    says: "a range must use the index's fields from the first on",
    run: async (target) => {
      for (const what of ["skips", "noSuchField", "noSuchIndex"]) {
        await refusal(target.query(api.values.badRange, { what }));
      }
    },
  },
  {
    id: "9.one-lower-bound",
    says: "and have one lower bound at most",
    run: async (target) => {
      await refusal(target.query(api.values.badRange, { what: "twoLower" }));
    },
  },
  {
    id: "13.creation-time-in-range",
    says: "_creationTime may follow an index's own fields in a range",
    run: async (target) => {
      expect(await target.query(api.values.badRange, { what: "creationTime" })).toEqual([]);
    },
  },
  {
    id: "7.filter-int64",
    says: "a filter's arithmetic of int64 has a result that is one, or fails",
    run: async (target) => {
      const ask = (what: string) =>
        target.mutation(api.values.badFilter, { group: newGroup(), what });
      expect(await ask("within")).toBe(1);
      for (const what of ["int64", "negated"]) {
        expect(await refusal(ask(what))).toContain("out of range for Int64");
      }
    },
    convexTest: { differs: "numbers grow without bound" },
  },
  {
    id: "9.round-trip",
    says: "every value comes back as it was given",
    run: async (target) => {
      for (const value of [...IN_ORDER, NaN, "a\u0000b", { deep: [{ n: 1n, x: -0 }] }]) {
        expect(await target.query(api.values.echo, { value })).toEqual(value);
      }
    },
  },
  {
    id: "6.3.undefined-fields",
    says: "fields that are undefined are not there",
    run: async (target) => {
      const value = { a: 1, b: undefined };
      expect(await target.query(api.values.echo, { value })).toEqual({ a: 1 });
    },
  },
  {
    id: "6.3.patch-removes",
    says: "a patch with undefined removes the field",
    run: async (target) => {
      const { id } = await seeded(target);
      const doc: unknown = await target.mutation(api.values.removeField, { id: id as never });
      expect(doc).not.toHaveProperty("label");
      expect(doc).toHaveProperty("n", 1);
    },
  },
  {
    id: "6.3.undefined-is-null",
    says: "a function that returns nothing returns null",
    run: async (target) => {
      expect(await target.query(api.values.undefinedReturns, {})).toBeNull();
    },
  },
  refused("6.3.no-dollar", "a field may not begin with $", "field$", 1),
  refused("6.3.no-underscore", "nor, at the top of a document, with _", "topField_", 1),
  refused("6.3.no-function", "a function is no value", "function", 1),
  refused("6.3.no-date", "nor is a Date", "date", 1),
  refused("6.3.int64-range", "a bigint beyond 64 bits is refused", "bigint", 64),
  {
    id: "6.3.schema",
    says: "a document that the schema does not allow is refused, with any types",
    run: async (target) => {
      const group = newGroup();
      const insert = (row: object) => target.mutation(api.values.strict, { row });
      await insert({ group, kind: "a", size: 1n });
      await refusal(insert({ group, kind: "c" }));
      await refusal(insert({ group, kind: "a", size: 1 }));
      await refusal(insert({ group, kind: "a", unknown: 1 }));
      await refusal(insert({ kind: "a" }));
    },
  },
  {
    id: "6.3.schema-ids",
    says: "an id of another table is not allowed where the schema wants one of this",
    run: async (target) => {
      const { id, group } = await seeded(target);
      const [other] = (await target.mutation(api.values.store, { group, values: [1] })) as [string];
      const insert = (of: string) =>
        target.mutation(api.values.strict, { row: { group, kind: "a", other: of } });
      await insert(id);
      await refusal(insert(other));
    },
  },
  {
    id: "7.arguments-checked",
    says: "arguments are checked against their validator before the function runs",
    run: async (target) => {
      const call = (args: object) => target.query(api.values.typedArgs, args as { n: number });
      expect(await call({ n: 1, u: null })).toEqual({ n: 1, u: null });
      for (const args of [
        {},
        { n: "1" },
        { n: 1, extra: 1 },
        { n: 1, u: "b" },
        { n: 1, s: null },
      ]) {
        await refusal(call(args));
      }
    },
  },
  {
    id: "7.argument-error",
    says: "the error says so in its first word",
    run: async (target) => {
      const message = await refusal(target.query(api.values.typedArgs, { n: "1" } as never));
      expect(message).toContain("ArgumentValidationError");
    },
    convexTest: { differs: "the error begins with the words Validator error" },
  },
  {
    id: "7.returns-checked",
    says: "a return value is checked against its validator",
    run: async (target) => {
      expect(await refusal(target.query(api.values.wrongReturns, {}))).toContain(
        "ReturnsValidationError",
      );
    },
    convexTest: { differs: "the error has other words" },
  },
  ...(["delete", "patch", "replace"] as const).map((then): Case => ({
    id: `1.3.${then}-missing`,
    says: `${then} of a document that is not there is an error`,
    run: async (target) => {
      const { id } = await seeded(target);
      const message = await refusal(
        target.mutation(api.values.deleteTwice, { id: id as never, then }),
      );
      expect(message).toMatch(/non-?existent doc/);
      expect(await target.query(api.values.document, { id: id as never })).toMatchObject({ n: 1 });
    },
  })),
];
