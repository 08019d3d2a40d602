/** A transaction's read set after each kind of read, found out by writing to it. */
import { describe, expect, test } from "vitest";
import { ConflictError } from "./conflict.js";
import { createDatabase } from "./database.js";
import { collect, range, seededEnvironment, take, transact } from "./testing.js";
import type { Database, RangeBound, Transaction } from "./types.js";

type Step = (transaction: Transaction, ids: Map<number, string>) => Promise<unknown>;

/** A table `t` with rows n = 10, 20, 30, 40, 50 and an index by n. */
async function numbers(): Promise<{ database: Database; ids: Map<number, string> }> {
  const database = createDatabase(seededEnvironment(1));
  const tables = ["t", "other"].map((name) => ({
    name,
    indexes: [{ name: "by_n", fields: ["n"] }],
  }));
  await database.applySchema("", tables, { enforce: false });
  const ids = new Map<number, string>();
  await transact(database, "setup", async (transaction) => {
    for (const n of [10, 20, 30, 40, 50]) ids.set(n, await transaction.insert("", "t", { n }));
    await transaction.insert("", "other", { n: 0 });
  });
  return { database, ids };
}

/** Whether a transaction that has done `read` can no longer commit once another has done `write`. */
async function conflicts(read: Step, write: Step): Promise<boolean> {
  const { database, ids } = await numbers();
  const reader = database.begin();
  await read(reader, ids);
  await transact(database, "writer", (transaction) => write(transaction, ids));
  await reader.insert("", "other", { n: 1 });
  try {
    await database.commit(reader, "reader");
    return false;
  } catch (error) {
    expect(error).toBeInstanceOf(ConflictError);
    expect((error as ConflictError).conflict).toMatchObject({ table: "t", source: "writer" });
    return true;
  }
}

const insert =
  (n: number): Step =>
  (transaction) =>
    transaction.insert("", "t", { n });
const patch =
  (n: number, value: { [field: string]: number }): Step =>
  (transaction, ids) =>
    transaction.patch("", ids.get(n)!, value);
const remove =
  (n: number): Step =>
  (transaction, ids) =>
    transaction.delete("", ids.get(n)!);
const get =
  (n: number): Step =>
  (transaction, ids) =>
    transaction.get("", ids.get(n)!);
const takeN =
  (n: number, order: "asc" | "desc", bounds: RangeBound[] = []): Step =>
  (transaction) =>
    take(transaction, range("t", "by_n", bounds, order), n);

const from20: RangeBound = { type: "Gte", fieldPath: "n", value: 20 };
const below50: RangeBound = { type: "Lt", fieldPath: "n", value: 50 };

describe("a point read", () => {
  test("depends on its document and no other", async () => {
    expect(await conflicts(get(20), patch(20, { m: 1 }))).toBe(true);
    expect(await conflicts(get(20), remove(20))).toBe(true);
    expect(await conflicts(get(20), patch(30, { m: 1 }))).toBe(false);
    expect(await conflicts(get(20), insert(20))).toBe(false);
  });

  test("of a document that is gone is a dependency all the same", async () => {
    const { database, ids } = await numbers();
    await transact(database, "remover", (transaction) => transaction.delete("", ids.get(20)!));
    const reader = database.begin();
    expect(await reader.get("", ids.get(20)!)).toBeNull();
    expect(reader.reads.intervals).toBe(1);
  });
});

describe("a take that found all its rows, ascending", () => {
  const read = takeN(2, "asc", [from20]);

  test("ends at the last row it yielded, inclusive", async () => {
    expect(await conflicts(read, insert(25))).toBe(true);
    expect(await conflicts(read, patch(30, { m: 1 }))).toBe(true);
    expect(await conflicts(read, remove(20))).toBe(true);
    expect(await conflicts(read, insert(31))).toBe(false);
    expect(await conflicts(read, patch(40, { m: 1 }))).toBe(false);
  });

  test("begins at the bound, not at the first row", async () => {
    expect(await conflicts(takeN(1, "asc", [{ ...from20, value: 15 }]), insert(16))).toBe(true);
    expect(await conflicts(read, insert(19))).toBe(false);
  });

  test("does not mind a row with the last one's value that comes after it", async () => {
    // Same n, later _creationTime: behind row 30 in the index.
    expect(await conflicts(read, insert(30))).toBe(false);
  });
});

describe("a take that found all its rows, descending", () => {
  const read = takeN(2, "desc", [below50]);

  test("reaches from the last row it yielded to the end of the range", async () => {
    expect(await conflicts(read, insert(49))).toBe(true);
    expect(await conflicts(read, insert(35))).toBe(true);
    expect(await conflicts(read, patch(30, { m: 1 }))).toBe(true);
    expect(await conflicts(read, insert(29))).toBe(false);
    expect(await conflicts(read, insert(50))).toBe(false);
  });
});

describe("a read that came to the end of its range", () => {
  test("depends on all of it, also where there was nothing", async () => {
    const tooMany = takeN(10, "asc", [from20, below50]);
    expect(await conflicts(tooMany, insert(49))).toBe(true);
    expect(await conflicts(tooMany, insert(20))).toBe(true);
    expect(await conflicts(tooMany, insert(50))).toBe(false);
    expect(await conflicts(tooMany, insert(19))).toBe(false);
  });

  test("that was empty depends on its emptiness", async () => {
    const nothing: Step = (transaction) =>
      collect(transaction, range("t", "by_n", [{ type: "Eq", fieldPath: "n", value: 35 }]));
    expect(await conflicts(nothing, insert(35))).toBe(true);
    expect(await conflicts(nothing, patch(10, { n: 35 }))).toBe(true);
    expect(await conflicts(nothing, insert(36))).toBe(false);
  });

  test("as unique() does, which asks for a second row, depends on the whole equality", async () => {
    const unique = takeN(2, "asc", [{ type: "Eq", fieldPath: "n", value: 20 }]);
    const first = takeN(1, "asc", [{ type: "Eq", fieldPath: "n", value: 20 }]);
    expect(await conflicts(unique, insert(20))).toBe(true);
    expect(await conflicts(first, insert(20))).toBe(false);
  });
});

describe("a write by another transaction", () => {
  test("touches the row's place in every index, also when the indexed field is the same", async () => {
    expect(await conflicts(takeN(1, "asc"), patch(10, { unrelated: 1 }))).toBe(true);
  });

  test("counts where the row was and where it is now", async () => {
    expect(await conflicts(takeN(1, "asc"), patch(50, { n: 5 }))).toBe(true);
    expect(await conflicts(takeN(1, "asc"), patch(10, { n: 60 }))).toBe(true);
    expect(await conflicts(takeN(1, "asc"), patch(50, { n: 60 }))).toBe(false);
  });

  test("of unchanged values is no write", async () => {
    expect(await conflicts(get(20), patch(20, { n: 20 }))).toBe(false);
    const replaceSame: Step = (transaction, ids) =>
      transaction.replace("", ids.get(20)!, { n: 20 });
    expect(await conflicts(get(20), replaceSame)).toBe(false);
  });
});

describe("updates and deletions", () => {
  test("read their document: two of one document never both commit", async () => {
    expect(await conflicts(patch(20, { m: 1 }), patch(20, { k: 2 }))).toBe(true);
    expect(await conflicts(remove(20), patch(20, { k: 2 }))).toBe(true);
    expect(await conflicts(patch(20, { m: 1 }), patch(30, { k: 2 }))).toBe(false);
  });
});

describe("an insert", () => {
  test("depends on nothing: two of the same value both commit", async () => {
    expect(await conflicts(insert(20), insert(20))).toBe(false);
    const { database } = await numbers();
    const inserter = database.begin();
    await inserter.insert("", "t", { n: 1 });
    expect(inserter.reads.intervals).toBe(0);
  });

  test("into a table that does not exist creates it, and conflicts with every transaction under way", async () => {
    const { database } = await numbers();
    const [one, two] = [database.begin(), database.begin()];
    await one.insert("", "fresh", { n: 1 });
    await two.insert("", "fresh", { n: 2 });
    await database.commit(one, "one");
    await expect(database.commit(two, "two")).rejects.toMatchObject({
      conflict: { table: "_tables", source: "one" },
    });
    expect(database.tables("")).toEqual(["t", "other", "fresh"]);
  });
});

describe("a read set", () => {
  test("merges a stream's row by row reads into one interval", async () => {
    const { database } = await numbers();
    const reader = database.begin();
    await collect(reader, range("t", "by_n"));
    expect(reader.reads.intervals).toBe(1);
    expect(reader.usage.databaseQueries).toBe(1);
  });

  test("of two calls together is touched by a write that touches either", async () => {
    const { database, ids } = await numbers();
    const [one, two] = [database.begin(), database.begin()];
    await one.get("", ids.get(10)!);
    await two.get("", ids.get(20)!);
    const both = one.reads.union(two.reads);
    const touched: boolean[][] = [];
    database.onPublish((commit) =>
      touched.push([one.reads, two.reads, both].map((reads) => commit.touches(reads))),
    );
    for (const n of [10, 20, 30]) {
      await transact(database, "writer", (transaction) =>
        transaction.patch("", ids.get(n)!, { m: 1 }),
      );
    }
    expect(touched).toEqual([
      [true, false, true],
      [false, true, true],
      [false, false, false],
    ]);
    expect(one.reads.intervals).toBe(1);
  });
});
