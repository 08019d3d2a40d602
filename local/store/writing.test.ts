import Libsql from "libsql";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { createDataFile, DataWriter } from "./writing.js";

const folder = mkdtempSync(path.join(tmpdir(), "conveyor-writing-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("the disk has a commit when it is acknowledged: SQLite waits for it", () => {
  const opened: Libsql.Database[] = [];
  const Watched = new Proxy(Libsql, {
    construct(target, args: ConstructorParameters<typeof Libsql>) {
      const database = new target(...args);
      opened.push(database);
      return database;
    },
  });
  const file = path.join(folder, "data.sqlite");
  createDataFile(file, Libsql);
  const writer = new DataWriter(file, Watched, null);
  const FULL = 2;
  expect(opened[0]!.prepare("PRAGMA synchronous").get()).toMatchObject({ synchronous: FULL });
  expect(opened[0]!.prepare("PRAGMA journal_mode").get()).toMatchObject({ journal_mode: "wal" });
  writer.close();
});
