/**
 * Every number by which the engine itself works, with where it comes from. The limits on apps are in `local/limits.ts`.
 */

/** Numbers of tables: the first of an app's own, and the first of names that begin with `_`. The platform's. */
export const FIRST_USER_TABLE_NUMBER = 10_001;
export const FIRST_SYSTEM_TABLE_NUMBER = 513;

/**
 * Rows that one step of a stream takes before it yields, where the reader does not want fewer. The platform fetches 100
 * at a time (knobs.rs), so a scan of 100 rows is one wait and not a hundred. With a pause at every row, scans would be
 * open far longer than there, and conflict more.
 */
export const ROWS_PER_FETCH = 100;
/** The most that one step takes for a page (query/mod.rs). */
export const MAX_ROWS_PER_FETCH = 1024;

/** Rows that a check of a whole table visits before it yields. */
export const ROWS_PER_CHECK = 1000;

/** How long a scan passes the entries that deletes and moves leave in an index (knobs.rs: 4 minutes). */
export const INDEX_RETENTION_MS = 4 * 60_000;
/** Dead entries are forgotten by the minute that they died in: a quarter of the retention, so few are kept too long. */
export const TOMBSTONE_GENERATION_MS = INDEX_RETENTION_MS / 4;
/** Dead entries remembered for one index, about 100 bytes each; of more, the oldest minutes are forgotten first. */
export const MAX_TOMBSTONES = 500_000;

/** How long the write log is kept at least; the platform keeps between 30 s and 300 s. */
export const LOG_RETENTION_MS = 30_000;
/** Commits in the write log at most: 30 s at over 3,000 commits per second, which no deployment class reaches. */
export const MAX_LOG_ENTRIES = 100_000;

/**
 * From validation to publication. An assumption: the platform's source names no latency, and a local store that batches
 * its writes takes 2 ms. It decides how often a hot document conflicts, so simulations set their own.
 */
export const DEFAULT_PUBLISH_LATENCY_MS = 2;

/**
 * Between attempts to store a commit after a failure: a disk that is full may have room again. The platform's delays
 * for errors of its persistence layer.
 */
export const STORE_RETRY = { initialMs: 100, maxMs: 10_000 } as const;
/** Commits that go to the store in one write, so that the first of them does not wait for a very long one. */
export const MAX_STORE_BATCH = 256;

/** How long a snapshot can still be read after it was replaced (knobs.rs, `MAX_TRANSACTION_WINDOW`). */
export const SNAPSHOT_RETENTION_MS = 10_000;
/** And how many at most, so that a burst of commits does not fill the memory: this bound is not the platform's. */
export const MAX_RECENT_SNAPSHOTS = 1_000;
