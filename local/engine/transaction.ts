/**
 * One transaction: what it sees (its snapshot under its own writes) and what it depends on.
 *
 * It never touches the database's latest state and knows nothing of commits: `database.ts` takes its read set and its
 * outcome when the function is done.
 */
import type { Environment } from "../environment.js";
import { requireAccess, requireTable, requireTableName } from "./access.js";
import { CreationClock } from "./creationClock.js";
import {
  documentBytes,
  makeDocument,
  patched,
  requireSchema,
  sameDocument,
  type Fields,
} from "./documents.js";
import { decodeId, newId } from "./ids.js";
import { encodeValues, justAfter, type Key } from "./keys.js";
import { ROWS_PER_FETCH } from "./limits.js";
import { intervalOf, narrowed, type KeyInterval } from "./range.js";
import { IntervalReadSet } from "./readSet.js";
import type { Snapshot } from "./snapshot.js";
import { documentIn, isBuiltIn, isSystemTable, type Index, type Table } from "./table.js";
import { UsageMeter } from "./usage.js";
import { Workspace, type Outcome } from "./workspace.js";
import type {
  Access,
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
  readonly #workspace: Workspace;
  readonly #creation: CreationClock;
  readonly #meter = new UsageMeter();
  #validated = false;

  constructor(
    private readonly env: Environment,
    private readonly snapshot: Snapshot,
    private readonly readOnly = false,
  ) {
    this.#workspace = new Workspace(snapshot);
    this.#creation = new CreationClock(env, snapshot.ts);
  }

  get beginTs(): Ts {
    return this.snapshot.ts;
  }

  get usage(): Usage {
    return this.#meter.totals(this.reads.intervals);
  }

  get hasWrites(): boolean {
    return this.#workspace.hasWrites;
  }

  /** Whether a commit has to look at what others wrote. */
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
    await this.env.pause();
    const table = this.#tableOfId("db.get", namespace, id, options.table);
    if (table === undefined) return null;
    requireAccess(table.name, options, "read");
    return this.#read(table, id);
  }

  async insert(
    namespace: Namespace,
    tableName: string,
    value: Fields,
    access: Access = {},
  ): Promise<string> {
    await this.env.pause();
    requireTableName(tableName);
    requireAccess(tableName, access, "write");
    this.reads.addCatalog();
    const table =
      this.#view.table(namespace, tableName) ?? this.#workspace.createTable(namespace, tableName);
    const id = newId(this.env, table.number);
    this.#write(table, null, makeDocument(id, this.#creation.next(), value));
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
    await this.env.pause();
    const table = this.#tableOfId("db.delete", namespace, id, tableName);
    if (table !== undefined) requireAccess(table.name, access, "write");
    const before = table === undefined ? null : this.#read(table, id);
    if (table === undefined || before === null) {
      throw new Error(`Delete on nonexistent document ID ${id}`);
    }
    this.#write(table, before, null);
    return before;
  }

  async *stream(namespace: Namespace, range: IndexRange): AsyncGenerator<Doc, void, void> {
    for await (const row of this.rows(namespace, range)) yield row.doc;
  }

  /**
   * Each step looks at the transaction's view anew, so rows written meanwhile ahead of the stream are met. After the
   * nth row the read set holds the range up to that row and nothing beyond: whoever takes n rows and stops does not
   * depend on what follows them.
   */
  async *rows(
    namespace: Namespace,
    range: IndexRange,
    window: RowWindow = {},
  ): AsyncGenerator<Row, void, void> {
    await this.env.pause();
    requireAccess(range.table, range, "read");
    const start = this.#index(namespace, range);
    if (start === null) return;
    const ascending = range.order === "asc";
    let left = narrowed(intervalOf(start.table, start.index, range.range), range.order, window);
    const whole = left;
    for (let count = 1; ; count++) {
      // A savepoint that was rolled back may have taken the table away.
      const { table, index } = this.#index(namespace, range) ?? start;
      const row = firstRow(index, left, ascending);
      if (row === null) {
        this.#depend(table, index, whole);
        return;
      }
      left = ascending
        ? { start: justAfter(row.key), end: left.end }
        : { start: left.start, end: row.key };
      this.#depend(
        table,
        index,
        ascending ? { start: whole.start, end: left.start } : { start: left.end, end: whole.end },
      );
      this.#meter.read(table, index, row.doc);
      yield row;
      if (count % ROWS_PER_FETCH === 0) await this.env.pause();
    }
  }

  normalizeId(namespace: Namespace, table: string, id: string): string | null {
    return this.tableOf(namespace, id) === table ? id : null;
  }

  tableOf(namespace: Namespace, id: string): string | null {
    return this.#view.tableOfId(namespace, id)?.name ?? null;
  }

  savepoint(): Savepoint {
    return this.#workspace.savepoint();
  }

  staleSnapshot(): EngineTransaction {
    return new EngineTransaction(this.env, this.snapshot, true);
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

  /** What `patch` and `replace` share: there is no blind update, and one that changes nothing is no write. */
  async #update(
    operation: string,
    namespace: Namespace,
    id: string,
    tableName: string | undefined,
    access: Access,
    change: (doc: Doc) => Fields,
  ): Promise<Doc> {
    await this.env.pause();
    const table = this.#tableOfId(operation, namespace, id, tableName);
    if (table !== undefined) requireAccess(table.name, access, "write");
    const before = table === undefined ? null : this.#read(table, id);
    if (table === undefined || before === null) {
      throw new Error(`Update on nonexistent document ID ${id}`);
    }
    const after = makeDocument(id, before._creationTime, change(before));
    if (sameDocument(before, after)) return before;
    this.#write(table, before, after);
    return after;
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
    if (doc !== null) this.#meter.read(table, undefined, doc);
    return doc;
  }

  #write(table: Table, before: Doc | null, after: Doc | null): void {
    if (this.readOnly) {
      throw new Error("A stale snapshot is read-only: write in the mutation that asked for it.");
    }
    if (after !== null) {
      documentBytes(after);
      requireSchema(table.name, table.documentType, after, (id) =>
        this.tableOf(table.namespace, id),
      );
    }
    this.#workspace.write(table, (after ?? before)!._id, before, after);
    this.#meter.written(table, after);
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
  }
}

function firstRow(index: Index, { start, end }: KeyInterval, ascending: boolean): Row | null {
  const pair: [Key, Doc] | undefined = ascending
    ? index.tree.getPairOrNextHigher(start)
    : index.tree.nextLowerPair(end);
  if (pair === undefined || pair[0] < start || pair[0] >= end) return null;
  return { key: pair[0], doc: pair[1] };
}
