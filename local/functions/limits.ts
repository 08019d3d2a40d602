/**
 * Every number by which functions and the scheduler work, with where it comes from. The limits on apps are in
 * `local/limits.ts`.
 */

const DAY_MS = 24 * 60 * 60 * 1000;

/** How long the row of a finished scheduled function is kept. The platform's. */
export const SCHEDULED_RETENTION_MS = 7 * DAY_MS;
/** How long a client's mutation is known to have been done. The platform's (knobs.rs: 14 days). */
export const SESSION_REQUEST_RETENTION_MS = 14 * DAY_MS;
/** A recorded result is cut into rows of this many characters: with three bytes each they fit into a document. */
export const SESSION_REQUEST_PART_CHARS = 256 * 1024;
/** How often rows past their retention are looked for, at most: a 168th of it, so it hardly matters. */
export const RETENTION_SWEEP_MS = DAY_MS / 24;
/** Rows deleted in one transaction of a sweep, and the time between two. knobs.rs: SCHEDULED_JOB_GARBAGE_COLLECTION_*. */
export const RETENTION_BATCH = 1000;
export const RETENTION_PAUSE_MS = 10_000;

/**
 * Query results kept while their read sets are unwritten. Each is checked at every commit, so their number is bounded.
 */
export const MAX_CACHED_QUERIES = 512;
/** How long a result that asked for the time is served again. The platform's: about 17 s. */
export const TIME_DEPENDENT_CACHE_MS = 17_000;

/** How long a query or mutation waits for its permit. knobs.rs: APPLICATION_FUNCTION_RUNNER_SEMAPHORE_TIMEOUT. */
export const PERMIT_WAIT_MS = 5000;
/** How long an action does. knobs.rs: APPLICATION_FUNCTION_RUNNER_ACTION_SEMAPHORE_TIMEOUT. */
export const ACTION_PERMIT_WAIT_MS = 10_000;

/** Over which bytes written are summed up. knobs.rs: WRITE_THROUGHPUT_WINDOW. */
export const WRITE_RATE_WINDOW_MS = 1000;

/** How long an action may take. knobs.rs: V8_ACTION_USER_TIMEOUT, NODE_ACTION_USER_TIMEOUT; docs: limits. */
export const V8_ACTION_TIMEOUT_MS = 30 * 60 * 1000;
export const NODE_ACTION_TIMEOUT_MS = 10 * 60 * 1000;

/** A cron that names its minute starts up to so much later. knobs.rs: CRON_SPLAY_SECONDS. */
export const CRON_SPLAY_MS = 60_000;
