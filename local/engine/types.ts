/**
 * The engine's interface (`local/engine`) for the code that runs functions on it (`local/functions`).
 *
 * The engine knows tables, indexes, transactions and commits. It knows nothing of functions, modules, clients, HTTP.
 * The facts about the platform that it reproduces are the titles of its tests.
 */
import type { Value } from "convex/values";
import type { Limits, TransactionLimits } from "../limits.js";
import type { Store } from "./store.js";

/** Where a component instance's tables live: `""` for the app, `"conveyor"`, `"conveyor/child"`. */
export type Namespace = string;
/** A document with its system fields, as a function sees it. */
export type Doc = { _id: string; _creationTime: number; [field: string]: Value | undefined };
/** Commit timestamps: nanoseconds since the epoch. */
export type Ts = bigint;

export interface IndexSpec {
  /** Without the table: `by_creation_time`, `status`. */
  name: string;
  /** Field paths, without the trailing `_creationTime` (and `_id`) that every index has. */
  fields: string[];
}

/** One table of a schema; `documentType` is the CLI's JSON validator, absent when not to be enforced. */
export interface TableSpec {
  name: string;
  indexes: IndexSpec[];
  documentType?: unknown;
}

/** The new definitions of one namespace's tables. */
export interface SchemaChange {
  namespace: Namespace;
  tables: TableSpec[];
  enforce: boolean;
}

export interface DatabaseOptions {
  /**
   * From a commit's validation to its publication, in ms. Defaults to 2, an assumption and not a measurement; with a
   * store to 0, since that takes its own time.
   */
  publishLatencyMs?: number;
  /** Where commits are kept before they are published: for `openDatabase`, which begins with the store's rows. */
  store?: Store;
  /** Instead of the platform's. */
  limits?: Partial<Limits>;
  /** For tests that show that a broken engine is caught: commits are not validated. */
  skipValidation?: boolean;
  /**
   * For simulations: whether this commit is refused as if another had written into its read set; `author` is its
   * function. Asked of each that may conflict.
   */
  refuses?: (author: string) => boolean;
  /**
   * For simulations: the age, in milliseconds, of the snapshot that a transaction's snapshot queries read, when it
   * begins. The platform promises no age. Defaults to 0: the newest.
   */
  snapshotLagMs?: () => number;
}

export interface Database {
  /** The latest published timestamp. */
  readonly latestTs: Ts;
  readonly limits: Readonly<Limits>;
  /**
   * Begins a transaction on the latest published snapshot, or on the one that was the latest at `at`. Throws an
   * `OutOfRetentionError` when that is more than some seconds ago, or yet to come.
   */
  begin(at?: Ts): Transaction;
  /**
   * Validates and commits. A transaction without writes returns its begin timestamp, and is not validated unless it
   * asked for that. Resolves when the commit is published. Throws `ConflictError`. `source` names the function in
   * conflict messages of other functions; `author` is the function itself, where the platform calls it something else.
   */
  commit(transaction: Transaction, source: string, author?: string): Promise<Ts>;
  /** Resolves once `ts` is published. */
  published(ts: Ts): Promise<void>;
  /** Calls back after each publication, synchronously, in order. Returns the way to stop. */
  onPublish(listener: (commit: PublishedCommit) => void): () => void;
  /**
   * Creates missing tables and indexes (backfilled), drops removed indexes, sets documents' validators. Published as a
   * commit of its own, with which every transaction under way conflicts; none when nothing changes. Tables that are not
   * named lose their declared indexes, but only tables of the same kind: a list of system tables leaves the app's
   * alone, and the other way round.
   */
  applySchema(
    namespace: Namespace,
    tables: TableSpec[],
    options: { enforce: boolean },
  ): Promise<void>;
  /**
   * The same for several namespaces in one commit: all of it, or, when a row does not match or a schema is refused,
   * nothing. `visible` is called in the moment of publication, before any listener. `settings` change with it; `null`
   * removes one.
   */
  applySchemas(
    changes: readonly SchemaChange[],
    visible?: () => void,
    settings?: ReadonlyMap<string, string | null>,
  ): Promise<void>;
  /**
   * Texts that are kept beside the rows for the code that runs on the engine (the deployment, the admin key). The
   * engine does not read them.
   */
  readonly settings: ReadonlyMap<string, string>;
  /** Checks existing rows against new validators, without changing anything. Throws an Error that names table and row. */
  checkSchema(namespace: Namespace, tables: TableSpec[]): Promise<void>;
  /** Table names of a namespace, system tables included. */
  tables(namespace: Namespace): string[];
}

export interface PublishedCommit {
  ts: Ts;
  source: string;
  /** The size of its stored form: documents and index entries, system tables included. */
  readonly bytes: number;
  /** Whether the commit wrote anything that lies in this read set. */
  touches(reads: ReadSet): boolean;
}

/** A transaction's dependencies: intervals of index keys. */
export interface ReadSet {
  readonly intervals: number;
  /** A read set of both. */
  union(other: ReadSet): ReadSet;
}

/** A transaction's use of its limits so far. */
export interface Usage {
  documentsRead: number;
  bytesRead: number;
  documentsWritten: number;
  bytesWritten: number;
  /** Rows of an index that were visited to answer, filtered ones included. */
  rowsTouched: number;
  databaseQueries: number;
}

/** Documents, and bytes with the keys of the declared indexes: as the platform bills them. */
export interface Io {
  documentsRead: number;
  bytesRead: number;
  documentsWritten: number;
  bytesWritten: number;
}

/** A transaction's cost to the store. */
export interface Cost {
  user: Io;
  /** Of tables with names that begin with `_`, which the platform does not bill as the app's. */
  system: Io;
  /** Dead index entries that its scans passed. */
  tombstones: number;
}

export type RangeBound =
  | { type: "Eq"; fieldPath: string; value: Value | undefined }
  | { type: "Gt" | "Gte" | "Lt" | "Lte"; fieldPath: string; value: Value | undefined };

export interface IndexRange {
  table: string;
  index: string;
  range: RangeBound[];
  order: "asc" | "desc";
  /** As in `Access`. */
  system?: boolean;
}

/** Which tables an operation may name. */
export interface Access {
  /**
   * True for the platform's own work: system tables (`_scheduled_functions`, `_storage`) alone, and nothing of it
   * counts in `usage`. Defaults to false: the app's tables alone.
   */
  system?: boolean;
}

/** A document and its place in the index that is being read. The key is opaque; it orders as the index does. */
export interface Row {
  key: string;
  doc: Doc;
}

/** A part of a range, in the stream's order: the rows behind one key, up to and including another. */
export interface RowWindow {
  after?: string;
  until?: string;
  /** The most rows that the reader will take, where it knows: so many and no more are fetched. */
  expected?: number;
  /** The most rows that one fetch takes. Defaults to the platform's 100. */
  perFetch?: number;
}

/**
 * One transaction. Every method that touches the database is a point at which other transactions may begin, run and
 * commit. All of a nested call's transaction state lives here too: `savepoint`, `release`, `rollback`.
 */
export interface Transaction {
  readonly beginTs: Ts;
  readonly reads: ReadSet;
  readonly usage: Usage;
  /**
   * The bounds of `usage`, for the engine's counters; a call that goes over throws a `LimitError`. A nested call may be
   * given less: the code that lowers them puts them back.
   */
  limits: Readonly<TransactionLimits>;
  /** The platform's, or the limits that its database was made with. */
  readonly global: Readonly<Limits>;
  /** Writes count as committed ones, or not at all. Reads on stale snapshots are among its reads. */
  cost(outcome: "committed" | "dropped"): Cost;
  /** Whether there is anything to commit. */
  readonly hasWrites: boolean;
  /** From now on its reads are validated when it commits, whether it has written or not. */
  validateReads(): void;

  /**
   * `null` when there is no such document in that namespace. Throws when the id is another table's and `table` is
   * given. Documents are shared with every other reader: they are never changed.
   */
  get(namespace: Namespace, id: string, options?: Access & { table?: string }): Promise<Doc | null>;
  /** Takes `value` over: the caller does not change it any more. The same for `patch` and `replace`. */
  insert(
    namespace: Namespace,
    table: string,
    value: Record<string, Value | undefined>,
    access?: Access,
  ): Promise<string>;
  /** `undefined` removes a field. */
  patch(
    namespace: Namespace,
    id: string,
    value: Record<string, Value | undefined>,
    table?: string,
    access?: Access,
  ): Promise<Doc>;
  replace(
    namespace: Namespace,
    id: string,
    value: Record<string, Value | undefined>,
    table?: string,
    access?: Access,
  ): Promise<Doc>;
  delete(namespace: Namespace, id: string, table?: string, access?: Access): Promise<Doc>;
  /** Rows in order, own writes included; the read set grows with each row yielded. */
  stream(namespace: Namespace, range: IndexRange): AsyncGenerator<Doc, void, void>;
  /** As `stream`, with the rows' keys and for a part of the range: the rows of pages. */
  rows(
    namespace: Namespace,
    range: IndexRange,
    window?: RowWindow,
  ): AsyncGenerator<Row, void, void>;
  /** The id if it is one of this table's in this namespace, else `null`. Touches nothing. */
  normalizeId(namespace: Namespace, table: string, id: string): string | null;
  /** The table an id belongs to in this namespace, else `null`. */
  tableOf(namespace: Namespace, id: string): string | null;

  savepoint(): Savepoint;
  /** Another transaction on the same begin snapshot: own writes hidden, its reads forgotten (`useStaleSnapshot`). */
  staleSnapshot(): Transaction;
  /** Runs when the commit has been published; dropped with a rolled back savepoint. */
  afterCommit(run: (ts: Ts) => void): void;
}

/** A nested call's place to return to: its writes go, its reads stay. */
export interface Savepoint {
  release(): void;
  rollback(): void;
}

/** Another commit wrote into this transaction's read set. */
export interface ConflictInfo {
  table: string;
  id: string;
  /** The writer's name for its commit. */
  source: string;
  /** The function that wrote it, where that is another name. */
  author: string;
  ts: Ts;
}
