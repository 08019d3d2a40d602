/** Files that are not served, and are afterwards as before, byte for byte. */
import { createHash } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { transact } from "../engine/testing.js";
import { wallEnvironment } from "../environment.js";
import { FORMAT_VERSION } from "./format.js";
import { openSqliteStore } from "./sqliteStore.js";
import { dataFolder, type DataFolder } from "./testing.js";

let folder: DataFolder;
let path: string;
beforeEach(() => {
  folder = dataFolder();
  path = join(folder.directory, "backend.sqlite");
});
afterEach(() => folder.remove());

const template = dataFolder();
beforeAll(async () => {
  const { database, store } = await template.open();
  await transact(database, "fill", async (tx) => {
    for (let n = 0; n < 300; n++) await tx.insert("", "t", { n, text: "x".repeat(100) });
  });
  await store.close();
});
afterAll(() => template.remove());

/** A data file with a few hundred rows, closed. */
function fill(): void {
  mkdirSync(folder.directory);
  copyFileSync(join(template.directory, "backend.sqlite"), path);
}

function hashes(): string[] {
  return (
    ["", "-wal"]
      .map((suffix) => path + suffix)
      // A connection that only reads leaves an empty log.
      .filter((file) => existsSync(file) && statSync(file).size > 0)
      .map((file) => `${file} ${createHash("sha256").update(readFileSync(file)).digest("hex")}`)
  );
}

/** The error of a start, with the file as it was. */
async function refusal(): Promise<{ code: string; message: string }> {
  const before = hashes();
  const error = await folder.open().then(
    () => ({ code: "opened", message: "" }),
    (refused: unknown) => refused as { code: string; message: string },
  );
  expect(error.code).not.toBe("opened");
  expect(hashes()).toEqual(before);
  return error;
}

function overwrite(offset: number, bytes: Buffer): void {
  writeSync(openSync(path, "r+"), bytes, 0, bytes.length, offset);
}

function sql(statements: string): void {
  const database = new Database(path);
  database.exec(statements);
  database.close();
}

describe("a file that is not ours", () => {
  test.each([
    ["text", "hello, this is not a database\n".repeat(50)],
    ["short text", "hello"],
    ["nothing", ""],
  ])("is refused: %s", async (_what, content) => {
    mkdirSync(folder.directory);
    writeFileSync(path, content);
    expect(await refusal()).toMatchObject({
      code: "DataFileForeign",
      message: expect.stringContaining(path) as string,
    });
  });

  test("is refused when SQLite made it for another program", async () => {
    mkdirSync(folder.directory);
    sql("CREATE TABLE t (n); INSERT INTO t VALUES (1); PRAGMA application_id = 1234;");
    expect(await refusal()).toMatchObject({ code: "DataFileForeign" });
  });

  test("is refused when a later version made it, and that version is named", async () => {
    fill();
    sql(`PRAGMA user_version = ${FORMAT_VERSION + 1}`);
    const { code, message } = await refusal();
    expect(code).toBe("DataFileTooNew");
    expect(message).toContain(`format ${FORMAT_VERSION + 1}`);
  });
});

describe("a file that was ours and is damaged is refused", () => {
  beforeEach(fill);

  test.each([0.2, 0.5, 0.9])("cut off at %s of its length", async (part) => {
    truncateSync(path, Math.floor(statSync(path).size * part));
    expect(await refusal()).toMatchObject({ code: "DataFileDamaged" });
  });

  test("cut off within its header", async () => {
    truncateSync(path, 60);
    expect(await refusal()).toMatchObject({ code: "DataFileDamaged" });
  });

  test("with a page of zeros in its middle", async () => {
    overwrite(Math.floor(statSync(path).size / 8192) * 4096, Buffer.alloc(4096));
    expect(await refusal()).toMatchObject({ code: "DataFileDamaged" });
  });

  test("with changed letters in documents, which SQLite takes for sound", async () => {
    const file = readFileSync(path, "latin1");
    writeFileSync(path, file.replaceAll('"text":"x', '"text":"y'), "latin1");
    const { code, message } = await refusal();
    expect(code).toBe("DataFileDamaged");
    expect(message).toMatch(/document \w+ does not match its checksum/);
  });

  test.each([
    ["a row that is gone", "DELETE FROM documents WHERE id = (SELECT min(id) FROM documents)"],
    [
      "a row that is there twice",
      "INSERT INTO documents SELECT table_id, id || 'x', ts, value, checksum FROM documents LIMIT 1",
    ],
    ["another timestamp", "UPDATE state SET ts = ts + 1"],
    ["no state", "DELETE FROM state"],
    ["a table that is gone", "DELETE FROM tables"],
    ["no tables of ours", "DROP TABLE documents"],
  ])("by another program that wrote into it: %s", async (_what, statements) => {
    sql(statements);
    expect(await refusal()).toMatchObject({ code: "DataFileDamaged" });
  });

  test("with only its log left", async () => {
    writeFileSync(`${path}-wal`, "x");
    rmSync(path);
    expect(await refusal()).toMatchObject({ code: "DataFileDamaged" });
  });

  test("with a log that holds commits when it is damaged: nothing is written into it", async () => {
    const { database } = await folder.open();
    await transact(database, "more", (tx) => tx.insert("", "t", { n: 1 }));
    // As `kill -9` leaves it: the log beside the file.
    const [file, log] = [readFileSync(path), readFileSync(`${path}-wal`)];
    expect(log.length).toBeGreaterThan(0);
    await folder.remove();
    mkdirSync(folder.directory, { recursive: true });
    // In every page, since some are newer in the log.
    writeFileSync(path, file.toString("latin1").replaceAll("xxxx", "xyxx"), "latin1");
    writeFileSync(`${path}-wal`, log);
    expect(await refusal()).toMatchObject({ code: "DataFileDamaged" });
  });
});

test("a killed process's files are read: the file, its log, and a lock without a holder", async () => {
  const first = await folder.open();
  await transact(first.database, "insert", (tx) => tx.insert("", "t", { n: 1 }));
  const copy = dataFolder();
  mkdirSync(copy.directory);
  for (const name of ["backend.sqlite", "backend.sqlite-wal", "backend.holder.json"]) {
    copyFileSync(join(folder.directory, name), join(copy.directory, name));
  }
  // A write that was torn by the crash: the log ends in something that is no whole commit.
  appendFileSync(join(copy.directory, "backend.sqlite-wal"), Buffer.alloc(1000, 7));
  const second = await copy.open();
  expect(second.database.latestTs).toBeGreaterThan(first.database.latestTs);
  expect(second.database.tables("")).toEqual(["t"]);
  await copy.remove();
});

describe("a folder", () => {
  test("is held by one backend at a time, and the error names the holder", async () => {
    await folder.open();
    const { code, message } = await refusal();
    expect(code).toBe("DataFileInUse");
    expect(message).toContain(`process ${process.pid} on `);
  });

  test("that is a file, or lies in one, is refused", async () => {
    writeFileSync(folder.directory, "");
    for (const directory of [folder.directory, join(folder.directory, "deeper")]) {
      await expect(openSqliteStore(wallEnvironment, { directory })).rejects.toMatchObject({
        code: "DataFolderUnusable",
        message: expect.stringContaining(directory) as string,
      });
    }
  });

  test.skipIf(process.getuid?.() === 0)("that may not be written is refused", async () => {
    mkdirSync(folder.directory, { mode: 0o500 });
    await expect(folder.open()).rejects.toMatchObject({ code: "DataFolderUnusable" });
    chmodSync(folder.directory, 0o700);
  });
});
