/**
 * What a transaction has cost so far, counted as the platform bills it: documents and the bytes of the declared
 * indexes' keys that led to them or were written with them. System tables cost nothing.
 */
import { documentBytes, keyBytes } from "./documents.js";
import { fieldOf, isSystemTable, type Index, type Table } from "./table.js";
import type { Doc, Usage } from "./types.js";

export class UsageMeter {
  #documentsRead = 0;
  #bytesRead = 0;
  #documentsWritten = 0;
  #bytesWritten = 0;
  #rowsTouched = 0;

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

  read(table: Table, index: Index | undefined, doc: Doc): void {
    if (isSystemTable(table.name)) return;
    this.#rowsTouched++;
    this.#documentsRead++;
    this.#bytesRead += documentBytes(doc) + (index === undefined ? 0 : indexBytes(index, doc));
  }

  /** A write costs its document and its key in every declared index, moved or not; a deletion no bytes. */
  written(table: Table, after: Doc | null): void {
    if (isSystemTable(table.name)) return;
    this.#documentsWritten++;
    if (after === null) return;
    this.#bytesWritten += documentBytes(after);
    for (const index of table.indexes.values()) this.#bytesWritten += indexBytes(index, after);
  }
}

function indexBytes(index: Index, doc: Doc): number {
  return index.declared ? keyBytes(index.columns.map((column) => fieldOf(doc, column))) : 0;
}
