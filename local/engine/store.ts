/**
 * Where commits are kept, as the engine sees it. The engine decides about commits and their order; the file, and how it
 * is written, is the store's own (`local/store`).
 */
import type { Doc, IndexSpec, Namespace, Ts } from "./types.js";

/** A table without its rows. Trees are not kept: they are built again from the rows. */
export interface StoredTable {
  namespace: Namespace;
  name: string;
  /** Ids carry it. */
  number: number;
  /** The declared ones; the indexes that every table has are not named. */
  indexes: IndexSpec[];
  /** As in `TableSpec`: absent when nothing is enforced. */
  documentType?: unknown;
}

export interface StoredWrite {
  namespace: Namespace;
  table: string;
  id: string;
  /** `null` when it was deleted. */
  doc: Doc | null;
}

/** The changes of one commit: all of it is kept, or none. */
export interface StoredCommit {
  ts: Ts;
  /** New or changed tables, as they are from now on. Before the writes, which may be to them. */
  tables: readonly StoredTable[];
  writes: readonly StoredWrite[];
  /** As in `Database.settings`; `null` removes one. */
  settings: ReadonlyMap<string, string | null>;
  /** The amount written, for a clock that models how long that takes. */
  size: { documents: number; bytes: number };
}

/** Everything but the rows, at the timestamp of the last commit that was kept. */
export interface StoredState {
  ts: Ts;
  tables: readonly StoredTable[];
  settings: ReadonlyMap<string, string>;
}

export interface Store {
  /** `null` when nothing was ever kept. Called once, before anything else. */
  load(): Promise<StoredState | null>;
  /** All rows of all tables, a table at a time. Called once, after `load`, and read to its end before `append`. */
  rows(): AsyncIterable<{ table: StoredTable; docs: readonly Doc[] }>;
  /**
   * Resolves when all of these will survive any end of the process. In the order of timestamps, one call at a time.
   * When it rejects, it is called again with the same commits: it may or may not have kept them. With a
   * `StoreClosedError` it will never keep any again.
   */
  append(commits: readonly StoredCommit[]): Promise<void>;
  close(): Promise<void>;
}

/** Nothing can be kept any more, so nothing can be committed. */
export class StoreClosedError extends Error {
  override readonly name = "StoreClosedError";
}
