import { jsonToConvex } from "convex/values";
import { describe, expect, test } from "vitest";
import { ConflictError } from "./conflict.js";
import { createDatabase } from "./database.js";
import { collect, range, seededEnvironment, transact } from "./testing.js";
import type { Database, PublishedCommit, Transaction, Ts } from "./types.js";

const PUBLISH_LATENCY_MS = 10;
const commitTs = jsonToConvex({ $commitTs: null });

async function withRow(seed = 1) {
  const env = seededEnvironment(seed);
  const database = createDatabase(env, { publishLatencyMs: PUBLISH_LATENCY_MS });
  const tables = [{ name: "t", indexes: [{ name: "by_at", fields: ["at"] }] }];
  await database.applySchema("", tables, { enforce: false });
  const { value: id } = await transact(database, "setup", (transaction) =>
    transaction.insert("", "t", { n: 0 }),
  );
  return { env, database, id };
}

async function inserting(database: Database, n: number): Promise<Transaction> {
  const transaction = database.begin();
  await transaction.insert("", "t", { n });
  return transaction;
}

describe("a commit", () => {
  test("may be refused as if another had come before it: nothing of it is kept, and the next may commit", async () => {
    const env = seededEnvironment(1);
    let left = 1;
    const refuses = (author: string) => author === "refused" && left-- > 0;
    const database = createDatabase(env, { refuses });
    await database.applySchema("", [{ name: "t", indexes: [] }], { enforce: false });
    await expect(database.commit(await inserting(database, 1), "refused")).rejects.toThrow(
      ConflictError,
    );
    await database.commit(await inserting(database, 2), "another");
    await database.commit(await inserting(database, 3), "refused");
    const rows = await collect(database.begin(), range("t", "by_creation_time"));
    expect(rows.map(({ n }) => n)).toEqual([2, 3]);
  });

  test("is not seen by the snapshot queries of a transaction that are made to lag behind it", async () => {
    const env = seededEnvironment(1);
    let lagMs = 0;
    const database = createDatabase(env, { snapshotLagMs: () => lagMs });
    await database.applySchema("", [{ name: "t", indexes: [] }], { enforce: false });
    await env.sleep(1_000);
    await database.commit(await inserting(database, 1), "writer");
    const rows = range("t", "by_creation_time");
    expect(await collect(database.begin().staleSnapshot(), rows)).toHaveLength(1);
    lagMs = 500;
    const late = database.begin();
    expect(await collect(late.staleSnapshot(), rows)).toHaveLength(0);
    expect(await collect(late, rows)).toHaveLength(1);
    // Rows committed before that are seen, however long ago the last commit was.
    await env.sleep(1_000);
    expect(await collect(database.begin().staleSnapshot(), rows)).toHaveLength(1);
  });

  test("becomes visible some time after it is validated, and only then resolves", async () => {
    const { env, database } = await withRow();
    const startedAt = env.now();
    const writer = await inserting(database, 1);
    let resolved = false;
    const committed = database.commit(writer, "writer").then((ts) => {
      resolved = true;
      return ts;
    });
    await env.sleep(PUBLISH_LATENCY_MS / 2);
    expect(resolved).toBe(false);
    expect(await collect(database.begin(), range("t", "by_at"))).toHaveLength(1);
    const ts = await committed;
    expect(env.now()).toBeGreaterThanOrEqual(startedAt + PUBLISH_LATENCY_MS);
    expect(database.latestTs).toBe(ts);
    expect(await collect(database.begin(), range("t", "by_at"))).toHaveLength(2);
  });

  test("is validated against commits that are not visible yet", async () => {
    const { env, database, id } = await withRow();
    const first = database.begin();
    await first.patch("", id, { n: 1 });
    const pending = database.commit(first, "first");
    await env.sleep(PUBLISH_LATENCY_MS / 2);
    // Begins after the first was validated and before it is published.
    const second = database.begin();
    expect(await second.patch("", id, { n: 2 })).toMatchObject({ n: 2 });
    const refused = await database.commit(second, "second").catch((error: unknown) => error);
    const firstTs = await pending;
    expect(refused).toMatchObject({
      name: "ConflictError",
      conflict: { table: "t", id, source: "first", ts: firstTs },
    });
  });

  test("of a transaction that wrote nothing is not validated and gives its begin timestamp", async () => {
    const { database, id } = await withRow();
    const reader = database.begin();
    await reader.get("", id);
    await transact(database, "writer", (transaction) => transaction.patch("", id, { n: 1 }));
    expect(await database.commit(reader, "reader")).toBe(reader.beginTs);
  });

  test("gets a timestamp above all before it, though the clock stands still", async () => {
    const { env, database } = await withRow();
    const startedAt = env.now();
    const writers = await Promise.all([1, 2, 3, 4].map((n) => inserting(database, n)));
    const timestamps = await Promise.all(
      writers.map((writer) => database.commit(writer, "writer")),
    );
    expect(new Set(timestamps).size).toBe(4);
    expect(env.now() - startedAt).toBeLessThanOrEqual(PUBLISH_LATENCY_MS);
    expect(database.latestTs).toBe(timestamps.reduce((a, b) => (a > b ? a : b)));
  });

  test("writes its timestamp wherever the placeholder stands, the same one everywhere", async () => {
    const { database } = await withRow();
    const { value: ids, ts } = await transact(database, "writer", async (transaction) => [
      await transaction.insert("", "t", { at: commitTs }),
      await transaction.insert("", "t", { at: { first: [commitTs] }, n: 1 }),
    ]);
    const reader = database.begin();
    expect(await reader.get("", ids[0]!)).toMatchObject({ at: ts });
    expect(await reader.get("", ids[1]!)).toMatchObject({ at: { first: [ts] } });
    const resolved = range("t", "by_at", [{ type: "Eq", fieldPath: "at", value: ts }]);
    expect(await collect(reader, resolved)).toHaveLength(1);
  });

  test("orders rows by commit, where creation times would not", async () => {
    const { env, database } = await withRow();
    const slow = database.begin();
    await env.sleep(5);
    await transact(database, "quick", (quick) =>
      quick.insert("", "t", { at: commitTs, who: "quick" }),
    );
    await slow.insert("", "t", { at: commitTs, who: "slow" });
    await database.commit(slow, "slow");
    const since = range("t", "by_at", [{ type: "Gt", fieldPath: "at", value: 0n }]);
    const rows = await collect(database.begin(), since);
    expect(rows.map((row) => row["who"])).toEqual(["quick", "slow"]);
  });

  test("runs its deferred callbacks when it is published, with its timestamp", async () => {
    const { database } = await withRow();
    const writer = await inserting(database, 1);
    const ran: { ts: Ts; latest: Ts }[] = [];
    writer.afterCommit((ts) => ran.push({ ts, latest: database.latestTs }));
    const ts = await database.commit(writer, "writer");
    expect(ran).toEqual([{ ts, latest: ts }]);
  });

  test("that fails leaves nothing behind", async () => {
    const { database, id } = await withRow();
    const loser = database.begin();
    await loser.patch("", id, { n: 1 });
    await loser.insert("", "t", { n: 2 });
    const ran: Ts[] = [];
    loser.afterCommit((ts) => ran.push(ts));
    await transact(database, "winner", (winner) => winner.patch("", id, { n: 3 }));
    await expect(database.commit(loser, "loser")).rejects.toThrow(/"winner"/);
    const rows = await collect(database.begin(), range("t", "by_at"));
    expect(rows.map((row) => row["n"])).toEqual([3]);
    expect(ran).toEqual([]);
  });

  test("of a transaction older than the write log is refused: the commits that it missed are not known", async () => {
    const { env, database, id } = await withRow();
    const old = database.begin();
    await old.insert("", "t", { n: 1 });
    await transact(database, "first", (transaction) => transaction.patch("", id, { n: 1 }));
    await env.sleep(40_000);
    await transact(database, "second", (transaction) => transaction.patch("", id, { n: 2 }));
    await expect(database.commit(old, "old")).rejects.toThrow(/^OutOfRetention/);
  });

  test("after a long idle time is accepted, since nothing was missed", async () => {
    const { env, database, id } = await withRow();
    await env.sleep(40_000);
    const transaction = database.begin();
    await transaction.patch("", id, { n: 1 });
    await expect(database.commit(transaction, "test")).resolves.toBeTypeOf("bigint");
  });
});

describe("publication", () => {
  test("tells listeners in the order of timestamps, before any other code can act on it", async () => {
    const { database } = await withRow();
    const order: string[] = [];
    const stop = database.onPublish((commit: PublishedCommit) => {
      expect(database.latestTs).toBe(commit.ts);
      order.push(`listener ${commit.source}`);
    });
    const writers = await Promise.all([1, 2, 3].map((n) => inserting(database, n)));
    const commits = await Promise.all(
      writers.map(async (writer, i) => {
        const ts = await database.commit(writer, `w${i}`);
        order.push(`caller w${i}`);
        return { ts, source: `w${i}` };
      }),
    );
    const inOrder = commits.sort((a, b) => (a.ts < b.ts ? -1 : 1)).map(({ source }) => source);
    expect(order.filter((line) => line.startsWith("listener"))).toEqual(
      inOrder.map((source) => `listener ${source}`),
    );
    for (const source of inOrder) {
      expect(order.indexOf(`listener ${source}`)).toBeLessThan(order.indexOf(`caller ${source}`));
    }
    stop();
    await transact(database, "unheard", (transaction) => transaction.insert("", "t", {}));
    expect(order).not.toContain("listener unheard");
  });

  test("can be waited for", async () => {
    const { env, database } = await withRow();
    const committed = database.commit(await inserting(database, 1), "writer");
    await env.sleep(PUBLISH_LATENCY_MS / 2);
    const waited = database.published(database.latestTs + 1n).then(() => database.latestTs);
    expect(await waited).toBe(await committed);
    await database.published(database.latestTs);
  });
});

describe("interleaving", () => {
  test("happens at every database call: two transactions read and write in turns", async () => {
    // The same two programs under many seeds: each order of their steps is seen, and only one of two commits.
    const outcomes = new Set<string>();
    for (let seed = 0; seed < 30; seed++) {
      const { database, id } = await withRow(seed);
      const steps: string[] = [];
      const run = async (name: string) => {
        const transaction = database.begin();
        const doc = await transaction.get("", id);
        steps.push(`${name} read`);
        await transaction.patch("", id, { n: Number(doc!["n"]) + 1 });
        steps.push(`${name} wrote`);
        return database.commit(transaction, name).then(
          () => "committed",
          () => "refused",
        );
      };
      const results = await Promise.all([run("a"), run("b")]);
      expect(results.sort()).toEqual(["committed", "refused"]);
      outcomes.add(steps.join(", "));
    }
    expect(outcomes.size).toBeGreaterThan(3);
  });
});
