/**
 * Brings the rows of one scan, a fetch at a time: a fetch's cost is spent at once, and is the point at which other
 * transactions may run. It knows nothing of read sets and limits: a row counts when it is taken, not when it is
 * fetched. Rows that were fetched are given as they were then, even when the transaction has written them since.
 * database/src/query/index_range.rs:197.
 */
import type { Environment } from "../environment.js";
import { documentBytes } from "./documents.js";
import { ROWS_PER_FETCH } from "./limits.js";
import type { KeyInterval } from "./range.js";
import type { Index } from "./table.js";
import { countDead, retainedSince } from "./tombstones.js";
import type { Doc, Row, RowWindow } from "./types.js";
import type { ReadTally } from "./usage.js";

export interface Fetched {
  row: Row;
  bytes: number;
}

export class Fetcher {
  #ahead: Fetched[] = [];
  #next = 0;
  /** Whether there may be more behind the fetched rows. */
  #more = true;
  #expected: number;
  readonly #perFetch: number;

  constructor(
    private readonly env: Environment,
    private readonly ascending: boolean,
    private readonly tally: ReadTally,
    { expected = Infinity, perFetch = ROWS_PER_FETCH }: RowWindow,
    /** Gets the ids of the rows brought. */
    private readonly brought: Set<string>,
  ) {
    this.#expected = expected;
    this.#perFetch = perFetch;
  }

  /**
   * The next row: the next fetched one, or the first in `left` of the index as it is now; `null` when there is none.
   */
  async next(index: () => Index, left: KeyInterval): Promise<Fetched | null> {
    for (;;) {
      const found = this.#ahead[this.#next];
      if (found !== undefined) {
        this.#next++;
        this.#expected--;
        return found;
      }
      if (!this.#more) return null;
      const read = index();
      this.#read(read, left);
      await this.#spend(read, left);
    }
  }

  get #wanted(): number {
    return Math.max(1, Math.min(this.#expected, this.#perFetch));
  }

  #read({ tree }: Index, { start, end }: KeyInterval): void {
    const wanted = this.#wanted;
    this.#next = 0;
    this.#ahead = [];
    const entries = this.ascending
      ? tree.entries(start, REUSED)
      : tree.entriesReversed(end, REUSED, true);
    for (const [key, doc] of entries as Iterable<[string, Doc]>) {
      // An iterator begins where the key would be, even when another is there.
      if (this.ascending ? key >= end : key < start) break;
      this.#ahead.push({ row: { key, doc }, bytes: documentBytes(doc) });
      if (this.#ahead.length === wanted) break;
    }
    this.#more = this.#ahead.length === wanted;
  }

  #spend({ tombstones }: Index, left: KeyInterval): Promise<void> {
    const passed =
      tombstones.length === 0
        ? 0
        : countDead(tombstones, this.#scanned(left), retainedSince(this.#now()));
    this.tally.tombstones += passed;
    for (const { row } of this.#ahead) this.brought.add(row.doc._id);
    return this.env.spend({
      kind: "read",
      documents: this.#ahead.length,
      bytes: this.#ahead.reduce((sum, { bytes }) => sum + bytes, 0),
      tombstones: passed,
      wanted: this.#wanted,
    });
  }

  /** As far as the fetch had to go: to its last row, or to the end. */
  #scanned({ start, end }: KeyInterval): KeyInterval {
    const last = this.#ahead.at(-1);
    if (!this.#more || last === undefined) return { start, end };
    return this.ascending ? { start, end: last.row.key } : { start: last.row.key, end };
  }

  #now(): bigint {
    return BigInt(Math.round(this.env.now() * 1e6));
  }
}

/** Saves an array for each row. */
const REUSED: (string | Doc)[] = [];
