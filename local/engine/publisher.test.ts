/** How commits go to a store: together, in order, and not around one that cannot be kept. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { MemoryStore } from "../store/memoryStore.js";
import { openDatabase } from "./database.js";
import { StoreClosedError, type StoredCommit } from "./store.js";
import { collect, range, seededEnvironment, transact } from "./testing.js";
import type { Database } from "./types.js";

/** Keeps its commits when a test says so, and notes the batches in which they came. */
class SlowStore extends MemoryStore {
  readonly batches: number[] = [];
  /** How many calls fail before one succeeds. */
  failures = 0;
  #open: (() => void) | null = null;
  #gate: Promise<void> | null = null;

  hold(): void {
    this.#gate = new Promise((resolve) => (this.#open = resolve));
  }

  letGo(): void {
    this.#open?.();
    this.#gate = null;
  }

  override async append(commits: readonly StoredCommit[]): Promise<void> {
    await this.#gate;
    if (this.failures > 0) {
      this.failures--;
      throw new Error("no room");
    }
    this.batches.push(commits.length);
    await super.append(commits);
  }
}

async function open(seed = 1) {
  const env = seededEnvironment(seed);
  const store = new SlowStore();
  const database = await openDatabase(env, { store });
  store.batches.length = 0;
  return { env, store, database };
}

function insert(database: Database, n: number) {
  return transact(database, "insert", (tx) => tx.insert("", "t", { n }));
}

async function count(database: Database): Promise<number> {
  return (await collect(database.begin(), range("t", "by_id"))).length;
}

afterEach(() => vi.restoreAllMocks());

describe("commits on a store", () => {
  test("are not visible, and not acknowledged, before the store has them", async () => {
    const { env, store, database } = await open();
    await insert(database, 0);
    store.hold();
    const before = database.latestTs;
    let acknowledged = false;
    const inserting = insert(database, 1).then(() => (acknowledged = true));
    await env.sleep(10_000);
    expect(acknowledged).toBe(false);
    expect(await count(database)).toBe(1);
    expect(database.latestTs).toBe(before);
    store.letGo();
    await inserting;
    expect(await count(database)).toBe(2);
  });

  test("that come while it writes go to it together, in order", async () => {
    const { env, store, database } = await open();
    // The table is there, so that they do not conflict over making it.
    await insert(database, 0);
    store.batches.length = 0;
    store.hold();
    const published: bigint[] = [];
    database.onPublish(({ ts }) => published.push(ts));
    const inserting = Promise.all(Array.from({ length: 20 }, (_, n) => insert(database, n)));
    await env.sleep(1000);
    store.letGo();
    await inserting;
    expect(store.batches.length).toBeLessThan(5);
    expect(store.batches.reduce((sum, size) => sum + size, 0)).toBe(20);
    expect(published).toEqual([...published].sort((a, b) => (a < b ? -1 : 1)));
  });

  test("wait when it cannot keep one, loudly, and come through when it can again", async () => {
    const said = vi.spyOn(console, "error").mockImplementation(() => {});
    const { env, store, database } = await open();
    await insert(database, 0);
    const startedAt = env.now();
    store.failures = 3;
    await Promise.all([insert(database, 1), insert(database, 2)]);
    // 100, 200 and 400 ms.
    expect(env.now() - startedAt).toBeGreaterThanOrEqual(700);
    expect(said).toHaveBeenCalledTimes(3);
    expect(said.mock.calls[0]?.[0]).toMatch(/not acknowledged: no room. Trying again in 100 ms/);
    expect(await count(database)).toBe(3);
  });

  test("fail when it is closed, waiting ones and later ones", async () => {
    const { env, store, database } = await open();
    await insert(database, 0);
    store.hold();
    const waiting = expect(insert(database, 1)).rejects.toThrow(StoreClosedError);
    await env.sleep(100);
    await store.close();
    store.letGo();
    await waiting;
    await expect(insert(database, 2)).rejects.toThrow(StoreClosedError);
    expect(await count(database)).toBe(1);
  });

  test.each([1, 2, 3, 4, 5])(
    "and schemas among them are kept in the order in which they were seen (seed %i)",
    async (seed) => {
      const { env, store, database } = await open(seed);
      const writing = Array.from({ length: 10 }, (_, n) => insert(database, n));
      const tables = [{ name: "t", indexes: [{ name: "by_n", fields: ["n"] }] }];
      const settings = new Map([["deployed", "1"]]);
      const pushing = database.applySchemas(
        [{ namespace: "", tables, enforce: false }],
        undefined,
        settings,
      );
      await Promise.all([...writing, pushing]);
      await store.close();
      const again = await openDatabase(env, { store });
      expect(again.latestTs).toBeGreaterThan(database.latestTs);
      expect([...again.settings]).toEqual([["deployed", "1"]]);
      const rows = await collect(again.begin(), range("t", "by_n"));
      expect(rows.map((row) => row["n"])).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    },
  );
});
