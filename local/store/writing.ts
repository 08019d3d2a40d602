/**
 * Writes commits into a data file that this process holds: several in one SQLite transaction, durable when it returns.
 */
import type Libsql from "libsql";
import { checksumOf, minus, plus, SCHEMA } from "./format.js";
import type { EncodedCommit, EncodedTable } from "./messages.js";

export function createDataFile(path: string, Database: typeof Libsql): void {
  const database = new Database(path);
  try {
    database.exec(SCHEMA);
    // Last, and kept in the file: everything above lies in the file itself and not in a log beside it.
    database.exec("PRAGMA journal_mode = WAL");
  } finally {
    database.close();
  }
}

export class DataWriter {
  readonly #database: Libsql.Database;
  readonly #statements: ReturnType<typeof prepare>;
  /** Tables are never removed, so that their ids go up without a gap. */
  #tableIds = new Map<string, number>();
  #digest: number;

  /** `maxBytes` bounds the file; `null` leaves that to the disk. */
  constructor(path: string, Database: typeof Libsql, maxBytes: number | null) {
    this.#database = new Database(path);
    this.#database.exec("PRAGMA journal_mode = WAL");
    // A commit is on the disk when it returns.
    this.#database.exec("PRAGMA synchronous = FULL");
    if (maxBytes !== null) this.#limitTo(maxBytes);
    this.#statements = prepare(this.#database);
    const state = this.#statements.state.get() as { digest: number } | undefined;
    this.#digest = state?.digest ?? 0;
    for (const row of this.#statements.tables.all()) {
      const { id, namespace, name } = row as { id: number; namespace: string; name: string };
      this.#tableIds.set(keyOf(namespace, name), id);
    }
  }

  append(commits: readonly EncodedCommit[]): void {
    const digest = this.#digest;
    const tableIds = new Map(this.#tableIds);
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      for (const commit of commits) this.#write(commit);
      const ts = commits.at(-1)!.ts;
      const checksum = checksumOf(String(ts), this.#digest);
      this.#statements.setState.run(ts, this.#digest, checksum);
      this.#database.exec("COMMIT");
    } catch (error) {
      this.#digest = digest;
      this.#tableIds = tableIds;
      // Where SQLite has rolled back by itself there is nothing to roll back.
      if (this.#database.inTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  close(): void {
    // Prepared statements keep the connection open until they are collected, so nothing is left to its end.
    this.#database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    this.#database.close();
  }

  #write({ ts, tables, writes, settings }: EncodedCommit): void {
    for (const table of tables) this.#writeTable(table);
    for (const [name, value] of settings) this.#writeSetting(name, value);
    for (const { namespace, table, id, value } of writes) {
      const tableId = this.#tableIds.get(keyOf(namespace, table));
      if (tableId === undefined) throw new Error(`A row of "${table}", which was never kept.`);
      this.#writeDocument(tableId, id, ts, value);
    }
  }

  #writeDocument(tableId: number, id: string, ts: bigint, value: string | null): void {
    const { oldDocument, setDocument, deleteDocument } = this.#statements;
    this.#forget(oldDocument.get(tableId, id));
    if (value === null) {
      deleteDocument.run(tableId, id);
      return;
    }
    const checksum = this.#count(checksumOf(tableId, id, String(ts), value));
    setDocument.run(tableId, id, ts, value, checksum);
  }

  #writeTable({ namespace, name, definition }: EncodedTable): void {
    const key = keyOf(namespace, name);
    const known = this.#tableIds.get(key);
    const id = known ?? this.#tableIds.size + 1;
    if (known !== undefined) this.#forget(this.#statements.oldTable.get(id));
    const checksum = this.#count(checksumOf(id, namespace, name, definition));
    this.#statements.setTable.run(id, namespace, name, definition, checksum);
    this.#tableIds.set(key, id);
  }

  #writeSetting(name: string, value: string | null): void {
    this.#forget(this.#statements.oldSetting.get(name));
    if (value === null) {
      this.#statements.deleteSetting.run(name);
      return;
    }
    const checksum = this.#count(checksumOf(name, value));
    this.#statements.setSetting.run(name, value, checksum);
  }

  #count(checksum: number): number {
    this.#digest = plus(this.#digest, checksum);
    return checksum;
  }

  #forget(row: unknown): void {
    if (row === undefined || row === null) return;
    this.#digest = minus(this.#digest, (row as { checksum: number }).checksum);
  }

  #limitTo(maxBytes: number): void {
    const { page_size: pageBytes } = this.#database.prepare("PRAGMA page_size").get() as {
      page_size: number;
    };
    this.#database.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(maxBytes / pageBytes))}`);
  }
}

function prepare(database: Libsql.Database) {
  return {
    state: database.prepare("SELECT digest FROM state"),
    setState: database.prepare("REPLACE INTO state VALUES (1, ?, ?, ?)"),
    tables: database.prepare("SELECT id, namespace, name FROM tables"),
    oldTable: database.prepare("SELECT checksum FROM tables WHERE id = ?"),
    setTable: database.prepare("REPLACE INTO tables VALUES (?, ?, ?, ?, ?)"),
    oldSetting: database.prepare("SELECT checksum FROM settings WHERE name = ?"),
    setSetting: database.prepare("REPLACE INTO settings VALUES (?, ?, ?)"),
    deleteSetting: database.prepare("DELETE FROM settings WHERE name = ?"),
    oldDocument: database.prepare("SELECT checksum FROM documents WHERE table_id = ? AND id = ?"),
    setDocument: database.prepare("REPLACE INTO documents VALUES (?, ?, ?, ?, ?)"),
    deleteDocument: database.prepare("DELETE FROM documents WHERE table_id = ? AND id = ?"),
  };
}

function keyOf(namespace: string, table: string): string {
  return `${namespace}\0${table}`;
}
