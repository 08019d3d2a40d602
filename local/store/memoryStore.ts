/**
 * A store in memory: its commits outlive a backend that is thrown away, not the process. For worlds and tests in which
 * a backend crashes and is started again.
 */
import {
  StoreClosedError,
  type Store,
  type StoredCommit,
  type StoredState,
} from "../engine/store.js";
import type { StoredTable } from "../engine/store.js";
import type { Doc, Ts } from "../engine/types.js";

interface KeptTable {
  table: StoredTable;
  rows: Map<string, Doc>;
}

export class MemoryStore implements Store {
  #ts: Ts | null = null;
  readonly #tables = new Map<string, KeptTable>();
  readonly #settings = new Map<string, string>();
  #closed = false;

  /** Also opens it again after `close`. */
  load(): Promise<StoredState | null> {
    this.#closed = false;
    if (this.#ts === null) return Promise.resolve(null);
    const tables = [...this.#tables.values()].map(({ table }) => table);
    return Promise.resolve({ ts: this.#ts, tables, settings: new Map(this.#settings) });
  }

  async *rows(): AsyncGenerator<{ table: StoredTable; docs: readonly Doc[] }, void, void> {
    for (const { table, rows } of this.#tables.values()) {
      yield await Promise.resolve({ table, docs: [...rows.values()] });
    }
  }

  /** All that is kept, as it is now. */
  contents(): { table: StoredTable; docs: Doc[] }[] {
    return [...this.#tables.values()].map(({ table, rows }) => ({
      table,
      docs: [...rows.values()],
    }));
  }

  append(commits: readonly StoredCommit[]): Promise<void> {
    if (this.#closed) return Promise.reject(new StoreClosedError("The store is closed."));
    for (const commit of commits) this.#apply(commit);
    return Promise.resolve();
  }

  /** From here on nothing is kept: commits on their way at a crash are lost. */
  close(): Promise<void> {
    this.#closed = true;
    return Promise.resolve();
  }

  #apply({ ts, tables, writes, settings }: StoredCommit): void {
    for (const table of tables) {
      const rows = this.#tables.get(keyOf(table.namespace, table.name))?.rows ?? new Map();
      this.#tables.set(keyOf(table.namespace, table.name), { table, rows });
    }
    for (const { namespace, table, id, doc } of writes) {
      const rows = this.#tables.get(keyOf(namespace, table))!.rows;
      if (doc === null) rows.delete(id);
      else rows.set(id, doc);
    }
    for (const [name, value] of settings) {
      if (value === null) this.#settings.delete(name);
      else this.#settings.set(name, value);
    }
    this.#ts = ts;
  }
}

function keyOf(namespace: string, table: string): string {
  return `${namespace}\0${table}`;
}
