/** Queries as `convex/server` serializes them: the JSON here comes from the official builder. */
import { convexToJson, type JSONValue, type Value } from "convex/values";
import { beforeAll, describe, expect, test } from "vitest";
import { createDatabase } from "./database.js";
import { runQuery, type QueryJson } from "./query.js";
import { seededEnvironment, transact } from "./testing.js";
import type { Database, Transaction } from "./types.js";

let database: Database;

beforeAll(async () => {
  database = createDatabase(seededEnvironment(1));
  const indexes = [{ name: "by_a_b", fields: ["a", "b"] }];
  await database.applySchema("", [{ name: "t", indexes }], { enforce: false });
  await transact(database, "setup", async (transaction) => {
    for (const a of [1, 2]) {
      for (const b of [10, 20, 30]) {
        await transaction.insert("", "t", { a, b, tags: { odd: a === 1 }, big: BigInt(b) });
      }
    }
  });
});

type Bound = [type: "Eq" | "Gt" | "Gte" | "Lt" | "Lte", fieldPath: string, value: JSONValue];

function indexQuery(bounds: Bound[], operators: QueryJson["operators"] = []): QueryJson {
  const range = bounds.map(([type, fieldPath, value]) => ({ type, fieldPath, value }));
  return { source: { type: "IndexRange", indexName: "t.by_a_b", range, order: null }, operators };
}

function scan(operators: QueryJson["operators"] = [], order: "asc" | "desc" = "asc"): QueryJson {
  return { source: { type: "FullTableScan", tableName: "t", order }, operators };
}

async function found(query: QueryJson, transaction?: Transaction): Promise<string[]> {
  const rows: string[] = [];
  for await (const doc of runQuery(transaction ?? database.begin(), "", query)) {
    rows.push(`${doc["a"] as number}/${doc["b"] as number}`);
  }
  return rows;
}

describe("a source", () => {
  test("scans a table in the order of creation, or backwards", async () => {
    expect(await found(scan())).toEqual(["1/10", "1/20", "1/30", "2/10", "2/20", "2/30"]);
    expect((await found(scan([], "desc")))[0]).toBe("2/30");
  });

  test.each<[string, Bound[], string[]]>([
    ["an equality", [["Eq", "a", 2]], ["2/10", "2/20", "2/30"]],
    [
      "equalities in any order",
      [
        ["Eq", "b", 20],
        ["Eq", "a", 2],
      ],
      ["2/20"],
    ],
    [
      "a lower bound",
      [
        ["Eq", "a", 1],
        ["Gt", "b", 10],
      ],
      ["1/20", "1/30"],
    ],
    [
      "an inclusive lower bound",
      [
        ["Eq", "a", 1],
        ["Gte", "b", 20],
      ],
      ["1/20", "1/30"],
    ],
    [
      "an upper bound",
      [
        ["Eq", "a", 1],
        ["Lt", "b", 30],
      ],
      ["1/10", "1/20"],
    ],
    ["an inclusive upper bound", [["Lte", "a", 1]], ["1/10", "1/20", "1/30"]],
    [
      "two bounds",
      [
        ["Eq", "a", 1],
        ["Gt", "b", 10],
        ["Lt", "b", 30],
      ],
      ["1/20"],
    ],
    [
      "bounds that cross",
      [
        ["Gt", "a", 2],
        ["Lt", "a", 1],
      ],
      [],
    ],
    ["undefined", [["Eq", "a", { $undefined: null }]], []],
    [
      "above undefined",
      [
        ["Gt", "a", { $undefined: null }],
        ["Lt", "a", 2],
      ],
      ["1/10", "1/20", "1/30"],
    ],
    ["an int64, which is no float64", [["Eq", "a", convexToJson(1n)]], []],
  ])("reads a range of an index by %s", async (_, bounds, rows) => {
    expect(await found(indexQuery(bounds))).toEqual(rows);
  });

  test("ranges over _creationTime behind an index's own fields", async () => {
    const [first] = await collectDocs(indexQuery([["Eq", "a", 1]]));
    const bounds: Bound[] = [
      ["Eq", "a", 1],
      ["Eq", "b", 10],
      ["Gt", "_creationTime", first!._creationTime],
    ];
    expect(await found(indexQuery(bounds))).toEqual([]);
    bounds[2] = ["Gte", "_creationTime", first!._creationTime];
    expect(await found(indexQuery(bounds))).toEqual(["1/10"]);
  });

  test.each<[string, Bound[], RegExp]>([
    [
      "a field is left out",
      [["Eq", "b", 1]],
      /in order[^]*Index fields: \[a, b, _creationTime, _id\]/,
    ],
    [
      "an inequality comes before an equality",
      [
        ["Gt", "a", 1],
        ["Eq", "b", 1],
      ],
      /in order/,
    ],
    ["a field is not in the index", [["Eq", "c", 1]], /"c"[^]*doesn't index this field/],
    [
      "there are two lower bounds",
      [
        ["Gt", "a", 1],
        ["Gte", "a", 2],
      ],
      /Already defined lower bound/,
    ],
    [
      "there are two upper bounds",
      [
        ["Lt", "a", 1],
        ["Lte", "a", 2],
      ],
      /Already defined upper bound/,
    ],
    [
      "a field has two equalities",
      [
        ["Eq", "a", 1],
        ["Eq", "a", 2],
      ],
      /Already defined equality bound/,
    ],
    [
      "a field has an equality and a bound",
      [
        ["Eq", "a", 1],
        ["Lt", "a", 2],
      ],
      /Already defined/,
    ],
    [
      "two fields have bounds",
      [
        ["Gt", "a", 1],
        ["Lt", "b", 2],
      ],
      /both "a" and "b"/,
    ],
  ])("refuses a range in which %s", async (_, bounds, message) => {
    await expect(found(indexQuery(bounds))).rejects.toThrow(message);
  });

  test("that is unknown is refused; a table that is not there is empty", async () => {
    const source = { type: "IndexRange", range: [], order: null } as const;
    const unknown = { source: { ...source, indexName: "t.by_x" }, operators: [] };
    await expect(found(unknown)).rejects.toThrow("Index t.by_x not found.");
    const absent = { ...scan(), source: { ...scan().source, tableName: "nothing" } } as QueryJson;
    expect(await found(absent)).toEqual([]);
  });

  test("of full text is refused by name: the local backend has none", async () => {
    const source = { type: "Search", indexName: "t.search", filters: [] } as const;
    await expect(found({ source, operators: [] })).rejects.toThrow(/t\.search is a search index/);
  });
});

describe("operators", () => {
  test("apply in their order", async () => {
    const even = { filter: { $eq: [{ $field: "a" }, { $literal: 2 }] } };
    expect(await found(scan([{ limit: 4 }, even]))).toEqual(["2/10"]);
    expect(await found(scan([even, { limit: 2 }]))).toEqual(["2/10", "2/20"]);
    expect(await found(scan([{ limit: 0 }]))).toEqual([]);
  });

  test("read, depend on and charge the rows that they filter out, and nothing behind the last row", async () => {
    const transaction = database.begin();
    const thirty = { filter: { $eq: [{ $field: "b" }, { $literal: 30 }] } };
    expect(await found(scan([thirty, { limit: 1 }]), transaction)).toEqual(["1/30"]);
    expect(transaction.usage).toMatchObject({ rowsTouched: 3, documentsRead: 3 });
  });
});

describe("a filter", () => {
  const MAX_INT64 = 2n ** 63n - 1n;
  const field = (name: string) => ({ $field: name });
  const literal = (value: Value) => ({ $literal: convexToJson(value) });
  const A = field("a");

  test.each<[string, JSONValue, string[]]>([
    ["neq", { $neq: [A, literal(1)] }, ["2/10", "2/20", "2/30"]],
    [
      "lt and gte",
      { $and: [{ $lt: [A, literal(2)] }, { $gte: [field("b"), literal(20)] }] },
      ["1/20", "1/30"],
    ],
    [
      "gt and lte",
      { $and: [{ $gt: [A, literal(1)] }, { $lte: [field("b"), literal(10)] }] },
      ["2/10"],
    ],
    [
      "or and not",
      { $not: { $or: [{ $eq: [A, literal(1)] }, { $gt: [field("b"), literal(10)] }] } },
      ["2/10"],
    ],
    ["a nested field", { $and: [field("tags.odd"), { $eq: [field("b"), literal(10)] }] }, ["1/10"]],
    [
      "a missing field, which is undefined and less than null",
      { $lt: [field("x"), literal(null)] },
      ["1/10", "1/20", "1/30", "2/10", "2/20", "2/30"],
    ],
    ["undefined", { $neq: [field("x"), { $literal: { $undefined: null } }] }, []],
    [
      "arithmetic of floats",
      { $eq: [{ $sub: [{ $mul: [A, literal(10)] }, field("b")] }, literal(0)] },
      ["1/10", "2/20"],
    ],
    [
      "arithmetic of ints",
      { $eq: [{ $mod: [{ $add: [field("big"), literal(1n)] }, literal(3n)] }, literal(0n)] },
      ["1/20", "2/20"],
    ],
    [
      "division and negation",
      { $eq: [{ $neg: { $div: [field("b"), literal(10)] } }, literal(-3)] },
      ["1/30", "2/30"],
    ],
  ])("evaluates %s", async (_, filter, rows) => {
    expect(await found(scan([{ filter }]))).toEqual(rows);
  });

  test.each<[JSONValue, RegExp]>([
    [A, /must be a boolean, and was 1\.0/],
    [{ $add: [A, literal(1n)] }, /Cannot add 1\.0 and 1/],
    [{ $neg: field("tags") }, /Cannot negate/],
    [
      { $add: [literal(MAX_INT64), literal(1n)] },
      /Cannot add 9\d+ and 1: .* out of range for Int64/,
    ],
    [{ $mul: [literal(MAX_INT64), literal(-2n)] }, /Cannot multiply .* out of range for Int64/],
    [{ $neg: literal(-MAX_INT64 - 1n) }, /Cannot negate -9\d+: .* out of range for Int64/],
    [{ $eq: [A, { $literal: { $commitTs: null } }] }, /\$commitTs starts with '\$'/],
    [{ $like: [A, A] }, /Unknown operator "\$like"/],
    [7, /Not a filter expression/],
  ])("refuses %j", async (filter, message) => {
    await expect(found(scan([{ filter }]))).rejects.toThrow(message);
  });
});

async function collectDocs(query: QueryJson) {
  const docs = [];
  for await (const doc of runQuery(database.begin(), "", query)) docs.push(doc);
  return docs;
}
