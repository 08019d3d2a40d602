/** The messages between the store and its thread: texts and numbers, since documents are encoded where they are. */
import type { DataFileOptions } from "./dataFile.js";
import type { StoreErrorCode } from "./errors.js";

export interface EncodedTable {
  namespace: string;
  name: string;
  /** The rest of a `StoredTable`, as JSON. */
  definition: string;
}

export interface EncodedCommit {
  ts: bigint;
  tables: EncodedTable[];
  /** `value` is the document as JSON; `null` deletes it. */
  writes: { namespace: string; table: string; id: string; value: string | null }[];
  settings: [name: string, value: string | null][];
}

export interface EncodedState {
  /** `null` when nothing was ever kept. */
  ts: bigint | null;
  tables: EncodedTable[];
  settings: [name: string, value: string][];
}

/** Some rows of one table, the `table`th of the state. */
export interface EncodedRows {
  table: number;
  values: string[];
}

/** The thread's operations, with their arguments and answers. */
export interface Operations {
  open: [argument: DataFileOptions, answer: EncodedState];
  /** The next rows; `null` at their end, where the sum of all checksums is verified. */
  rows: [argument: null, answer: EncodedRows | null];
  beginWriting: [argument: null, answer: null];
  append: [argument: EncodedCommit[], answer: null];
  close: [argument: null, answer: null];
}

export type Operation = keyof Operations;

export interface Holder {
  pid: number;
  host: string;
  /** ISO 8601. */
  since: string;
}

export interface ThreadRequest {
  id: number;
  operation: Operation;
  argument: unknown;
}

export type ThreadReply =
  | { id: number; answer: unknown }
  | { id: number; error: { code: StoreErrorCode | null; message: string } };
