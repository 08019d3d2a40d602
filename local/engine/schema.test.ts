import { defineSchema, defineTable } from "convex/server";
import { v, type ValidatorJSON } from "convex/values";
import { describe, expect, test } from "vitest";
import { createDatabase } from "./database.js";
import { collect, range, seededEnvironment, transact } from "./testing.js";
import type { Database, TableSpec } from "./types.js";

const schema = defineSchema({
  users: defineTable({ name: v.string() }).index("by_name", ["name"]),
  posts: defineTable({ author: v.id("users"), likes: v.optional(v.number()) }),
});

/** The specs of a schema as the official package exports it. */
function specsOf(definition: { tables: object }): TableSpec[] {
  const exported = JSON.parse((definition as unknown as { export(): string }).export()) as {
    tables: {
      tableName: string;
      indexes: { indexDescriptor: string; fields: string[] }[];
      documentType: ValidatorJSON;
    }[];
  };
  return exported.tables.map(({ tableName, indexes, documentType }) => ({
    name: tableName,
    indexes: indexes.map(({ indexDescriptor, fields }) => ({ name: indexDescriptor, fields })),
    documentType,
  }));
}

function newDatabase(): Database {
  return createDatabase(seededEnvironment(1));
}

describe("a schema that is enforced", () => {
  test("refuses documents that do not match, in the platform's words", async () => {
    const database = newDatabase();
    await database.applySchema("", specsOf(schema), { enforce: true });
    const transaction = database.begin();
    await expect(transaction.insert("", "users", { name: 1 })).rejects.toThrow(
      'Failed to insert or update a document in table "users" because it does not match the schema: ' +
        "Value does not match validator.\nPath: .name\nValue: 1.0\nValidator: v.string()",
    );
    const id = await transaction.insert("", "users", { name: "Ada" });
    await expect(transaction.patch("", id, { name: undefined })).rejects.toThrow(
      "Object is missing the required field `name`",
    );
    expect(await transaction.get("", id)).toMatchObject({ name: "Ada" });
  });

  test("checks that ids belong to their table", async () => {
    const database = newDatabase();
    await database.applySchema("", specsOf(schema), { enforce: true });
    const transaction = database.begin();
    const author = await transaction.insert("", "users", { name: "Ada" });
    const post = await transaction.insert("", "posts", { author });
    await expect(transaction.insert("", "posts", { author: post })).rejects.toThrow(
      `Found ID "${post}" from table \`posts\`, which does not match the table name in validator \`v.id("users")\`.`,
    );
    await expect(transaction.insert("", "posts", { author: "nobody" })).rejects.toThrow(
      /Value: "nobody"\nValidator: v\.id\("users"\)/,
    );
  });

  test("leaves tables alone that it does not name", async () => {
    const database = newDatabase();
    await database.applySchema("", specsOf(schema), { enforce: true });
    await expect(database.begin().insert("", "anything", { x: 1 })).resolves.toBeTypeOf("string");
  });

  test("is not pushed over rows that do not match, which are named", async () => {
    const database = newDatabase();
    const { value: id } = await transact(database, "setup", (transaction) =>
      transaction.insert("", "users", { name: 1 }),
    );
    const message = new RegExp(
      `Document with ID "${id}" in table "users" does not match the schema`,
    );
    await expect(database.checkSchema("", specsOf(schema))).rejects.toThrow(message);
    const push = database.applySchema("", specsOf(schema), { enforce: true });
    await expect(push).rejects.toThrow(message);
    expect(database.tables("")).toEqual(["users"]);
    // The refused push must not hold up later commits.
    await transact(database, "fix", (transaction) => transaction.patch("", id, { name: "Ada" }));
    await database.checkSchema("", specsOf(schema));
    await database.applySchema("", specsOf(schema), { enforce: true });
    expect(database.tables("")).toEqual(["users", "posts"]);
  });
});

describe("indexes", () => {
  const byName = range("users", "by_name");

  test("are filled from the rows that are there", async () => {
    const database = newDatabase();
    await transact(database, "setup", async (transaction) => {
      for (const name of ["c", "a", "b"]) await transaction.insert("", "users", { name });
    });
    await expect(collect(database.begin(), byName)).rejects.toThrow(
      "Index users.by_name not found.",
    );
    await database.applySchema("", specsOf(schema), { enforce: true });
    const rows = await collect(database.begin(), byName);
    expect(rows.map((row) => row["name"])).toEqual(["a", "b", "c"]);
  });

  test("that are gone from the schema are dropped, and their table's validator with them", async () => {
    const database = newDatabase();
    await database.applySchema("", specsOf(schema), { enforce: true });
    const reading = database.begin();
    await database.applySchema("", specsOf(defineSchema({ posts: schema.tables.posts })), {
      enforce: true,
    });
    await expect(collect(database.begin(), byName)).rejects.toThrow(/not found/);
    await expect(database.begin().insert("", "users", { x: 1 })).resolves.toBeTypeOf("string");
    // A transaction that began before the push still has them.
    expect(await collect(reading, byName)).toEqual([]);
  });

  test("are made anew when their fields change", async () => {
    const database = newDatabase();
    const indexed = (fields: string[]) => [{ name: "t", indexes: [{ name: "by_x", fields }] }];
    await database.applySchema("", indexed(["a"]), { enforce: false });
    await transact(database, "setup", async (transaction) => {
      await transaction.insert("", "t", { a: 1, b: 2 });
      await transaction.insert("", "t", { a: 2, b: 1 });
    });
    await database.applySchema("", indexed(["b"]), { enforce: false });
    const rows = await collect(database.begin(), range("t", "by_x"));
    expect(rows.map((row) => row["b"])).toEqual([1, 2]);
  });

  test("on nested fields find the values there, in objects and not in arrays", async () => {
    const database = newDatabase();
    const tables = [{ name: "t", indexes: [{ name: "by_x", fields: ["a.length"] }] }];
    await database.applySchema("", tables, { enforce: false });
    await transact(database, "setup", async (transaction) => {
      for (const a of [{ length: 2 }, { length: 1 }, {}, 7, [1, 2, 3], "text"])
        await transaction.insert("", "t", { a });
    });
    const found = range("t", "by_x", [{ type: "Gt", fieldPath: "a.length", value: undefined }]);
    expect((await collect(database.begin(), found)).map((row) => row["a"])).toEqual([
      { length: 1 },
      { length: 2 },
    ]);
  });

  test.each([
    ["no field", [{ name: "by_x", fields: [] }], /t\.by_x has 0 fields/],
    ["a field twice", [{ name: "by_x", fields: ["a", "a"] }], /names a field twice/],
    ["a system field", [{ name: "by_x", fields: ["a", "_creationTime"] }], /names a field twice/],
    ["a built-in name", [{ name: "by_id", fields: ["a"] }], /Rename it/],
    [
      "the same name twice",
      [1, 2].map((n) => ({ name: "x", fields: [`f${n}`] })),
      /two indexes "x"/,
    ],
  ])("with %s are refused", async (_, indexes, message) => {
    const push = newDatabase().applySchema("", [{ name: "t", indexes }], { enforce: false });
    await expect(push).rejects.toThrow(message);
  });
});

describe("a push", () => {
  test("conflicts with every transaction under way that has named a table", async () => {
    const database = newDatabase();
    await database.applySchema("", specsOf(schema), { enforce: false });
    const underWay = database.begin();
    await underWay.insert("", "users", { name: 1 });
    await database.applySchema("", specsOf(schema), { enforce: true });
    await expect(database.commit(underWay, "test")).rejects.toThrow(/"_tables"/);
  });

  test("that changes nothing is no commit", async () => {
    const database = newDatabase();
    await database.applySchema("", specsOf(schema), { enforce: true });
    const before = database.latestTs;
    await database.applySchema("", specsOf(schema), { enforce: true });
    expect(database.latestTs).toBe(before);
  });

  test("of system tables leaves the app's alone, and the other way round", async () => {
    const database = newDatabase();
    const system = [{ name: "_jobs", indexes: [{ name: "by_x", fields: ["x"] }] }];
    await database.applySchema("", system, { enforce: false });
    await database.applySchema("", specsOf(schema), { enforce: true });
    await database.applySchema("", system, { enforce: false });
    expect(await collect(database.begin(), range("users", "by_name"))).toEqual([]);
    const jobs = { ...range("_jobs", "by_x"), system: true };
    expect(await collect(database.begin(), jobs)).toEqual([]);
  });

  test("is a namespace's own", async () => {
    const database = newDatabase();
    await database.applySchema("child", specsOf(schema), { enforce: true });
    expect(database.tables("child")).toEqual(["users", "posts"]);
    expect(database.tables("")).toEqual([]);
  });
});

describe("limits on tables", () => {
  const limits = { tables: 2, indexesPerTable: 2, indexFields: 2, identifierLength: 5 };
  const apply = async (names: string[], indexes: { name: string; fields: string[] }[] = []) => {
    const database = createDatabase(seededEnvironment(1), { limits });
    const tables = names.map((name) => ({ name, indexes }));
    await database.applySchema("", tables, { enforce: false });
    return database;
  };
  const index = (name: string, ...fields: string[]) => ({ name, fields });

  test("hold for the tables of all components together, and for one that a first row makes", async () => {
    const database = await apply(["one"]);
    await database.applySchema("child", [{ name: "two", indexes: [] }], { enforce: false });
    await expect(database.begin().insert("", "three", {})).rejects.toThrow(
      /TooManyTables: Number of tables cannot exceed 2/,
    );
    await expect(apply(["one", "two", "three"])).rejects.toThrow(/TooManyTables/);
    // The system's do not count.
    await database.applySchema("", [{ name: "_own", indexes: [] }], { enforce: false });
  });

  test("hold for indexes, their fields and every name", async () => {
    await apply(["five5"], [index("by_ab", "a")]);
    await apply(["t"], [index("a", "a"), index("b", "a", "b")]);
    const three = [index("a", "a"), index("b", "b"), index("c", "c")];
    await expect(apply(["t"], three)).rejects.toThrow(
      /TooManyIndexes: Table "t" cannot have more than 2/,
    );
    await expect(apply(["t"], [index("a", "a", "b", "c")])).rejects.toThrow(/has 3 fields/);
    await expect(apply(["sixsix"])).rejects.toThrow(/not a table name: .*at most 5/);
    await expect(apply(["t"], [index("sixsix", "a")])).rejects.toThrow(/not an index name/);
  });
});
