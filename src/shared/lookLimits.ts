/** Limits of what people look at, and their relations to the platform's. Pure. */
import {
  BATCH_MAX_ROWS,
  ERROR_MAX_BYTES,
  holds,
  INLINE_MAX_BYTES,
  PLATFORM_TRANSACTION_BYTES,
  PLATFORM_TRANSACTION_READS,
} from "./limits.js";

/** Rows that one page of a list reads, whether a filter passes them or not: of up to 6 KB with the longest error. */
export const LIST_ROWS_MAX = 1_000;
/**
 * Places of waiting jobs that a list merges, each of which takes up to five ranges: the default eight shards with eight
 * routes in four priorities.
 */
export const LIST_PLACES_MAX = 512;
/** Characters of an error that a list shows. */
export const LISTED_ERROR_LENGTH = 200;
/** Tags and groups that the jobs of one call have together, in a queue that lists by them: rows, of which half a transaction's. */
export const MARKS_MAX = BATCH_MAX_ROWS;
/** Queues that are listed at once. */
export const QUEUES_LISTED_DEFAULT = 100;
export const QUEUES_LISTED_MAX = 1_000;
/** Queues that one overview shows: some 25 ranges each, and a few more rows than ranges. */
export const OVERVIEW_QUEUES_MAX = 100;
/** Minutes of each. */
export const OVERVIEW_MINUTES = 30;
/** Jobs that an overview of many queues counts, of all of them and all their statuses together. */
export const OVERVIEW_JOBS = 7_000;
/** And of one status at most: nobody compares queues by more. */
export const OVERVIEW_COUNT_MAX = 100;
/** Workers of each state that are looked through for those of one queue, and jobs of all workers whose rows are read. */
export const WORKERS_HOLDERS_READ = 256;
export const WORKERS_JOBS_READ = 256;
/** Jobs before one that are counted: farther back nobody cares for the exact number. */
export const POSITION_MAX = 100;
/** Workers of each state that `why` looks through for those that could take a job. */
export const CREW_READ = 100;
/** Running jobs beyond those that may run inside Convex that `why` looks through: the others run outside. */
export const OUTSIDE_READ = 64;
export const INSIDE_READ = 256;
/** Names that are given where many are meant. */
export const NAMED = 3;
/** What is due is claimable within a second; what is not after so long stands still. */
export const NOT_PROMOTED_MS = 30_000;

holds(
  "a page of a list reads less than a query may, two ends of each place and its rows with the longest errors included",
  5 * LIST_PLACES_MAX < PLATFORM_TRANSACTION_READS &&
    LIST_ROWS_MAX * (3 * INLINE_MAX_BYTES + 2 * ERROR_MAX_BYTES) < PLATFORM_TRANSACTION_BYTES,
);
holds(
  "an overview of quiet queues reads less than a query may",
  30 * OVERVIEW_QUEUES_MAX < PLATFORM_TRANSACTION_READS &&
    OVERVIEW_JOBS * 2 * 2 ** 10 < PLATFORM_TRANSACTION_BYTES,
);
