import type { JSONValue } from "convex/values";
import { beforeEach, describe, expect, test } from "vitest";
import type { Database, PublishedCommit, ReadSet, Ts } from "../../engine/types.js";
import { ANYONE } from "../adminKey.js";
import type { CalledQuery, Call, Calls } from "../calls.js";
import { CommitFeed } from "./commitFeed.js";
import { QuerySet } from "./querySet.js";

/** A database of named rows: a query reads one of them, a commit writes some. */
class FakeBackend {
  latestTs: Ts = 10n;
  runs: string[] = [];
  /** Called while a query runs, between its snapshot and its result. */
  duringRun: (path: string) => void = () => {};
  #rows = new Map<string, JSONValue>();
  #listeners = new Set<(commit: PublishedCommit) => void>();

  write(rows: Record<string, JSONValue>): void {
    for (const [row, value] of Object.entries(rows)) this.#rows.set(row, value);
    const ts = ++this.latestTs;
    const touches = (reads: ReadSet): boolean => (reads as FakeReads).row in rows;
    for (const listener of this.#listeners) listener({ ts, source: "test", bytes: 0, touches });
  }

  onPublish(listener: (commit: PublishedCommit) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async query({ path }: Call): Promise<CalledQuery> {
    this.runs.push(path);
    const ts = this.latestTs;
    const value = this.#rows.get(path) ?? null;
    await Promise.resolve();
    this.duringRun(path);
    return { ok: true, value, logs: [], ts, reads: new FakeReads(path) };
  }
}

class FakeReads implements ReadSet {
  readonly intervals = 1;
  constructor(readonly row: string) {}
  union(): ReadSet {
    throw new Error("not needed");
  }
}

describe("a client's queries", () => {
  let backend: FakeBackend;
  let queries: QuerySet;
  let outdated: number;

  beforeEach(() => {
    backend = new FakeBackend();
    outdated = 0;
    queries = new QuerySet(
      backend as unknown as Calls,
      new CommitFeed(backend as unknown as Database),
      () => backend.latestTs,
      () => outdated++,
    );
  });

  const add = (queryId: number, udfPath: string): void =>
    queries.add({ type: "Add", queryId, udfPath, args: [{}] });
  const update = () => queries.update(ANYONE);

  test("run again only when a commit writes what they read", async () => {
    add(1, "a");
    add(2, "b");
    await update();
    backend.write({ unrelated: 1 });
    expect(outdated).toBe(0);
    backend.write({ b: 1 });
    expect(outdated).toBe(1);
    backend.runs = [];
    const { ts, modifications } = await update();
    expect(backend.runs).toEqual(["b"]);
    expect(modifications).toMatchObject([{ type: "QueryUpdated", queryId: 2, value: 1 }]);
    expect(ts).toBe(backend.latestTs);
  });

  test("tell a result once: one that comes out the same is no modification, but time moves on", async () => {
    backend.write({ a: "same" });
    add(1, "a");
    await update();
    backend.write({ a: "same" });
    const { ts, modifications } = await update();
    expect(modifications).toEqual([]);
    expect(ts).toBe(backend.latestTs);
  });

  test("are told at a timestamp before a commit that came while they ran, and then run again", async () => {
    add(1, "a");
    backend.duringRun = () => {
      backend.duringRun = () => {};
      backend.write({ a: "late" });
    };
    const first = await update();
    expect(first).toMatchObject({ ts: 10n, modifications: [{ value: null }] });
    const second = await update();
    expect(second).toMatchObject({ ts: 11n, modifications: [{ value: "late" }] });
  });

  test("outdated again while they run, they ask for another update, each time", async () => {
    add(1, "a");
    await update();
    backend.write({ a: 1 });
    expect(outdated).toBe(1);
    for (const again of [2, 3]) {
      backend.duringRun = () => {
        backend.duringRun = () => {};
        backend.write({ a: again });
      };
      await update();
      expect(outdated).toBe(again);
    }
    expect((await update()).modifications).toMatchObject([{ value: 3 }]);
  });

  test("never show one row before a commit and another after it", async () => {
    backend.write({ a: 0, b: 0 });
    add(1, "a");
    add(2, "b");
    const seen = new Map<number, JSONValue>();
    let writes = 0;
    // Each commit moves both rows together; it lands while the first of the two queries runs.
    backend.duringRun = (path) => {
      if (path === "a" && writes < 5) backend.write({ a: ++writes, b: writes });
    };
    for (let step = 0; step < 8; step++) {
      for (const modification of (await update()).modifications) {
        if (modification.type === "QueryUpdated")
          seen.set(modification.queryId, modification.value);
      }
      expect(seen.get(1)).toBe(seen.get(2));
    }
    expect(seen.get(1)).toBe(5);
  });

  test("that were added while an update runs wait for the next", async () => {
    add(1, "a");
    backend.duringRun = () => {
      backend.duringRun = () => {};
      add(2, "b");
    };
    expect((await update()).modifications).toMatchObject([{ queryId: 1 }]);
    expect((await update()).modifications).toMatchObject([{ queryId: 2 }]);
  });

  test("that were removed while they ran are not told, only that they are gone", async () => {
    add(1, "a");
    backend.duringRun = () => {
      backend.duringRun = () => {};
      queries.remove(1);
    };
    expect((await update()).modifications).toEqual([]);
    expect((await update()).modifications).toEqual([{ type: "QueryRemoved", queryId: 1 }]);
  });

  test("all run again when other code is deployed, whatever they have read", async () => {
    add(1, "a");
    add(2, "b");
    await update();
    backend.runs = [];
    queries.outdateAll();
    await update();
    expect(backend.runs).toEqual(["a", "b"]);
  });
});
