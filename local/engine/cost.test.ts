/** A query costs as much as its result, at any size of its table. Counted in rows, not in time. */
import { expect, test } from "vitest";
import { createDatabase } from "./database.js";
import { range, seededEnvironment, take, transact } from "./testing.js";
import type { Database, Usage } from "./types.js";

const ROWS_PER_TRANSACTION = 5000;

async function filled(rows: number): Promise<{ database: Database; id: string }> {
  const database = createDatabase({
    ...seededEnvironment(1),
    // No transactions are interleaved here, and drawing lots 100,000 times takes a while.
    pause: () => Promise.resolve(),
    spend: () => Promise.resolve(),
  });
  const tables = [{ name: "jobs", indexes: [{ name: "by_n", fields: ["n"] }] }];
  await database.applySchema("", tables, { enforce: false });
  let id = "";
  for (let start = 0; start < rows; start += ROWS_PER_TRANSACTION) {
    await transact(database, "fill", async (transaction) => {
      for (let n = start; n < Math.min(rows, start + ROWS_PER_TRANSACTION); n++) {
        id = await transaction.insert("", "jobs", { n });
      }
    });
  }
  return { database, id };
}

async function costs(rows: number): Promise<Usage[]> {
  const { database, id } = await filled(rows);
  const middle = range("jobs", "by_n", [{ type: "Gte", fieldPath: "n", value: rows / 2 }]);
  const [point, taken, patched] = [database.begin(), database.begin(), database.begin()];
  expect(await point.get("", id)).not.toBeNull();
  expect(await take(taken, middle, 10)).toHaveLength(10);
  await patched.patch("", id, { n: -1 });
  return [point.usage, taken.usage, patched.usage];
}

test("a point read, a take(10) and a patch touch as many rows at 100,000 documents as at 100", async () => {
  const few = await costs(100);
  expect(few.map(({ rowsTouched }) => rowsTouched)).toEqual([1, 10, 1]);
  expect(await costs(100_000)).toEqual(few);
});
