/** A store in a data folder: one SQLite file, written by a thread of its own, and held by one process at a time. */
import { hostname } from "node:os";
import { resolve } from "node:path";
import type { Store, StoredCommit, StoredState, StoredTable } from "../engine/store.js";
import type { Doc } from "../engine/types.js";
import type { Environment } from "../environment.js";
import { decodeDocument, decodeTable, encodeCommit } from "./documents.js";
import { StoreThread } from "./threadClient.js";

export interface SqliteStoreOptions {
  /** The data folder; made when it is missing. */
  directory: string;
  /** A bound for the file. Commits that would need more are refused as on a full disk. Defaults to the disk's. */
  maxBytes?: number;
}

/** Throws a `StoreError` when the folder or its contents cannot be used. */
export async function openSqliteStore(
  env: Pick<Environment, "now">,
  { directory, maxBytes }: SqliteStoreOptions,
): Promise<Store> {
  const thread = await StoreThread.start();
  try {
    const { ts, tables, settings } = await thread.ask("open", {
      directory: resolve(directory),
      maxBytes: maxBytes ?? null,
      holder: {
        pid: process.pid,
        host: hostname(),
        since: new Date(env.now()).toISOString(),
      },
    });
    const state = { tables: tables.map(decodeTable), settings: new Map(settings) };
    return new SqliteStore(thread, ts === null ? null : { ...state, ts });
  } catch (error) {
    await thread.end();
    throw error;
  }
}

class SqliteStore implements Store {
  #closing: Promise<void> | undefined;

  constructor(
    private readonly thread: StoreThread,
    private readonly state: StoredState | null,
  ) {}

  load(): Promise<StoredState | null> {
    return Promise.resolve(this.state);
  }

  async *rows(): AsyncGenerator<{ table: StoredTable; docs: readonly Doc[] }, void, void> {
    // While one message is decoded here, the next is read there.
    let next = this.thread.ask("rows", null);
    for (let rows = await next; rows !== null; rows = await next) {
      next = this.thread.ask("rows", null);
      // A caller that stops in between does not wait for it.
      next.catch(() => {});
      yield { table: this.state!.tables[rows.table]!, docs: rows.values.map(decodeDocument) };
    }
    await this.thread.ask("beginWriting", null);
  }

  async append(commits: readonly StoredCommit[]): Promise<void> {
    await this.thread.ask("append", commits.map(encodeCommit));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Earlier requests are done before: the thread does one thing after the other. */
  async #close(): Promise<void> {
    try {
      await this.thread.ask("close", null);
    } finally {
      await this.thread.end();
    }
  }
}
