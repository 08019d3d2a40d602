import { renameSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Value } from "convex/values";
import { jsonToConvex } from "convex/values";
import { collect, range, transact } from "../engine/testing.js";
import type { Database, Doc } from "../engine/types.js";
import { wallEnvironment } from "../environment.js";
import { dataFolder, type DataFolder } from "./testing.js";

const TABLES = [{ name: "t", indexes: [{ name: "by_n", fields: ["n"] }] }];
const commitTs = jsonToConvex({ $commitTs: null });

let folder: DataFolder;
beforeEach(() => void (folder = dataFolder()));
afterEach(async () => {
  vi.restoreAllMocks();
  await folder.remove();
});

function insert(database: Database, value: Record<string, Value>, table = "t", namespace = "") {
  return transact(database, "insert", (tx) => tx.insert(namespace, table, value));
}

async function all(database: Database, index = "by_n"): Promise<Doc[]> {
  return collect(database.begin(), range("t", index));
}

describe("a database that is opened again", () => {
  test("has the rows that it had, of every type, in the order of every index", async () => {
    const first = await folder.open();
    await first.database.applySchema("", TABLES, { enforce: false });
    const values: Record<string, Value>[] = [
      { n: -0, text: "ä€😀\0\n" },
      { n: NaN },
      { n: -Infinity, nested: { list: [1n, null, true, { deep: [] }] } },
      { n: 2n ** 63n - 1n },
      { n: new Uint8Array([0, 255, 1]).buffer },
      { n: null },
      {},
      { n: commitTs },
    ];
    for (const value of values) await insert(first.database, value);
    const before = await all(first.database);
    const ids = (await all(first.database, "by_id")).map(({ _id }) => _id);
    await first.close();

    const second = await folder.open();
    const after = await all(second.database);
    // `toEqual` finds any two buffers equal.
    expect(after).toStrictEqual(before);
    expect(after).toHaveLength(values.length);
    expect(Object.is(after.find((doc) => doc["n"] === 0)?.["n"], -0)).toBe(true);
    expect((await all(second.database, "by_id")).map(({ _id }) => _id)).toEqual(ids);
    expect(
      (await all(second.database, "by_creation_time")).map((doc) => doc._creationTime),
    ).toEqual(before.map((doc) => doc._creationTime).sort((a, b) => a - b));
  });

  test("has lost deleted rows and shows changed ones", async () => {
    const first = await folder.open();
    const { value: kept } = await insert(first.database, { n: 1 });
    const { value: gone } = await insert(first.database, { n: 2 });
    await transact(first.database, "change", async (tx) => {
      await tx.delete("", gone);
      await tx.patch("", kept, { n: 3 });
    });
    await first.close();
    const second = await folder.open();
    expect(await all(second.database, "by_id")).toMatchObject([{ _id: kept, n: 3 }]);
  });

  test("knows its tables by the same numbers, in every namespace, and goes on from there", async () => {
    const first = await folder.open();
    const { value: id } = await insert(first.database, { n: 1 }, "a", "child");
    await insert(first.database, { n: 1 }, "b", "child");
    await first.close();
    const second = await folder.open();
    expect(second.database.begin().tableOf("child", id)).toBe("a");
    const { value: later } = await insert(second.database, { n: 1 }, "c", "child");
    const tx = second.database.begin();
    expect(["a", "b", "c"].map((name) => tx.normalizeId("child", name, later))).toEqual([
      null,
      null,
      later,
    ]);
  });

  test("enforces the schema that it had", async () => {
    const first = await folder.open();
    const documentType = {
      type: "object",
      value: { n: { fieldType: { type: "number" }, optional: false } },
    };
    await first.database.applySchema("", [{ ...TABLES[0]!, documentType }], { enforce: true });
    await first.close();
    const second = await folder.open();
    await expect(insert(second.database, { n: "x" })).rejects.toThrow("does not match the schema");
    await insert(second.database, { n: 1 });
  });

  test("assigns later timestamps than before, though the clock was set back", async () => {
    const first = await folder.open();
    const { ts } = await insert(first.database, { n: 1 });
    await first.close();
    const dayBefore = { ...wallEnvironment, now: () => wallEnvironment.now() - 86_400_000 };
    const second = await folder.open({}, dayBefore);
    expect(second.database.latestTs).toBeGreaterThan(ts);
    const { ts: later } = await insert(second.database, { n: 1 });
    expect(later).toBeGreaterThan(second.database.latestTs - 1n);
    expect(later).toBeGreaterThan(ts);
    await second.close();
    // Not even a timestamp that a start alone has shown to clients is later than the next one's.
    const third = await folder.open({}, dayBefore);
    const seen = third.database.latestTs;
    await third.close();
    expect((await folder.open({}, dayBefore)).database.latestTs).toBeGreaterThan(seen);
  });

  test("has its settings, as they were last", async () => {
    const first = await folder.open();
    await first.database.applySchemas(
      [],
      undefined,
      new Map([
        ["a", "1"],
        ["b", "2"],
      ]),
    );
    await first.database.applySchemas(
      [],
      undefined,
      new Map([
        ["a", null],
        ["b", "3"],
      ]),
    );
    expect([...first.database.settings]).toEqual([["b", "3"]]);
    await first.close();
    const second = await folder.open();
    expect([...second.database.settings]).toEqual([["b", "3"]]);
  });

  test("has nothing of a schema that was refused, and nothing of its settings", async () => {
    const first = await folder.open();
    await insert(first.database, { n: "x" });
    const documentType = {
      type: "object",
      value: { n: { fieldType: { type: "number" }, optional: false } },
    };
    const refused = first.database.applySchemas(
      [{ namespace: "", tables: [{ ...TABLES[0]!, documentType }], enforce: true }],
      undefined,
      new Map([["a", "1"]]),
    );
    await expect(refused).rejects.toThrow("does not match the schema");
    await first.close();
    const second = await folder.open();
    expect(second.database.settings.size).toBe(0);
    await expect(all(second.database)).rejects.toThrow("Index t.by_n not found");
  });
});

test("commits that wait are written together, and each is in the file when it is acknowledged", async () => {
  const first = await folder.open();
  const { database } = first;
  await Promise.all(Array.from({ length: 300 }, (_, n) => insert(database, { n })));
  expect(await all(database, "by_id")).toHaveLength(300);
  await first.close();
  const again = await folder.open();
  expect(await all(again.database, "by_id")).toHaveLength(300);
});

test("a file that may not grow refuses the commit, which is neither seen nor kept", async () => {
  const refused = new Promise<string>((resolve) =>
    vi.spyOn(console, "error").mockImplementation((text: string) => resolve(text)),
  );
  const first = await folder.open({ maxBytes: 100_000 });
  const { database } = first;
  await insert(database, { n: 1 });
  const tooLarge = expect(insert(database, { text: "x".repeat(200_000) })).rejects.toThrow(
    "closed",
  );
  expect(await refused).toMatch(/not stored and not acknowledged: database or disk is full/);
  // Behind it, and so not before it.
  const behind = expect(insert(database, { n: 2 })).rejects.toThrow("closed");
  expect(await all(database, "by_id")).toHaveLength(1);
  await first.close();
  await Promise.all([tooLarge, behind]);
  const again = await folder.open();
  expect(await all(again.database, "by_id")).toMatchObject([{ n: 1 }]);
});

test("a commit waits when the data file was moved away, says so, and is kept once it is back", async () => {
  const first = await folder.open();
  await first.database.applySchema("", TABLES, { enforce: false });
  const away = `${folder.directory}-away`;
  const complained = new Promise<string>((resolve) =>
    vi.spyOn(console, "error").mockImplementation(resolve),
  );
  renameSync(folder.directory, away);
  const insertion = insert(first.database, { n: 1 });
  expect(await complained).toMatch(
    /not acknowledged: .* was removed or replaced while it was in use/,
  );
  expect(await all(first.database)).toEqual([]);
  renameSync(away, folder.directory);
  await insertion;
  await first.close();
  const second = await folder.open();
  expect(await all(second.database)).toMatchObject([{ n: 1 }]);
});
