/**
 * Every number that bounds the engine, with where it comes from. Nothing else here holds a bare limit.
 *
 * Limits on what one transaction may read and write in all are not here: whoever runs functions enforces them from
 * `Transaction.usage`.
 */

/** A document with its system fields. The platform's limit. */
export const MAX_DOCUMENT_BYTES = 1 << 20;
/** Levels of arrays and objects in a stored value. The documented limit; values that only travel may have 64. */
export const MAX_NESTING = 16;
/** Fields of one object. The platform's limit. */
export const MAX_FIELDS = 1024;
/** Elements of one array. The platform's limit. */
export const MAX_ARRAY_LENGTH = 8192;
/** Fields of one index, without `_creationTime`. The platform's limit. */
export const MAX_INDEX_FIELDS = 16;
/** Declared indexes of one table. The documented limit; the platform's published code allows 64. */
export const MAX_INDEXES = 32;

/** Numbers of tables: the first of an app's own, and the first of those that begin with `_`. The platform's. */
export const FIRST_USER_TABLE_NUMBER = 10_001;
export const FIRST_SYSTEM_TABLE_NUMBER = 513;

/**
 * Rows that one step of a stream may take before it lets others run. The platform fetches 100 at a time, so a scan of
 * 100 rows is one wait and not a hundred: with a pause at every row, scans would be open far longer than they are
 * there, and conflict more.
 */
export const ROWS_PER_FETCH = 100;

/** Rows that a check of a whole table visits before it lets others run. */
export const ROWS_PER_CHECK = 1000;

/** How long the write log is kept at least; the platform keeps between 30 s and 300 s. */
export const LOG_RETENTION_MS = 30_000;
/** Commits in the write log at most: 30 s at over 3,000 commits a second, which no deployment class reaches. */
export const MAX_LOG_ENTRIES = 100_000;

/**
 * From validation to publication. An assumption: the platform's source names no latency, and 2 ms is what a local
 * store that batches its writes takes. It decides how often a hot document conflicts, so simulations set their own.
 */
export const DEFAULT_PUBLISH_LATENCY_MS = 2;

/**
 * Between attempts to store what could not be stored: a disk that is full may have room again. The platform's delays for
 * errors of its persistence layer.
 */
export const STORE_RETRY = { initialMs: 100, maxMs: 10_000 } as const;
/** Commits that go to the store in one write, so that the first of them does not wait for a very long one. */
export const MAX_STORE_BATCH = 256;
