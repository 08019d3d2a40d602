/**
 * The commits of the last while, in the order of their timestamps, and whether any of them contradicts a read set.
 *
 * A commit enters when its timestamp is assigned, before it is published: the next validation must see it, although it
 * is not visible yet. So it can happen that a transaction conflicts with a commit that is later than its own reason to
 * validate.
 */
import { OutOfRetentionError } from "./conflict.js";
import { documentBytes } from "./documents.js";
import type { Key } from "./keys.js";
import { LOG_RETENTION_MS, MAX_LOG_ENTRIES } from "./limits.js";
import { CATALOG, CATALOG_KEY, type IndexId, type IntervalReadSet } from "./readSet.js";
import type { Snapshot } from "./snapshot.js";
import { keyOf, type Write } from "./table.js";
import type { ConflictInfo, Doc, PublishedCommit, ReadSet, Ts } from "./types.js";

const LOG_RETENTION_NS = BigInt(LOG_RETENTION_MS) * 1_000_000n;

/**
 * The bytes of an entry beside its document or key (persistence.rs): the commit's timestamp and the document's id, the
 * timestamp before it, and in an index the timestamp and the index's id, with the document's id unless it is gone.
 */
const TS_BYTES = 8;
const DOCUMENT_ID_BYTES = 32;
const INDEX_ENTRY_BYTES = TS_BYTES + 16;

function logEntryBytes(before: Doc | null, after: Doc | null): number {
  const document = after === null ? 0 : documentBytes(after);
  return TS_BYTES + DOCUMENT_ID_BYTES + document + (before === null ? 0 : TS_BYTES);
}

interface TouchedKey {
  key: Key;
  table: string;
  id: string;
}

export class CommitRecord implements PublishedCommit {
  readonly #touched = new Map<IndexId, TouchedKey[]>();
  #bytes = 0;

  constructor(
    readonly ts: Ts,
    readonly source: string,
    readonly author = source,
  ) {}

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * A write touches every index of its table at its old and its new place, also where these are the same: a transaction
   * that read the row through any index depends on all of its fields.
   */
  addWrites(tables: Snapshot, writes: readonly Write[]): void {
    for (const { namespace, table: name, id, before, after } of writes) {
      this.#bytes += logEntryBytes(before, after);
      for (const index of tables.table(namespace, name)?.indexes.values() ?? []) {
        const oldKey = before && keyOf(index, before);
        const newKey = after && keyOf(index, after);
        if (newKey !== null) {
          this.#add(index.id, { key: newKey, table: name, id });
          this.#bytes += newKey.length + INDEX_ENTRY_BYTES + DOCUMENT_ID_BYTES;
        }
        if (oldKey !== null && oldKey !== newKey) {
          this.#add(index.id, { key: oldKey, table: name, id });
          this.#bytes += oldKey.length + INDEX_ENTRY_BYTES;
        }
      }
    }
  }

  addCatalogChange(table: string): void {
    this.#add(CATALOG, { key: CATALOG_KEY, table: "_tables", id: table });
  }

  touches(reads: ReadSet): boolean {
    return this.firstTouched(reads as IntervalReadSet) !== undefined;
  }

  firstTouched(reads: IntervalReadSet): TouchedKey | undefined {
    for (const [index, touched] of this.#touched) {
      const hit = touched.find(({ key }) => reads.has(index, key));
      if (hit !== undefined) return hit;
    }
    return undefined;
  }

  #add(index: IndexId, touched: TouchedKey): void {
    const known = this.#touched.get(index);
    if (known === undefined) this.#touched.set(index, [touched]);
    else known.push(touched);
  }
}

export class WriteLog {
  #records: CommitRecord[] = [];
  #trimmedThrough: Ts = 0n;

  /** In the order of timestamps. */
  add(record: CommitRecord): void {
    this.#records.push(record);
  }

  /** The first commit after `beginTs`, published or not, that wrote into the read set. */
  conflict(reads: IntervalReadSet, beginTs: Ts): ConflictInfo | null {
    if (beginTs < this.#trimmedThrough)
      throw OutOfRetentionError.validating(beginTs, this.#trimmedThrough);
    for (let i = this.#firstAfter(beginTs); i < this.#records.length; i++) {
      const record = this.#records[i]!;
      const hit = record.firstTouched(reads);
      if (hit !== undefined) {
        const { source, author, ts } = record;
        return { table: hit.table, id: hit.id, source, author, ts };
      }
    }
    return null;
  }

  /** Forgets commits that are old enough, up to the published ones. */
  trim(now: Ts, published: Ts): void {
    const horizon = now - LOG_RETENTION_NS;
    const surplus = this.#records.length - MAX_LOG_ENTRIES;
    let count = 0;
    for (const record of this.#records) {
      if (record.ts > published || (record.ts >= horizon && count >= surplus)) break;
      this.#trimmedThrough = record.ts;
      count++;
    }
    if (count > 0) this.#records.splice(0, count);
  }

  #firstAfter(ts: Ts): number {
    let low = 0;
    let high = this.#records.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#records[middle]!.ts > ts) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
