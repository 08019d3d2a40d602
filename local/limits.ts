/**
 * The platform's limits on apps, in one table, each with where its number comes from. A test may give smaller ones. It
 * does not know the code that enforces them: the engine the limits on transactions, documents and tables, the functions
 * and the push their own.
 *
 * "knobs.rs", "reads.rs" and so on are files of the platform's published source; "docs" is its page of limits. Where
 * the two differ the smaller number is taken, so that an app that runs here runs there.
 */

const KIB = 1 << 10;
const MIB = 1 << 20;
const DAY_MS = 24 * 60 * 60 * 1000;

/** The limits on one query or mutation, nested calls included. Names as in `transactionLimits` and `ctx.meta`. */
export interface TransactionLimits {
  /** Documents' own bytes: keys of indexes are billed, not limited (reads.rs). */
  bytesRead: number;
  /** The same; a deletion has none (writes.rs). */
  bytesWritten: number;
  /** Intervals of index keys, after merging. */
  databaseQueries: number;
  documentsRead: number;
  /** Calls that write: the same document twice counts twice, a deletion counts (writes.rs). */
  documentsWritten: number;
  functionsScheduled: number;
  scheduledFunctionArgsBytes: number;
}

export interface Limits extends TransactionLimits {
  /** Of system tables, which count in none of the above. Going over is the platform's failure, not the function's. */
  systemDocumentsWritten: number;
  systemBytesWritten: number;

  /** With its system fields. */
  documentBytes: number;
  /** Levels of arrays and objects in a document, itself included. */
  documentNesting: number;
  /** The same in a value that only travels: arguments, results. */
  valueNesting: number;
  objectFields: number;
  fieldNameLength: number;
  arrayLength: number;

  /** Names of tables and indexes. */
  identifierLength: number;
  tables: number;
  indexesPerTable: number;
  /** Without `_creationTime`. */
  indexFields: number;

  argumentBytes: number;
  /** Of an action that runs in Node. */
  nodeArgumentBytes: number;
  resultBytes: number;
  /** Calls inside one another in one transaction. */
  callDepth: number;
  /** The last of them says that there were more. */
  logLines: number;
  /** Filters and limits of one query. */
  queryOperators: number;
  /** Rows that one `.paginate()` may ask for. */
  pageSize: number;
  /** How far from now functions may be scheduled, both ways. */
  scheduleDistanceMs: number;
  environmentVariables: number;
}

export const PLATFORM_LIMITS: Readonly<Limits> = {
  bytesRead: 16 * MIB, // knobs.rs, docs
  bytesWritten: 16 * MIB, // knobs.rs, docs
  databaseQueries: 4096, // knobs.rs, docs
  documentsRead: 32_000, // knobs.rs, docs
  documentsWritten: 16_000, // knobs.rs, docs
  functionsScheduled: 1000, // knobs.rs, docs
  scheduledFunctionArgsBytes: 16 * MIB, // knobs.rs, docs
  systemDocumentsWritten: 40_000, // knobs.rs
  systemBytesWritten: 128 * MIB, // knobs.rs

  documentBytes: MIB, // document.rs, docs
  documentNesting: 16, // document.rs, docs
  valueNesting: 64, // value/size.rs
  objectFields: 1024, // value/object.rs, docs
  fieldNameLength: KIB, // identifier.rs
  arrayLength: 8192, // value/array.rs, docs

  identifierLength: 64, // identifier.rs, docs
  tables: 10_000, // bootstrap_model/table.rs, docs
  indexesPerTable: 32, // docs; schemas/mod.rs allows 64
  indexFields: 16, // bootstrap_model/index, docs

  argumentBytes: 16 * MIB, // knobs.rs, docs
  nodeArgumentBytes: 5 * MIB, // docs
  resultBytes: 16 * MIB, // knobs.rs, docs
  callDepth: 8, // knobs.rs
  logLines: 256, // environment/helpers, docs
  queryOperators: 256, // common/query.rs
  pageSize: 32_000, // async_syscall.rs: as many as may be read
  scheduleDistanceMs: 5 * 366 * DAY_MS, // udf/validation.rs
  environmentVariables: 512, // knobs.rs; docs say 1,000
};

const NAMES = new Set(Object.keys(PLATFORM_LIMITS));

/** The platform's, some of them replaced. */
export function limitsWith(overrides: Partial<Limits> = {}): Readonly<Limits> {
  for (const [name, value] of Object.entries(overrides)) {
    if (NAMES.has(name) && typeof value === "number" && value >= 0) continue;
    throw new Error(
      NAMES.has(name)
        ? `The limit ${name} must be a number of 0 or more, got ${String(value)}.`
        : `There is no limit "${name}". There are: ${[...NAMES].join(", ")}.`,
    );
  }
  return Object.freeze({ ...PLATFORM_LIMITS, ...overrides });
}
