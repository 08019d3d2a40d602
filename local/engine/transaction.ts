/**
 * One transaction: its view (its snapshot under its own writes) and its read set.
 *
 * It never touches the database's latest state and knows nothing of commits: `database.ts` takes its read set and its
 * outcome when the function is done.
 */
import type { Environment } from "../environment.js";
import { LimitError } from "../limitErrors.js";
import { PLATFORM_LIMITS, type Limits, type TransactionLimits } from "../limits.js";
import { requireAccess, requireTable, requireTableName } from "./access.js";
import { CreationClock } from "./creationClock.js";
import {
  documentBytes,
  makeDocument,
  patched,
  requireDocumentBytes,
  requireSchema,
  sameDocument,
  type Fields,
} from "./documents.js";
import { decodeId, fromOldId, newId } from "./ids.js";
import { Fetcher } from "./fetcher.js";
import { encodeValues, justAfter } from "./keys.js";
import { intervalOf, narrowed, type KeyInterval } from "./range.js";
import { IntervalReadSet } from "./readSet.js";
import { requireRoom } from "./schema.js";
import type { Snapshot } from "./snapshot.js";
import { documentIn, isBuiltIn, isSystemTable, type Index, type Table } from "./table.js";
import { UsageMeter, type ReadTally } from "./usage.js";
import { Workspace, type Outcome } from "./workspace.js";
import type {
  Access,
  Cost,
  Doc,
  IndexRange,
  Namespace,
  Row,
  RowWindow,
  Savepoint,
  Transaction,
  Ts,
  Usage,
} from "./types.js";

export class EngineTransaction implements Transaction {
  readonly reads = new IntervalReadSet();
  limits: Readonly<TransactionLimits>;
  readonly #workspace: Workspace;
  readonly #creation: CreationClock;
  readonly #meter: UsageMeter;
  readonly #readOnly: boolean;
  /**
   * Rows that were brought once: the platform keeps them for the transaction, so that a `get`, `patch` or `delete` of one
   * costs no round trip (database: DatabaseIndexSnapshotCache; it knows ranges too, which is not modeled).
   */
  readonly #brought = new Set<string>();
  #validated = false;

  /** `of` is the transaction that a stale snapshot is for: its limits hold, and reads are on its account. */
  constructor(
    private readonly env: Environment,
    private readonly snapshot: Snapshot,
    readonly global: Readonly<Limits> = PLATFORM_LIMITS,
    of?: { limits: Readonly<TransactionLimits>; tally: ReadTally },
    /** The snapshot that its snapshot queries read. */
    private readonly stale: Snapshot = snapshot,
  ) {
    this.limits = of?.limits ?? global;
    this.#readOnly = of !== undefined;
    this.#meter = new UsageMeter(global, of?.tally);
    this.#workspace = new Workspace(snapshot);
    this.#creation = new CreationClock(env, snapshot.ts);
  }

  get beginTs(): Ts {
    return this.snapshot.ts;
  }

  get usage(): Usage {
    return this.#meter.totals(this.reads.intervals);
  }

  cost(outcome: "committed" | "dropped"): Cost {
    return this.#meter.cost(this.#view, outcome === "committed" ? this.outcome().writes : []);
  }

  get hasWrites(): boolean {
    return this.#workspace.hasWrites;
  }

  /** Whether a commit has to be validated against other commits. */
  get mayConflict(): boolean {
    return this.hasWrites || this.#validated;
  }

  validateReads(): void {
    this.#validated = true;
  }

  async get(
    namespace: Namespace,
    id: string,
    options: Access & { table?: string } = {},
  ): Promise<Doc | null> {
    const table = this.#tableOfId("db.get", namespace, id, options.table);
    if (table !== undefined) requireAccess(table.name, options, "read");
    const doc = table === undefined ? null : this.#read(table, id);
    await this.#spendOn(id, doc);
    return doc;
  }

  async insert(
    namespace: Namespace,
    tableName: string,
    value: Fields,
    access: Access = {},
  ): Promise<string> {
    requireTableName(tableName, this.global);
    requireAccess(tableName, access, "write");
    this.reads.addCatalog();
    const table = this.#view.table(namespace, tableName) ?? this.#newTable(namespace, tableName);
    const id = newId(this.env, table.number);
    const doc = makeDocument(id, this.#creation.next(), value, this.#shapeOf(table));
    const bytes = this.#write(table, null, doc);
    await this.env.spend({ kind: "write", bytes });
    return id;
  }

  async patch(
    namespace: Namespace,
    id: string,
    value: Fields,
    table?: string,
    access: Access = {},
  ): Promise<Doc> {
    return this.#update("db.patch", namespace, id, table, access, (doc) => patched(doc, value));
  }

  async replace(
    namespace: Namespace,
    id: string,
    value: Fields,
    table?: string,
    access: Access = {},
  ): Promise<Doc> {
    return this.#update("db.replace", namespace, id, table, access, () => value);
  }

  async delete(
    namespace: Namespace,
    id: string,
    tableName?: string,
    access: Access = {},
  ): Promise<Doc> {
    const table = this.#tableOfId("db.delete", namespace, id, tableName);
    if (table !== undefined) requireAccess(table.name, access, "write");
    const before = table === undefined ? null : this.#read(table, id);
    if (table === undefined || before === null) {
      throw new Error(`Delete on nonexistent document ID ${id}`);
    }
    const bytes = this.#write(table, before, null);
    await this.#spendOn(id, before);
    await this.env.spend({ kind: "write", bytes });
    return before;
  }

  async *stream(namespace: Namespace, range: IndexRange): AsyncGenerator<Doc, void, void> {
    for await (const row of this.rows(namespace, range)) yield row.doc;
  }

  /**
   * Each fetch reads the transaction's view anew; rows that it brought are yielded as they were, though the transaction
   * has changed them since. After the nth row the read set holds the range up to that row and nothing beyond: a caller
   * that takes n rows and stops does not depend on the rows behind them. Rows that were fetched and not asked for are
   * neither recorded nor counted.
   */
  async *rows(
    namespace: Namespace,
    range: IndexRange,
    window: RowWindow = {},
  ): AsyncGenerator<Row, void, void> {
    requireAccess(range.table, range, "read");
    const start = this.#index(namespace, range);
    if (start === null) return this.#spendOn(null, null);
    const ascending = range.order === "asc";
    let left = narrowed(intervalOf(start.table, start.index, range.range), range.order, window);
    const whole = left;
    const fetcher = new Fetcher(this.env, ascending, this.#meter.tally, window, this.#brought);
    for (;;) {
      // A savepoint that was rolled back may have taken the table away.
      const current = () => this.#index(namespace, range) ?? start;
      const found = await fetcher.next(() => current().index, left);
      const { table, index } = current();
      if (found === null) {
        this.#depend(table, index, whole);
        return;
      }
      const { row, bytes } = found;
      this.#meter.read(table, index, row.doc, this.limits, bytes);
      left = ascending
        ? { start: justAfter(row.key), end: left.end }
        : { start: left.start, end: row.key };
      this.#depend(
        table,
        index,
        ascending ? { start: whole.start, end: left.start } : { start: left.end, end: whole.end },
      );
      yield row;
    }
  }

  normalizeId(namespace: Namespace, table: string, id: string): string | null {
    if (this.tableOf(namespace, id) === table) return id;
    const number = this.#view.table(namespace, table)?.number;
    return number === undefined ? null : fromOldId(id, number);
  }

  tableOf(namespace: Namespace, id: string): string | null {
    return this.#view.tableOfId(namespace, id)?.name ?? null;
  }

  savepoint(): Savepoint {
    const workspace = this.#workspace.savepoint();
    const uncount = this.#meter.savepoint();
    return {
      release: () => {},
      rollback: () => {
        workspace.rollback();
        uncount();
      },
    };
  }

  staleSnapshot(): EngineTransaction {
    const { limits } = this;
    const { tally } = this.#meter;
    return new EngineTransaction(this.env, this.stale, this.global, { limits, tally });
  }

  afterCommit(run: (ts: Ts) => void): void {
    this.#workspace.afterCommit(run);
  }

  outcome(): Outcome {
    return this.#workspace.outcome();
  }

  get #view(): Snapshot {
    return this.#workspace.view;
  }

  /** The common part of `patch` and `replace`: there is no blind update, and one that changes nothing is no write. */
  async #update(
    operation: string,
    namespace: Namespace,
    id: string,
    tableName: string | undefined,
    access: Access,
    change: (doc: Doc) => Fields,
  ): Promise<Doc> {
    const table = this.#tableOfId(operation, namespace, id, tableName);
    if (table !== undefined) requireAccess(table.name, access, "write");
    const before = table === undefined ? null : this.#read(table, id);
    if (table === undefined || before === null) {
      throw new Error(`Update on nonexistent document ID ${id}`);
    }
    const after = makeDocument(id, before._creationTime, change(before), this.#shapeOf(table));
    const isChange = !sameDocument(before, after);
    // In one go with the read: nothing of the same transaction comes between.
    const bytes = isChange ? this.#write(table, before, after) : 0;
    await this.#spendOn(id, before);
    if (isChange) await this.env.spend({ kind: "write", bytes });
    return isChange ? after : before;
  }

  #newTable(namespace: Namespace, name: string): Table {
    const table = this.#workspace.createTable(namespace, name);
    requireRoom(this.#view, this.global);
    return table;
  }

  /** The system's rows hold arguments, as deep as any value that travels, inside of their own fields. */
  #shapeOf(table: Table): Limits {
    if (!isSystemTable(table.name)) return this.global;
    return { ...this.global, documentNesting: this.global.valueNesting + 2 };
  }

  /** The cost of reading one document, or of finding that there is none. */
  #spendOn(id: string | null, doc: Doc | null): Promise<void> {
    const found =
      doc === null ? { documents: 0, bytes: 0 } : { documents: 1, bytes: documentBytes(doc) };
    const isThere = id !== null && this.#brought.has(id);
    if (id !== null) this.#brought.add(id);
    const read = { kind: "read", ...found, tombstones: 0, wanted: 1 } as const;
    return this.env.spend(isThere ? { ...read, isThere } : read);
  }

  #tableOfId(
    operation: string,
    namespace: Namespace,
    id: string,
    wanted: string | undefined,
  ): Table | undefined {
    this.reads.addCatalog();
    const table = this.#view.tableOfId(namespace, id);
    if (table !== undefined) requireTable(operation, wanted, table.name);
    else if (decodeId(id) === null) {
      throw new Error(
        `Invalid argument \`id\` for \`${operation}\`: "${id}" is not a document ID. ` +
          `Use \`db.normalizeId\` for strings that may not be one.`,
      );
    }
    return table;
  }

  /** Found or not, the transaction depends on that id. */
  #read(table: Table, id: string): Doc | null {
    const key = encodeValues([id]);
    this.#depend(table, table.indexes.get("by_id")!, { start: key, end: justAfter(key) });
    const doc = documentIn(table, id);
    if (doc !== null) this.#meter.read(table, undefined, doc, this.limits);
    return doc;
  }

  /** The bytes that it writes. */
  #write(table: Table, before: Doc | null, after: Doc | null): number {
    if (this.#readOnly) {
      throw new Error("A stale snapshot is read-only: write in the mutation that asked for it.");
    }
    const bytes = after === null ? 0 : documentBytes(after);
    if (after !== null) {
      if (!isSystemTable(table.name)) requireDocumentBytes(bytes, this.global);
      requireSchema(table.name, table.documentType, after, (id) =>
        this.tableOf(table.namespace, id),
      );
    }
    this.#meter.writing(table, bytes, this.limits);
    this.#workspace.write(table, (after ?? before)!._id, before, after);
    return bytes;
  }

  /** `null` when the table is not there: such a table is empty, but has no indexes of its own to name. */
  #index(namespace: Namespace, range: IndexRange): { table: Table; index: Index } | null {
    this.reads.addCatalog();
    const table = this.#view.table(namespace, range.table);
    const index = table?.indexes.get(range.index);
    if (table !== undefined && index !== undefined) return { table, index };
    if (isBuiltIn(range.index) && table === undefined) return null;
    throw new Error(`Index ${range.table}.${range.index} not found.`);
  }

  #depend(table: Table, index: Index, { start, end }: KeyInterval): void {
    this.reads.add(index.id, start, end, !isSystemTable(table.name));
    if (this.reads.intervals > this.limits.databaseQueries) {
      throw new LimitError("databaseQueries", this.limits, this.global);
    }
  }
}
