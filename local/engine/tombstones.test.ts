import fc from "fast-check";
import { expect, test } from "vitest";
import type { Environment, Step } from "../environment.js";
import { createDatabase } from "./database.js";
import { INDEX_RETENTION_MS, TOMBSTONE_GENERATION_MS } from "./limits.js";
import { countDead, NO_TOMBSTONES, withDeaths, withoutExpired } from "./tombstones.js";
import { queryPage } from "./page.js";
import { runQuery, type QueryJson } from "./query.js";
import { collect, range, seededEnvironment, take, transact } from "./testing.js";
import type { Database, Transaction } from "./types.js";

const MINUTE_NS = 60_000_000_000n;

type Reads = Extract<Step, { kind: "read" }>[];

/** A queue with jobs 0 to 9, the first of them taken out, and the cost of reads since. */
async function queue(
  taken: number,
): Promise<{ database: Database; env: Environment; reads: Reads }> {
  const reads: Reads = [];
  const seeded = seededEnvironment(5);
  const env: Environment = {
    ...seeded,
    spend: (step) => {
      if (step.kind === "read") reads.push(step);
      return seeded.spend(step);
    },
  };
  const database = createDatabase(env);
  const tables = [{ name: "jobs", indexes: [{ name: "by_n", fields: ["n"] }] }];
  await database.applySchema("", tables, { enforce: false });
  await transact(database, "enqueue", async (transaction) => {
    for (let n = 0; n < 10; n++) await transaction.insert("", "jobs", { n });
  });
  await drop(database, taken);
  reads.length = 0;
  return { database, env, reads };
}

async function drop(database: Database, count: number): Promise<void> {
  await transact(database, "drop", async (transaction) => {
    for (const doc of await take(transaction, byN, count)) await transaction.delete("", doc._id);
  });
}

const byN = range("jobs", "by_n");
const all: QueryJson = {
  source: { type: "IndexRange", indexName: "jobs.by_n", range: [], order: "asc" },
  operators: [],
};
const passed = (transaction: Transaction): number => transaction.cost("dropped").tombstones;

test("a scan passes the rows that were deleted before the first that is there", async () => {
  const { database } = await queue(3);
  const transaction = database.begin();
  expect(await take(transaction, byN, 1)).toMatchObject([{ n: 3 }]);
  expect(passed(transaction)).toBe(3);
  // They are no documents that were read, and nothing to depend on.
  expect(transaction.usage).toMatchObject({ documentsRead: 1, databaseQueries: 1 });
});

test("a scan that begins behind them passes none, which is the use of a cursor", async () => {
  const { database } = await queue(3);
  const behind = range("jobs", "by_n", [{ type: "Gte", fieldPath: "n", value: 3 }]);
  const transaction = database.begin();
  await collect(transaction, behind);
  expect(passed(transaction)).toBe(0);
});

test("a row that moves leaves one in the index that it moved in and none in the other indexes", async () => {
  const { database } = await queue(0);
  await transact(database, "move", async (transaction) => {
    for (const doc of await take(transaction, byN, 2)) {
      await transaction.patch("", doc._id, { n: 100, other: true });
      await transaction.patch("", doc._id, { other: false });
    }
  });
  const [moved, created] = [database.begin(), database.begin()];
  await collect(moved, byN);
  await collect(created, range("jobs", "by_creation_time"));
  expect([passed(moved), passed(created)]).toEqual([2, 0]);
});

test("a row that comes back to its place is alive again", async () => {
  const { database } = await queue(0);
  for (const n of [50, 0]) {
    await transact(database, "there and back", async (transaction) => {
      const first = (await collect(transaction, byN)).find((doc) => doc["n"] === (n ? 0 : 50));
      await transaction.patch("", first!._id, { n });
    });
  }
  const transaction = database.begin();
  await collect(transaction, byN);
  expect(passed(transaction)).toBe(1);
});

test("only entries that are dead in a transaction's snapshot are passed, and not its own deletions", async () => {
  const { database } = await queue(1);
  const early = database.begin();
  await drop(database, 4);
  await early.delete("", (await take(early, byN, 1))[0]!._id);
  expect(await take(early, byN, 1)).toMatchObject([{ n: 2 }]);
  // Twice over the one that was dead when it began.
  expect(passed(early)).toBe(2);
});

test("a descending scan, a page and a filter pass the entries before their last row", async () => {
  const { database } = await queue(3);
  const [down, paged, filtered] = [database.begin(), database.begin(), database.begin()];
  expect(await take(down, { ...byN, order: "desc" }, 7)).toHaveLength(7);
  // One fetch takes up to a hundred, so it went on to the end.
  expect(passed(down)).toBe(3);
  const page = { query: all, cursor: null, pageSize: 2 };
  const { continueCursor } = await queryPage(paged, "", page);
  expect(passed(paged)).toBe(3);
  await queryPage(paged, "", { ...page, cursor: continueCursor });
  expect(passed(paged)).toBe(3);
  const last = { $eq: [{ $field: "n" }, { $literal: 9 }] };
  for await (const _ of runQuery(filtered, "", { ...all, operators: [{ filter: last }] })) void _;
  expect(passed(filtered)).toBe(3);
});

test("a step tells how many rows were wanted, how many were read, and how many were passed for it", async () => {
  const { database, reads } = await queue(4);
  const first: QueryJson = { ...all, operators: [{ limit: 2 }] };
  for await (const _ of runQuery(database.begin(), "", first)) void _;
  expect(reads).toMatchObject([{ kind: "read", wanted: 2, documents: 2, tombstones: 4 }]);
});

test("after the retention no scan passes them any more, committed to or not", async () => {
  const { database, env } = await queue(3);
  await env.sleep(INDEX_RETENTION_MS - 1000);
  const within = database.begin();
  await collect(within, byN);
  expect(passed(within)).toBe(3);
  await env.sleep(2000);
  const after = database.begin();
  await collect(after, byN);
  expect(passed(after)).toBe(0);
});

test("of an index without further writes they are forgotten too, as other tables are written", () => {
  const dead = withDeaths(NO_TOMBSTONES, ["a", "b"], [], 0n);
  expect(withoutExpired(dead, 4n * MINUTE_NS)).toBe(dead);
  expect(withoutExpired(dead, 6n * MINUTE_NS)).toEqual([]);
  expect(TOMBSTONE_GENERATION_MS * 4).toBe(INDEX_RETENTION_MS);
});

test("after any deaths and returns, a range counts the keys that died in it and have not come back", () => {
  const keys = fc.array(fc.constantFrom("a", "b", "c", "d", "e"), { maxLength: 3 });
  const commits = fc.array(fc.record({ keys, minutes: fc.integer({ min: 0, max: 2 }) }));
  fc.assert(
    fc.property(commits, fc.constantFrom("a", "c"), (history, start) => {
      const diedAt = new Map<string, bigint>();
      let tombstones = NO_TOMBSTONES;
      let now = 0n;
      for (const { keys: touched, minutes } of history) {
        now += BigInt(minutes) * MINUTE_NS;
        const died = [...new Set(touched)].filter((key) => !diedAt.has(key));
        const revived = [...new Set(touched)].filter((key) => diedAt.has(key));
        tombstones = withDeaths(tombstones, died, revived, now);
        for (const key of died) diedAt.set(key, now);
        for (const key of revived) diedAt.delete(key);
      }
      const since = now - 4n * MINUTE_NS;
      const expected = [...diedAt].filter(([key, at]) => key >= start && key < "e" && at >= since);
      expect(countDead(tombstones, { start, end: "e" }, since)).toBe(expected.length);
      const generations = withoutExpired(tombstones, now).map((generation) => generation.since);
      expect(generations.every((at) => at >= since - MINUTE_NS)).toBe(true);
    }),
  );
});
