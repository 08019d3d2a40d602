import { jsonToConvex, type Value } from "convex/values";
import { describe, expect, test } from "vitest";
import { createDatabase } from "./database.js";
import { collect, range, seededEnvironment, take, transact } from "./testing.js";
import type { Database, Doc } from "./types.js";

const ID_OF_NOBODY = "j57000820c20a1g7104gm2rc1m70ynr8";

async function withTable(rows: number[] = []): Promise<{ database: Database; ids: string[] }> {
  const database = createDatabase(seededEnvironment(7));
  const tables = [{ name: "t", indexes: [{ name: "by_n", fields: ["n"] }] }];
  await database.applySchema("", tables, { enforce: false });
  const { value: ids } = await transact(database, "setup", async (transaction) => {
    const inserted: string[] = [];
    for (const n of rows) inserted.push(await transaction.insert("", "t", { n }));
    return inserted;
  });
  return { database, ids };
}

const values = (docs: Doc[]): (Value | undefined)[] => docs.map((doc) => doc["n"]);
const byN = range("t", "by_n");

describe("a transaction", () => {
  test("sees its own writes in index order, among the snapshot's rows", async () => {
    const { database, ids } = await withTable([10, 20, 30]);
    const transaction = database.begin();
    await transaction.insert("", "t", { n: 25 });
    await transaction.patch("", ids[0]!, { n: 40 });
    await transaction.delete("", ids[1]!);
    expect(values(await collect(transaction, byN))).toEqual([25, 30, 40]);
    expect(values(await collect(transaction, { ...byN, order: "desc" }))).toEqual([40, 30, 25]);
    expect(await transaction.get("", ids[1]!)).toBeNull();
  });

  test("is given the rows of an open stream as they were fetched, after any writes of its own ahead of it", async () => {
    const { database, ids } = await withTable([10, 20, 30]);
    const transaction = database.begin();
    const seen: (Value | undefined)[] = [];
    for await (const doc of transaction.stream("", byN)) {
      seen.push(doc["n"]);
      if (doc["n"] === 10) {
        await transaction.insert("", "t", { n: 5 });
        await transaction.insert("", "t", { n: 15 });
        await transaction.delete("", ids[1]!);
        await transaction.patch("", ids[2]!, { n: 40 });
      }
    }
    expect(seen).toEqual([10, 20, 30]);
    expect(values(await collect(transaction, byN))).toEqual([5, 10, 15, 40]);
  });

  test("sees nothing that is published after it began", async () => {
    const { database } = await withTable([10]);
    const early = database.begin();
    await transact(database, "other", (transaction) => transaction.insert("", "t", { n: 20 }));
    expect(values(await collect(early, byN))).toEqual([10]);
    expect(values(await collect(database.begin(), byN))).toEqual([10, 20]);
  });

  test("numbers its inserts by creation time, each the next double after the last", async () => {
    const { database } = await withTable();
    const transaction = database.begin();
    for (const n of [3, 1, 2]) await transaction.insert("", "t", { n });
    const docs = await collect(transaction, range("t", "by_creation_time"));
    expect(values(docs)).toEqual([3, 1, 2]);
    const [first, second] = docs.map((doc) => doc._creationTime);
    expect(second).toBeGreaterThan(first!);
    expect(second! - first!).toBeLessThan(0.001);
  });

  test("takes creation times when it begins: a later commit may have the smaller one", async () => {
    const env = seededEnvironment(3);
    const database = createDatabase(env);
    await database.applySchema("", [{ name: "t", indexes: [] }], { enforce: false });
    const slow = database.begin();
    await env.sleep(5);
    const { value: quick } = await transact(database, "quick", (transaction) =>
      transaction.insert("", "t", {}),
    );
    const late = await slow.insert("", "t", {});
    await database.commit(slow, "slow");
    const after = database.begin();
    const [slowDoc, quickDoc] = [await after.get("", late), await after.get("", quick)];
    expect(slowDoc!._creationTime).toBeLessThan(quickDoc!._creationTime);
  });

  test("finds rows without a field under undefined, before all other rows", async () => {
    const { database } = await withTable([1]);
    const transaction = database.begin();
    await transaction.insert("", "t", {});
    await transaction.insert("", "t", { n: null });
    expect(values(await collect(transaction, byN))).toEqual([undefined, null, 1]);
    const missing = range("t", "by_n", [{ type: "Eq", fieldPath: "n", value: undefined }]);
    expect(values(await collect(transaction, missing))).toEqual([undefined]);
  });

  test("keeps -0 and 0 apart, as different keys", async () => {
    const { database } = await withTable([0]);
    const zero = range("t", "by_n", [{ type: "Eq", fieldPath: "n", value: -0 }]);
    expect(await collect(database.begin(), zero)).toEqual([]);
  });
});

describe("patch and replace", () => {
  test("set, remove and keep fields as asked", async () => {
    const { database } = await withTable();
    const transaction = database.begin();
    const id = await transaction.insert("", "t", { a: 1, b: 2 });
    expect(await transaction.patch("", id, { b: undefined, c: 3 })).toMatchObject({ a: 1, c: 3 });
    expect(await transaction.get("", id)).not.toHaveProperty("b");
    await transaction.replace("", id, { d: 4 });
    const { _id, _creationTime, ...fields } = (await transaction.get("", id))!;
    expect(fields).toEqual({ d: 4 });
  });

  test("accept a document's own system fields and refuse other ones", async () => {
    const { database, ids } = await withTable([1]);
    const transaction = database.begin();
    const doc = (await transaction.get("", ids[0]!))!;
    await transaction.replace("", ids[0]!, { ...doc, n: 2 });
    await expect(transaction.patch("", ids[0]!, { _creationTime: 1 })).rejects.toThrow(
      /"_creationTime" cannot be written/,
    );
    await expect(transaction.insert("", "t", { _mine: 1 })).rejects.toThrow(/"_mine"/);
  });

  test("and delete refuse a document that is not there", async () => {
    const { database } = await withTable();
    const transaction = database.begin();
    await expect(transaction.patch("", ID_OF_NOBODY, {})).rejects.toThrow(
      `Update on nonexistent document ID ${ID_OF_NOBODY}`,
    );
    await expect(transaction.delete("", ID_OF_NOBODY)).rejects.toThrow(
      `Delete on nonexistent document ID ${ID_OF_NOBODY}`,
    );
  });
});

describe("a savepoint", () => {
  test("takes back writes, new tables and callbacks that were to run after the commit", async () => {
    const { database, ids } = await withTable([10]);
    const transaction = database.begin();
    await transaction.insert("", "t", { n: 1 });
    const ran: string[] = [];
    transaction.afterCommit(() => ran.push("before"));
    const savepoint = transaction.savepoint();
    await transaction.insert("", "t", { n: 2 });
    await transaction.insert("", "fresh", {});
    await transaction.patch("", ids[0]!, { n: 11 });
    transaction.afterCommit(() => ran.push("inside"));
    savepoint.rollback();
    expect(values(await collect(transaction, byN))).toEqual([1, 10]);
    await database.commit(transaction, "test");
    expect(ran).toEqual(["before"]);
    expect(database.tables("")).toEqual(["t"]);
    expect(values(await collect(database.begin(), byN))).toEqual([1, 10]);
  });

  test("keeps the reads: a nested call's rows may have decided the caller's next step", async () => {
    const { database, ids } = await withTable([10]);
    const transaction = database.begin();
    const savepoint = transaction.savepoint();
    await transaction.get("", ids[0]!);
    savepoint.rollback();
    await transaction.insert("", "t", { n: 1 });
    await transact(database, "other", (other) => other.patch("", ids[0]!, { n: 20 }));
    await expect(database.commit(transaction, "test")).rejects.toThrow(/"other"/);
  });

  test("inside another goes with it, released or not", async () => {
    const { database } = await withTable();
    const transaction = database.begin();
    const outer = transaction.savepoint();
    const inner = transaction.savepoint();
    await transaction.insert("", "t", { n: 1 });
    inner.release();
    outer.rollback();
    expect(transaction.hasWrites).toBe(false);
  });
});

describe("a stale snapshot", () => {
  test("hides the transaction's own writes and adds nothing to its reads or usage", async () => {
    const { database, ids } = await withTable([10]);
    const transaction = database.begin();
    await transaction.insert("", "t", { n: 5 });
    const before = { intervals: transaction.reads.intervals, usage: transaction.usage };
    const stale = transaction.staleSnapshot();
    expect(values(await collect(stale, byN))).toEqual([10]);
    expect({ intervals: transaction.reads.intervals, usage: transaction.usage }).toEqual(before);
    await transact(database, "other", (other) => other.patch("", ids[0]!, { n: 11 }));
    expect(values(await collect(stale, byN))).toEqual([10]);
    await expect(database.commit(transaction, "test")).resolves.toBeTypeOf("bigint");
  });

  test("cannot be written", async () => {
    const { database } = await withTable();
    const stale = database.begin().staleSnapshot();
    await expect(stale.insert("", "t", { n: 1 })).rejects.toThrow(/read-only/);
  });
});

describe("ids", () => {
  test("belong to a table of a namespace, and mean nothing elsewhere", async () => {
    const { database, ids } = await withTable([1]);
    const transaction = database.begin();
    expect(transaction.tableOf("", ids[0]!)).toBe("t");
    expect(transaction.normalizeId("", "t", ids[0]!)).toBe(ids[0]);
    expect(transaction.normalizeId("", "other", ids[0]!)).toBeNull();
    expect(transaction.normalizeId("", "t", "rubbish")).toBeNull();
    expect(transaction.tableOf("child", ids[0]!)).toBeNull();
    expect(await transaction.get("child", ids[0]!)).toBeNull();
    expect(transaction.reads.intervals).toBe(0);
  });

  test("of a table that is not the named one are refused, with both names", async () => {
    const { database, ids } = await withTable([1]);
    await expect(database.begin().get("", ids[0]!, { table: "users" })).rejects.toThrow(
      'Invalid argument `id` for `db.get`: expected to be an Id<"users">, got Id<"t"> instead.',
    );
    await expect(database.begin().get("", "rubbish")).rejects.toThrow(/not a document ID/);
  });

  test("are numbered by namespace, the app's tables from 10001 and system tables from 513", async () => {
    const { database } = await withTable();
    const { value } = await transact(database, "test", async (transaction) => [
      await transaction.insert("a", "first", {}),
      await transaction.insert("b", "first", {}),
      await transaction.insert("a", "second", {}),
      await transaction.insert("a", "_jobs", {}, { system: true }),
    ]);
    expect(value.map((id) => id.slice(0, 2))).toEqual(["j5", "j5", "j9", "g4"]);
  });
});

describe("system tables", () => {
  test("are there for the platform only, and free", async () => {
    const { database } = await withTable([1]);
    const transaction = database.begin();
    await expect(transaction.insert("", "_jobs", {})).rejects.toThrow(/read-only/);
    const id = await transaction.insert("", "_jobs", { a: 1 }, { system: true });
    await expect(transaction.get("", id)).rejects.toThrow(
      "System tables can only be accessed with db.system.",
    );
    expect(await transaction.get("", id, { system: true })).toMatchObject({ a: 1 });
    const all = range("_jobs", "by_creation_time");
    await expect(take(transaction, all, 1)).rejects.toThrow(/db\.system/);
    expect(await take(transaction, { ...all, system: true }, 1)).toHaveLength(1);
    const mine = range("t", "by_n");
    await expect(take(transaction, { ...mine, system: true }, 1)).rejects.toThrow(/User tables/);
    expect(transaction.usage).toMatchObject({ documentsRead: 0, documentsWritten: 0 });
    expect(transaction.reads.intervals).toBe(0);
  });
});

describe("documents", () => {
  test.each([
    [{ $a: 1 }, /'\$'/],
    [{ a: { $b: 1 } }, /'\$'/],
    [{ a: "x".repeat(1 << 20) }, /too large/],
    [{ a: Array.from({ length: 8193 }, () => 1) }, /8193 > maximum length 8192/],
    [
      { a: Object.fromEntries(Array.from({ length: 1025 }, (_, i) => [`f${i}`, 1])) },
      /1025 > maximum number 1024/,
    ],
    [{ a: nested(20) }, /nested deeper than 16/],
  ])("outside the platform's limits are refused (%#)", async (fields, message) => {
    const { database } = await withTable();
    await expect(database.begin().insert("", "t", fields as never)).rejects.toThrow(message);
  });

  test("are shared by all readers, so they cannot be changed", async () => {
    const { database, ids } = await withTable([1]);
    const doc = (await database.begin().get("", ids[0]!))!;
    expect(() => (doc["n"] = 2)).toThrow(TypeError);
  });
});

describe("the placeholder of the commit timestamp", () => {
  const commitTs = jsonToConvex({ $commitTs: null });

  test("lies behind everything committed, and is found by its own value", async () => {
    const { database } = await withTable();
    await transact(database, "earlier", (transaction) =>
      transaction.insert("", "t", { n: commitTs }),
    );
    const transaction = database.begin();
    const mine = await transaction.insert("", "t", { n: commitTs });
    const own = range("t", "by_n", [{ type: "Eq", fieldPath: "n", value: commitTs }]);
    expect((await collect(transaction, own)).map((doc) => doc._id)).toEqual([mine]);
    expect((await take(transaction, { ...byN, order: "desc" }, 1))[0]!._id).toBe(mine);
  });

  test("may be scanned for without depending on other commits", async () => {
    const { database } = await withTable();
    const own = range("t", "by_n", [{ type: "Eq", fieldPath: "n", value: commitTs }]);
    const transaction = database.begin();
    expect(await collect(transaction, own)).toEqual([]);
    await transact(database, "other", (other) => other.insert("", "t", { n: commitTs }));
    await transaction.insert("", "t", { n: 1 });
    await expect(database.commit(transaction, "test")).resolves.toBeTypeOf("bigint");
  });
});

function nested(depth: number): Value {
  return depth === 0 ? 1 : [nested(depth - 1)];
}
