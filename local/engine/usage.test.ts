import { getConvexSize, getDocumentSize, type Value } from "convex/values";
import { describe, expect, test } from "vitest";
import type { Environment } from "../environment.js";
import type { Limits } from "../limits.js";
import { createDatabase } from "./database.js";
import { collect, range, seededEnvironment, take, transact } from "./testing.js";
import type { Database, Doc, Transaction } from "./types.js";

/** No transactions are interleaved here, and drawing lots tens of thousands of times takes a while. */
function quiet(): Environment {
  return {
    ...seededEnvironment(1),
    pause: () => Promise.resolve(),
    spend: () => Promise.resolve(),
  };
}

const TABLES = [
  { name: "t", indexes: [{ name: "by_n", fields: ["n"] }] },
  { name: "_system", indexes: [{ name: "by_n", fields: ["n"] }] },
];

async function withTable(limits: Partial<Limits> = {}): Promise<Database> {
  const database = createDatabase(quiet(), { limits });
  await database.applySchema("", TABLES, { enforce: false });
  return database;
}

async function inserted(database: Database, rows: number, table = "t"): Promise<string[]> {
  const ids: string[] = [];
  const system = table.startsWith("_");
  for (let start = 0; start < rows; start += 16_000) {
    await transact(database, "setup", async (transaction) => {
      for (let n = start; n < Math.min(rows, start + 16_000); n++) {
        ids.push(await transaction.insert("", table, { n }, { system }));
      }
    });
  }
  return ids;
}

const byN = range("t", "by_n");
const sizeOf = (doc: Doc): number => getDocumentSize(doc as never);
/** The bytes read of the entry of `by_n`: the field, and the two that every index ends with. */
const keySizeOf = (doc: Doc): number =>
  getConvexSize(doc["n"]) + getConvexSize(doc._creationTime) + getConvexSize(doc._id);

/** The bytes written of it: the document's id once more, as table and number. */
const entrySizeOf = (doc: Doc): number => keySizeOf(doc) + 33;

describe("the limits", () => {
  test("are the documents of the app's own tables and their bytes, not the keys that led to them", async () => {
    const database = await withTable();
    const [id] = await inserted(database, 1);
    const transaction = database.begin();
    const doc = (await transaction.get("", id!))!;
    await take(transaction, byN, 1);
    const read = { documentsRead: 2, bytesRead: 2 * sizeOf(doc) };
    expect(transaction.usage).toMatchObject({ ...read, databaseQueries: 2 });
    await transaction.patch("", id!, { n: 7 });
    expect(transaction.usage).toMatchObject({
      documentsRead: 3,
      bytesRead: 3 * sizeOf(doc),
      documentsWritten: 1,
      bytesWritten: sizeOf(doc),
    });
  });

  test("counts each call that writes, deletions without bytes, and no write where nothing changes", async () => {
    const database = await withTable();
    const [id] = await inserted(database, 1);
    const transaction = database.begin();
    await transaction.patch("", id!, { n: 1 });
    const { bytesWritten } = transaction.usage;
    await transaction.patch("", id!, { n: 1 });
    await transaction.delete("", id!);
    expect(transaction.usage).toMatchObject({ documentsWritten: 2, bytesWritten });
  });

  test("is not a nested call's writes once they are rolled back, but its reads", async () => {
    const database = await withTable({ systemDocumentsWritten: 1 });
    const [id] = await inserted(database, 1);
    const transaction = database.begin();
    await transaction.insert("", "t", { n: 2 });
    const { documentsWritten, bytesWritten } = transaction.usage;
    const savepoint = transaction.savepoint();
    await transaction.patch("", id!, { n: 3 });
    await transaction.insert("", "_system", { n: 1 }, { system: true });
    savepoint.rollback();
    expect(transaction.usage).toMatchObject({ documentsRead: 1, documentsWritten, bytesWritten });
    expect(transaction.cost("committed").user.documentsWritten).toBe(1);
    await transaction.insert("", "_system", { n: 1 }, { system: true });
  });

  test("are not system tables, which have limits of their own that apps are not meant to reach", async () => {
    const database = await withTable({ systemDocumentsWritten: 3 });
    const transaction = database.begin();
    for (let n = 0; n < 3; n++) await transaction.insert("", "_system", { n }, { system: true });
    await collect(transaction, { ...range("_system", "by_n"), system: true });
    expect(transaction.usage).toMatchObject({
      documentsRead: 0,
      documentsWritten: 0,
      bytesWritten: 0,
      databaseQueries: 0,
    });
    await expect(transaction.insert("", "_system", { n: 4 }, { system: true })).rejects.toThrow(
      /Too many system document writes in a single transaction: 4/,
    );
  });
});

describe("at its real size, the limit of", () => {
  test("32,000 documents read lets exactly so many be read, and no range goes on behind it", async () => {
    const database = await withTable();
    await inserted(database, 32_001);
    const transaction = database.begin();
    expect(await take(transaction, byN, 32_000)).toHaveLength(32_000);
    await expect(take(transaction, byN, 1)).rejects.toThrow(
      /^TooManyDocumentsRead: Too many documents read in a single function execution \(limit: 32000\)\. /,
    );
    await expect(collect(database.begin(), byN)).rejects.toThrow(/TooManyDocumentsRead/);
  });

  test("16,000 documents written counts deletions and repeated writes, and the excess is not written", async () => {
    const database = await withTable();
    const [id] = await inserted(database, 1);
    const transaction = database.begin();
    for (let n = 0; n < 15_998; n++) await transaction.insert("", "t", { n });
    await transaction.patch("", id!, { n: -1 });
    await transaction.patch("", id!, { n: -2 });
    expect(transaction.usage.documentsWritten).toBe(16_000);
    await expect(transaction.delete("", id!)).rejects.toThrow(
      /^TooManyWrites: Too many writes in a single function execution \(limit: 16000\)\. /,
    );
    expect(await transaction.get("", id!)).toMatchObject({ n: -2 });
  });

  test("4,096 ranges counts them merged: the same one again, or one beside it, is no other", async () => {
    const database = await withTable();
    const ids = (await inserted(database, 4097)).sort();
    const transaction = database.begin();
    for (const id of ids.slice(0, 4096)) await transaction.get("", id);
    await transaction.get("", ids[0]!);
    expect(transaction.usage.databaseQueries).toBe(4096);
    await expect(transaction.get("", ids[4096]!)).rejects.toThrow(
      /^TooManyReads: Too many reads in a single function execution \(limit: 4096\)\. /,
    );
  });
});

test.each<[keyof Limits, (transaction: Transaction, id: string) => Promise<unknown>, string]>([
  ["bytesRead", (transaction, id) => transaction.get("", id), "TooManyBytesRead"],
  ["bytesWritten", (transaction, id) => transaction.patch("", id, { a: 1 }), "TooManyBytesWritten"],
])("%s may be used up to its last byte", async (name, use, code) => {
  const within = async (limit: number) => {
    const database = await withTable();
    const [id] = await inserted(database, 1);
    const transaction = database.begin();
    transaction.limits = { ...transaction.limits, [name]: limit };
    return use(transaction, id!);
  };
  const bytes = sizeOf((await within(1000)) as Doc);
  await expect(within(bytes)).resolves.toMatchObject({ _creationTime: expect.any(Number) });
  await expect(within(bytes - 1)).rejects.toThrow(`${code}: `);
});

describe("the bill", () => {
  test("are documents with the entries of declared indexes, and of writes the committed ones", async () => {
    const database = await withTable();
    const [id, other] = await inserted(database, 2);
    const transaction = database.begin();
    const [first] = await take(transaction, byN, 1);
    await take(transaction, range("t", "by_creation_time"), 1);
    await transaction.patch("", id!, { n: 8 });
    await transaction.patch("", id!, { n: 9 });
    await transaction.delete("", other!);
    const bytes = sizeOf(first!);
    const key = keySizeOf(first!);
    // Read: two rows of ranges, and one for each of three writes. Written: one document and its entry, one deletion.
    const read = { documentsRead: 5, bytesRead: 5 * bytes + key };
    expect(transaction.cost("committed").user).toEqual({
      ...read,
      documentsWritten: 2,
      bytesWritten: bytes + entrySizeOf(first!),
    });
    expect(transaction.cost("dropped").user).toEqual({
      ...read,
      documentsWritten: 0,
      bytesWritten: 0,
    });
  });

  test("includes reads of a stale snapshot, which have a count of their own for the limits", async () => {
    const database = await withTable();
    await inserted(database, 3);
    const transaction = database.begin();
    transaction.limits = { ...transaction.limits, documentsRead: 3 };
    await collect(transaction, byN);
    const stale = transaction.staleSnapshot();
    await collect(stale, byN);
    expect(stale.usage.documentsRead).toBe(3);
    await expect(take(stale, byN, 1)).rejects.toThrow(/limit: 3/);
    expect(transaction.usage.documentsRead).toBe(3);
    expect(transaction.cost("dropped").user.documentsRead).toBe(7);
  });

  test.each<[Value | undefined, number]>([
    [undefined, 1],
    [null, 1],
    [0n, 1],
    [-128n, 2],
    [128n, 3],
    [40_000n, 5],
    [2n ** 40n, 9],
    [5, 9],
    ["é\0", 2 + 4],
    [[0n, 1n], 2 + 3],
  ])("an entry that is read is as long as its key: %o takes %i bytes", async (n, bytes) => {
    const database = await withTable();
    await transact(database, "setup", (transaction) => transaction.insert("", "t", { n }));
    const transaction = database.begin();
    const [doc] = await collect(transaction, byN);
    const others = getConvexSize(doc!._creationTime) + getConvexSize(doc!._id);
    const { bytesRead } = transaction.cost("dropped").user;
    expect(bytesRead - sizeOf(doc!) - others).toBe(bytes);
  });

  test("tells system tables apart", async () => {
    const database = await withTable();
    await inserted(database, 2, "_system");
    const transaction = database.begin();
    await collect(transaction, { ...range("_system", "by_n"), system: true });
    const { user, system } = transaction.cost("dropped");
    expect([user.documentsRead, system.documentsRead]).toEqual([0, 2]);
  });
});

test("rows that were fetched and not taken are neither counted nor depended on", async () => {
  const database = await withTable();
  await inserted(database, 50);
  const transaction = database.begin();
  for await (const doc of transaction.stream("", byN)) if (doc["n"] === 4) break;
  expect(transaction.usage).toMatchObject({ documentsRead: 5, databaseQueries: 1 });
  await transact(database, "behind", (other) => other.insert("", "t", { n: 4.5 }));
  transaction.validateReads();
  await expect(database.commit(transaction, "reader")).resolves.toBe(transaction.beginTs);
});
