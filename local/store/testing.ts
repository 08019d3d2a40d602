/** The shared parts of the tests of stores: a data folder that goes away, and databases on it, one after the other. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../engine/database.js";
import type { Store } from "../engine/store.js";
import type { Database } from "../engine/types.js";
import { wallEnvironment, type Environment } from "../environment.js";
import { openSqliteStore, type SqliteStoreOptions } from "./sqliteStore.js";

export interface DataFolder {
  directory: string;
  /** A database on this folder. `close` it before the next. */
  open(options?: Omit<SqliteStoreOptions, "directory">, env?: Environment): Promise<OpenDatabase>;
  remove(): Promise<void>;
}

export interface OpenDatabase {
  database: Database;
  store: Store;
  close(): Promise<void>;
}

export function dataFolder(): DataFolder {
  const parent = mkdtempSync(join(tmpdir(), "conveyor-store-"));
  const directory = join(parent, "data");
  const stores = new Set<Store>();
  return {
    directory,
    async open(options = {}, env = wallEnvironment) {
      const store = await openSqliteStore(env, { directory, ...options });
      stores.add(store);
      try {
        const database = await openDatabase(env, { store });
        return { database, store, close: () => store.close() };
      } catch (error) {
        await store.close();
        throw error;
      }
    },
    async remove() {
      for (const store of stores) await store.close();
      rmSync(parent, { recursive: true, force: true });
    },
  };
}
