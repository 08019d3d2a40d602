import { describe, expect, test } from "vitest";
import { createDatabase } from "./database.js";
import { queryPage, type Page, type PageRequest } from "./page.js";
import type { QueryJson } from "./query.js";
import { seededEnvironment, transact } from "./testing.js";
import type { Database } from "./types.js";

async function numbers(...values: number[]): Promise<Database> {
  const database = createDatabase(seededEnvironment(1));
  const tables = [{ name: "t", indexes: [{ name: "by_n", fields: ["n"] }] }];
  await database.applySchema("", tables, { enforce: false });
  await insert(database, ...values);
  return database;
}

function insert(database: Database, ...values: number[]) {
  return transact(database, "insert", async (transaction) => {
    for (const n of values) await transaction.insert("", "t", { n });
  });
}

function byN(order: "asc" | "desc", operators: QueryJson["operators"] = []): QueryJson {
  return { source: { type: "IndexRange", indexName: "t.by_n", range: [], order }, operators };
}

function page(database: Database, request: Partial<PageRequest>): Promise<Page> {
  const first = { query: byN("asc"), cursor: null, pageSize: 2 };
  return queryPage(database.begin(), "", { ...first, ...request });
}

const values = ({ page }: Page) => page.map((doc) => doc["n"]);

describe.each(["asc", "desc"] as const)("pages, %s", (order) => {
  const query = byN(order);
  const inOrder = (...numbers: number[]) => (order === "asc" ? numbers : numbers.reverse());

  test("follow one another without gap or overlap", async () => {
    const database = await numbers(1, 2, 3, 4, 5);
    const seen: unknown[] = [];
    let cursor: string | null = null;
    for (let isDone = false; !isDone;) {
      const next: Page = await page(database, { query, cursor });
      seen.push(...values(next));
      ({ isDone, continueCursor: cursor } = next);
    }
    expect(seen).toEqual(inOrder(1, 2, 3, 4, 5));
    expect(values(await page(database, { query, cursor }))).toEqual([]);
  });

  test("continue behind their last row, after any inserts and deletes", async () => {
    const database = await numbers(10, 20, 30, 40);
    const first = await page(database, { query });
    const [gone] = first.page.slice(-1);
    await transact(database, "delete", (transaction) => transaction.delete("", gone!._id));
    await insert(database, 5, 25, 45);
    const next = await page(database, { query, cursor: first.continueCursor, pageSize: 10 });
    expect(values(next)).toEqual(order === "asc" ? [25, 30, 40, 45] : [25, 20, 10, 5]);
  });

  test("with an end cursor hold all that lies between, however much it has become", async () => {
    const database = await numbers(10, 20, 30, 40);
    const first = await page(database, { query });
    const second = await page(database, { query, cursor: first.continueCursor });
    await insert(database, 15, 16, 17, 35);
    const again = await page(database, { query, endCursor: first.continueCursor });
    expect(values(again)).toEqual(order === "asc" ? [10, 15, 16, 17, 20] : [40, 35, 30]);
    expect(again).toMatchObject({ isDone: false, continueCursor: first.continueCursor });
    const rest = await page(database, {
      query,
      cursor: first.continueCursor,
      endCursor: second.continueCursor,
    });
    expect(values(rest)).toEqual(order === "asc" ? [30, 35, 40] : [20, 17, 16, 15, 10]);
  });

  test("depend on the rows between their cursors and on nothing else", async () => {
    const database = await numbers(10, 20, 30, 40, 50);
    const first = await page(database, { query, pageSize: 1 });
    const reader = database.begin();
    await queryPage(reader, "", { query, cursor: first.continueCursor, pageSize: 2 });
    const touched: boolean[] = [];
    database.onPublish((commit) => touched.push(commit.touches(reader.reads)));
    for (const n of [5, 12, 25, 35, 45, 55]) await insert(database, n);
    expect(touched).toEqual(
      order === "asc"
        ? [false, true, true, false, false, false]
        : [false, false, false, true, true, false],
    );
  });
});

describe("a page", () => {
  test("is done only when it has read up to the end: a full last page is not", async () => {
    const database = await numbers(1, 2);
    const full = await page(database, {});
    expect(full.isDone).toBe(false);
    expect(await page(database, { cursor: full.continueCursor })).toMatchObject({
      page: [],
      isDone: true,
    });
    expect(await page(database, { pageSize: 3 })).toMatchObject({ isDone: true });
  });

  test("ends early when it has read as many rows as it may, filtered ones included", async () => {
    const database = await numbers(1, 2, 3, 4, 5, 6);
    const sixth = { filter: { $eq: [{ $field: "n" }, { $literal: 6 }] } };
    const query = byN("asc", [sixth]);
    const first = await page(database, { query, maximumRowsRead: 4 });
    expect(first).toMatchObject({ page: [], isDone: false });
    const second = await page(database, { query, cursor: first.continueCursor });
    expect(values(second)).toEqual([6]);
    const bytes = await page(database, { maximumBytesRead: 1, pageSize: 5 });
    expect(values(bytes)).toEqual([1]);
  });

  test("of no rows stays where it was", async () => {
    const database = await numbers(1);
    const none = await page(database, { pageSize: 0 });
    expect(none).toMatchObject({ page: [], isDone: false });
    expect(values(await page(database, { cursor: none.continueCursor }))).toEqual([1]);
  });

  test("refuses the cursor of another query, and a text that is no cursor", async () => {
    const database = await numbers(1, 2, 3);
    const { continueCursor } = await page(database, {});
    const other = page(database, { query: byN("desc"), cursor: continueCursor });
    await expect(other).rejects.toThrow(/^InvalidCursor/);
    await expect(page(database, { cursor: "rubbish" })).rejects.toThrow(/^InvalidCursor/);
    const number = 7 as unknown as string;
    await expect(page(database, { cursor: number })).rejects.toThrow(/^InvalidCursor.* Got 7\./);
  });
});
