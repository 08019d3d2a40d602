import type { JSONValue } from "convex/values";
import { beforeEach, describe, expect, test } from "vitest";
import { wallEnvironment } from "../../environment.js";
import { ANYONE } from "../../functions/identity.js";
import { MAX_RUNNING_QUERIES } from "../limits.js";
import { CommitFeed } from "./commitFeed.js";
import { QuerySet } from "./querySet.js";
import { FakeBackend } from "./testing.js";

describe("a client's queries", () => {
  let backend: FakeBackend;
  let queries: QuerySet;
  let outdated: number;

  beforeEach(() => {
    backend = new FakeBackend();
    outdated = 0;
    queries = new QuerySet({
      calls: backend,
      feed: new CommitFeed(backend, wallEnvironment),
      latestTs: () => backend.latestTs,
      onOutdated: () => outdated++,
    });
  });

  const add = (queryId: number, udfPath: string, journal?: string): void =>
    queries.modify([{ type: "Add", queryId, udfPath, args: [{}], ...(journal && { journal }) }]);
  const remove = (queryId: number): void => queries.modify([{ type: "Remove", queryId }]);
  const update = () => queries.update(ANYONE);

  test("are run once more only when a commit writes into their read sets", async () => {
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

  test("are sent at a timestamp before a commit that came while they ran, and then run once more", async () => {
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
      if (path === "a" && writes < 5) void backend.write({ a: ++writes, b: writes });
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

  test("that are removed while they run are sent once more, and then their removal", async () => {
    add(1, "a");
    backend.duringRun = () => {
      backend.duringRun = () => {};
      remove(1);
    };
    expect((await update()).modifications).toMatchObject([{ type: "QueryUpdated", queryId: 1 }]);
    expect((await update()).modifications).toEqual([{ type: "QueryRemoved", queryId: 1 }]);
  });

  test("run at most so many at once, all on the snapshot of the moment the update began", async () => {
    const many = MAX_RUNNING_QUERIES * 2 + 1;
    for (let queryId = 0; queryId < many; queryId++) add(queryId, `row${queryId}`);
    backend.duringRun = (path) => void backend.write({ [path]: "too late" });
    const { ts, modifications } = await update();
    expect(backend.mostAtOnce).toBe(MAX_RUNNING_QUERIES);
    expect(ts).toBe(10n);
    expect(modifications.map((each) => "value" in each && each.value)).toEqual(
      new Array(many).fill(null),
    );
  });

  test("get the journal of their last run again, and the client's when they come back", async () => {
    add(1, "a", "from before");
    expect((await update()).modifications).toMatchObject([{ journal: "from before+" }]);
    backend.write({ a: 1 });
    expect((await update()).modifications).toMatchObject([{ journal: "from before++" }]);
  });

  test("are sent when only their log lines differ, and not sent when they fail the same way under another request", async () => {
    add(1, "a");
    await update();
    backend.logs = ["[LOG] 'x'"];
    backend.write({ a: null });
    expect((await update()).modifications).toHaveLength(1);
    backend.failure = "no";
    backend.write({ a: null });
    expect((await update()).modifications).toMatchObject([{ type: "QueryFailed" }]);
    backend.write({ a: null });
    expect((await update()).modifications).toEqual([]);
  });

  test("that come twice or go without having come are the client's mistake", () => {
    add(1, "a");
    expect(() => add(1, "b")).toThrow("added twice");
    expect(() => remove(2)).toThrow("never added");
    remove(1);
    add(1, "b");
  });

  test("are all run once more when other code is deployed, with any read set", async () => {
    add(1, "a");
    add(2, "b");
    await update();
    backend.runs = [];
    queries.outdateAll();
    await update();
    expect(backend.runs).toEqual(["a", "b"]);
  });
});
