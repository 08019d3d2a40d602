/**
 * A transaction's use so far. It has two counts, as the platform does. For the limits it counts the documents that the
 * function's own calls read and wrote. For the bill it counts documents with the keys of the declared indexes that led
 * to them, reads of a stale snapshot included. System tables count in neither, but by themselves.
 */
import type { Value } from "convex/values";
import { LimitError, SystemLimitError } from "../limitErrors.js";
import type { Limits, TransactionLimits } from "../limits.js";
import { documentBytes, keyBytes, readKeyBytes } from "./documents.js";
import { fieldOf, isSystemTable, type Index, type Table, type Write } from "./table.js";
import type { Cost, Doc, Io, Usage } from "./types.js";
import type { Snapshot } from "./snapshot.js";

/** The reads on behalf of one transaction, shared with its stale snapshots. */
export class ReadTally {
  readonly user = { documents: 0, bytes: 0 };
  readonly system = { documents: 0, bytes: 0 };
  tombstones = 0;
}

export class UsageMeter {
  #documentsRead = 0;
  #bytesRead = 0;
  #documentsWritten = 0;
  #bytesWritten = 0;
  #rowsTouched = 0;
  readonly #system = { documents: 0, bytes: 0 };

  constructor(
    private readonly global: Readonly<Limits>,
    readonly tally = new ReadTally(),
  ) {}

  totals(databaseQueries: number): Usage {
    return {
      documentsRead: this.#documentsRead,
      bytesRead: this.#bytesRead,
      documentsWritten: this.#documentsWritten,
      bytesWritten: this.#bytesWritten,
      rowsTouched: this.#rowsTouched,
      databaseQueries,
    };
  }

  /** Counted first and refused then, so that code that catches the refusal has used the attempt. */
  read(
    table: Table,
    index: Index | undefined,
    doc: Doc,
    limits: TransactionLimits,
    bytes = documentBytes(doc),
  ): void {
    const isSystem = isSystemTable(table.name);
    const tally = isSystem ? this.tally.system : this.tally.user;
    tally.documents++;
    tally.bytes += bytes + (index?.declared === true ? readKeyBytes(keyValues(index, doc)) : 0);
    if (isSystem) return;
    this.#rowsTouched++;
    this.#documentsRead++;
    this.#bytesRead += bytes;
    if (this.#documentsRead > limits.documentsRead) {
      throw new LimitError("documentsRead", limits, this.global);
    }
    if (this.#bytesRead > limits.bytesRead) throw new LimitError("bytesRead", limits, this.global);
  }

  /** Called before the write happens, which it prevents by throwing. A deletion has no bytes. */
  writing(table: Table, bytes: number, limits: TransactionLimits): void {
    if (isSystemTable(table.name)) return this.#writingSystem(bytes);
    this.#documentsWritten++;
    this.#bytesWritten += bytes;
    if (this.#documentsWritten > limits.documentsWritten) {
      throw new LimitError("documentsWritten", limits, this.global);
    }
    if (this.#bytesWritten > limits.bytesWritten) {
      throw new LimitError("bytesWritten", limits, this.global);
    }
  }

  /** Takes back the count of writes since: a nested call's writes, rolled back. Its reads stay counted. */
  savepoint(): () => void {
    const documents = this.#documentsWritten;
    const bytes = this.#bytesWritten;
    const system = { ...this.#system };
    return () => {
      this.#documentsWritten = documents;
      this.#bytesWritten = bytes;
      Object.assign(this.#system, system);
    };
  }

  #writingSystem(bytes: number): void {
    const system = this.#system;
    system.documents++;
    system.bytes += bytes;
    const { systemDocumentsWritten, systemBytesWritten } = this.global;
    if (system.documents > systemDocumentsWritten) {
      throw new SystemLimitError(
        `Too many system document writes in a single transaction: ${system.documents}`,
      );
    }
    if (system.bytes > systemBytesWritten) {
      throw new SystemLimitError(
        `Too many bytes written in system tables in a single transaction: ${system.bytes}`,
      );
    }
  }

  /** `view` knows the tables of `writes`, which are the committed ones: nothing, when nothing was. */
  cost(view: Snapshot, writes: readonly Write[]): Cost {
    const { user, system, tombstones } = this.tally;
    const cost: Cost = {
      user: { ...NOTHING, documentsRead: user.documents, bytesRead: user.bytes },
      system: { ...NOTHING, documentsRead: system.documents, bytesRead: system.bytes },
      tombstones,
    };
    for (const { namespace, table: name, after } of writes) {
      const io = isSystemTable(name) ? cost.system : cost.user;
      io.documentsWritten++;
      if (after === null) continue;
      io.bytesWritten += documentBytes(after);
      for (const index of view.table(namespace, name)?.indexes.values() ?? []) {
        if (index.declared) io.bytesWritten += keyBytes(keyValues(index, after)) + ENTRY_ID_BYTES;
      }
    }
    return cost;
  }
}

export const NOTHING: Readonly<Io> = {
  documentsRead: 0,
  bytesRead: 0,
  documentsWritten: 0,
  bytesWritten: 0,
};

/**
 * An entry that is written names its document beside the key, which ends with the id as a string: 17 bytes for the table and
 * 16 for the rest. An entry that is read is its key alone. common/src/index.rs: IndexKey::size; value/src/table_name.rs,
 * document_id.rs: InternalId::MAX_SIZE; database/src/query/index_range.rs: index_position.len().
 */
const ENTRY_ID_BYTES = 17 + 16;

function keyValues(index: Index, doc: Doc): (Value | undefined)[] {
  return index.columns.map((column) => fieldOf(doc, column));
}
