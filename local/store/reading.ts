/**
 * Reads a data file from end to end, over a connection that cannot write: a file that turns out to be damaged is as it
 * was. Everything is checked on the way, since nothing of a damaged file is to be served.
 */
import { pathToFileURL } from "node:url";
import type Libsql from "libsql";
import { damaged } from "./errors.js";
import { checksumOf, plus } from "./format.js";
import type { EncodedRows, EncodedState, EncodedTable } from "./messages.js";

/** Rows that go to the other thread in one message. */
const ROWS_PER_MESSAGE = 1000;

export class DataReader {
  readonly #database: Libsql.Database;
  /** The tables' places in the state, by their ids in the file. */
  readonly #places = new Map<number, number>();
  #digest = 0;
  #wanted: number | null = null;

  constructor(
    private readonly path: string,
    Database: typeof Libsql,
  ) {
    this.#database = new Database(`${pathToFileURL(path).href}?mode=ro`);
  }

  state(): EncodedState {
    // One snapshot for all that is read from here on.
    this.#database.exec("BEGIN");
    const found = this.#all<[string]>("PRAGMA quick_check(1)")[0]?.[0];
    if (found !== "ok") throw damaged(this.path, String(found).replaceAll("\n", " "));
    const settings = this.#settings();
    const tables = this.#tables();
    const [state] = this.#all<[string, number, number]>(
      "SELECT CAST(ts AS TEXT), digest, checksum FROM state",
    );
    if (state === undefined) {
      if (tables.length + settings.length > 0) throw damaged(this.path, "its state is gone");
      return { ts: null, tables, settings };
    }
    const [ts, digest, checksum] = state;
    this.#require(checksum === checksumOf(ts, digest), "its state");
    this.#wanted = digest;
    return { ts: BigInt(ts), tables, settings };
  }

  /** Throws at the end when rows are missing or too many. */
  *rows(): Generator<EncodedRows, void, void> {
    let batch: EncodedRows = { table: -1, values: [] };
    const rows = this.#select<[number, string, string, string, number]>(
      "SELECT table_id, id, CAST(ts AS TEXT), value, checksum FROM documents ORDER BY table_id, id",
    );
    for (const [tableId, id, ts, value, checksum] of rows) {
      this.#count(checksum, checksumOf(tableId, id, ts, value), `document ${id}`);
      const table = this.#places.get(tableId);
      if (table === undefined) throw damaged(this.path, `document ${id} is of an unknown table`);
      if (table !== batch.table || batch.values.length === ROWS_PER_MESSAGE) {
        if (batch.values.length > 0) yield batch;
        batch = { table, values: [] };
      }
      batch.values.push(value);
    }
    if (batch.values.length > 0) yield batch;
    this.#require(this.#digest === (this.#wanted ?? 0), "the sum of all rows");
  }

  close(): void {
    if (this.#database.inTransaction) this.#database.exec("COMMIT");
    this.#database.close();
  }

  #settings(): [string, string][] {
    const settings = this.#all<[string, string, number]>(
      "SELECT name, value, checksum FROM settings",
    );
    return settings.map(([name, value, checksum]) => {
      this.#count(checksum, checksumOf(name, value), `setting ${name}`);
      return [name, value];
    });
  }

  #tables(): EncodedTable[] {
    const tables = this.#all<[number, string, string, string, number]>(
      "SELECT id, namespace, name, definition, checksum FROM tables ORDER BY id",
    );
    return tables.map(([id, namespace, name, definition, checksum], place) => {
      this.#count(checksum, checksumOf(id, namespace, name, definition), `table ${name}`);
      this.#places.set(id, place);
      return { namespace, name, definition };
    });
  }

  #count(checksum: number, computed: number, what: string): void {
    this.#require(checksum === computed, what);
    this.#digest = plus(this.#digest, checksum);
  }

  #require(holds: boolean, what: string): void {
    if (!holds) throw damaged(this.path, `${what} does not match its checksum`);
  }

  #all<Row extends unknown[]>(sql: string): Row[] {
    return [...this.#select<Row>(sql)];
  }

  #select<Row extends unknown[]>(sql: string): Iterable<Row> {
    return this.#database.prepare(sql).raw().iterate() as Iterable<Row>;
  }
}
