/** Every number that bounds functions and the scheduler, with where it comes from. The engine's are in its own file. */

const MIB = 1 << 20;
const DAY_MS = 24 * 60 * 60 * 1000;

/** How deep calls may nest inside one transaction. The platform's. */
export const MAX_CALL_DEPTH = 8;

/** What one transaction may do in all. The platform's; told by `getTransactionMetrics`, enforced for scheduling. */
export const TRANSACTION_LIMITS = {
  bytesRead: 16 * MIB,
  bytesWritten: 16 * MIB,
  databaseQueries: 4096,
  documentsRead: 32_000,
  documentsWritten: 16_000,
  functionsScheduled: 1000,
  scheduledFunctionArgsBytes: 16 * MIB,
} as const;

/** Functions may be scheduled this far from now, both ways. The platform's: five years of 366 days. */
export const MAX_SCHEDULE_DISTANCE_MS = 5 * 366 * DAY_MS;

/** Scheduled functions that run at once, on the platform's smallest deployment class. */
export const DEFAULT_SCHEDULED_PARALLELISM = 8;

/** How long the row of a finished scheduled function is kept. The platform's. */
export const SCHEDULED_RETENTION_MS = 7 * DAY_MS;
/** How often rows past their retention are looked for, at most: a 168th of it, so it hardly matters. */
export const RETENTION_SWEEP_MS = DAY_MS / 24;
/** Rows deleted in one transaction of a sweep. The platform's. */
export const RETENTION_BATCH = 1000;

/** Query results kept while what they read is unwritten. Each costs a look at every commit, so not without bound. */
export const MAX_CACHED_QUERIES = 512;
/** How long a result that asked for the time is served again. The platform's: about 17 s. */
export const TIME_DEPENDENT_CACHE_MS = 17_000;
