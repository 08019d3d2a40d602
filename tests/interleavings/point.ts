/**
 * A point in the history of a database that can go on in more than one way. Built from the engine's own parts (its snapshots, its
 * transactions, its record of a commit's writes), so that conflicts are the same here and there; but no call waits, and no past
 * point ever changes.
 */
import { resolveCommitTs } from "../../local/engine/documents.js";
import { changedTables } from "../../local/engine/schema.js";
import { Snapshot } from "../../local/engine/snapshot.js";
import { EngineTransaction } from "../../local/engine/transaction.js";
import type { Doc, Namespace, ReadSet, SchemaChange } from "../../local/engine/types.js";
import { CommitRecord } from "../../local/engine/writeLog.js";
import type { Environment } from "../../local/environment.js";
import { PLATFORM_LIMITS } from "../../local/limits.js";

export class Point {
  /** By transaction that committed here: the same commit at the same point leads to the same point. */
  readonly #next = new Map<EngineTransaction, Point>();

  private constructor(
    private readonly env: Environment,
    private readonly snapshot: Snapshot,
    readonly before: Point | null,
    private readonly record: CommitRecord | null,
    /** For controls: `false` commits without validation. */
    private readonly validates: boolean,
  ) {}

  /** Before anything: empty tables. */
  static first(env: Environment, schemas: readonly SchemaChange[], validates: boolean): Point {
    let snapshot = Snapshot.empty(nanoseconds(env));
    for (const { namespace, tables, enforce } of schemas) {
      const changed = changedTables(snapshot, namespace, tables, enforce, PLATFORM_LIMITS);
      snapshot = snapshot.withTables(changed);
    }
    return new Point(env, snapshot, null, null, validates);
  }

  begin(): EngineTransaction {
    return new EngineTransaction(this.env, this.snapshot, PLATFORM_LIMITS);
  }

  /** The point after this transaction, which may have begun at any earlier one; `null` if it conflicts. */
  commit(transaction: EngineTransaction, source: string): Point | null {
    if (!transaction.mayConflict) return this;
    if (this.validates && this.touchedSince(transaction.beginTs, transaction.reads)) return null;
    if (!transaction.hasWrites) return this;
    const known = this.#next.get(transaction);
    if (known !== undefined) return known;
    const now = nanoseconds(this.env);
    const ts = now > this.snapshot.ts ? now : this.snapshot.ts + 1n;
    const { writes, createdTables } = transaction.outcome();
    const record = new CommitRecord(ts, source);
    const resolved = writes.map((write) => ({
      ...write,
      after: write.after && resolveCommitTs(write.after, ts),
    }));
    const tables = this.snapshot.withTables(createdTables);
    record.addWrites(tables, resolved);
    const after = tables.withWrites(resolved, ts).at(ts);
    const next = new Point(this.env, after, this, record, this.validates);
    this.#next.set(transaction, next);
    return next;
  }

  /** Whether any commit after `ts`, up to here, wrote into the read set. */
  touchedSince(ts: bigint, reads: ReadSet): boolean {
    if (this.record === null || this.record.ts <= ts) return false;
    return this.record.touches(reads) || this.before!.touchedSince(ts, reads);
  }

  /** The rows of all its tables. */
  tables(namespace: Namespace): Record<string, Doc[]> {
    const names = [...this.snapshot.tables(namespace)].map(({ name }) => name).sort();
    return Object.fromEntries(names.map((name) => [name, this.rows(namespace, name)]));
  }

  rows<Row = Doc>(namespace: Namespace, table: string): Row[] {
    const tree = this.snapshot.table(namespace, table)?.indexes.get("by_id")?.tree;
    return [...(tree?.values() ?? [])] as Row[];
  }
}

function nanoseconds(env: Environment): bigint {
  return BigInt(Math.round(env.now() * 1e6));
}
