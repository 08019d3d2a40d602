/** Limits of reads by claims and by people, and their relations to the platform's limits. Pure. */
import {
  holds,
  PROGRESS_MAX_BYTES,
  LOOK_RANGES_MAX,
  QUEUES_MAX,
  ROUTES_MAX,
  SHARDS_DEFAULT,
  STATUS_BATCH_MAX,
  STATUS_BATCH_MAX_BYTES,
  PLATFORM_TRANSACTION_BYTES,
  PLATFORM_TRANSACTION_READS,
} from "./limits.js";

/**
 * A transaction that has read so much runs no further mutation with its payload, claims no further job with a large one, ends no
 * further session's leases, and leaves results that go to another.
 */
export const PAYLOADS_READ_BYTES = PLATFORM_TRANSACTION_BYTES / 4;
/**
 * A job's row at most: the longest error or reason of a cancel, three values that lie in it, tags, labels, names and keys of three
 * bytes a character.
 */
export const JOB_ROW_BYTES = 13 * 2 ** 10;
/** The bytes that one claim, `hasWork` or `peek` reads in all: rows of jobs, and the routes and cursors of its queues. */
export const LOOK_BYTES_MAX = PLATFORM_TRANSACTION_BYTES / 4;
/**
 * Places of a queue: its shards, twice for each priority in use of each route, since jobs that come back stand apart. As many as
 * a claim reads, at two ranges each: the default 8 shards with 64 sets of labels, or with all priorities of three sets.
 */
export const PLACES_MAX = 1_024;

/** How long a retry waits for a worker that has not failed it, while there is one. */
export const AVOID_MS = 2_000;
/** A preference ends to a second. One of more than an hour would be a condition: labels say that. */
export const PREFER_MIN_MS = 1_000;
export const PREFER_MAX_MS = 60 * 60_000;
/** Of a job's preference, labels and worker together: it lies in the job's row until the job is first claimed. */
export const PREFER_MAX_BYTES = 512;
/** Waiting jobs of one queue that its subscription names: of more a claim looks for itself. */
export const NAMED_MAX = 8;
/** The same in one place but the first: jobs are spread at random, and so many in one of eight say that many wait. */
export const NAMED_IN_PLACE_MAX = 4;
/** A claim of named jobs reads everywhere, and also takes jobs that have waited this long: their own worker has not come. */
export const NAMED_WAITED_MS = 1_000;
/** Jobs that `peek` shows, by default and at most. */
export const PEEK_DEFAULT = 10;
export const PEEK_MAX = 64;

/** A fleet is counted so long after a worker has missed itself in it, so that all that come at once are. */
export const FLEET_WAIT_MS = 500;
/** And again when its row is so old. */
export const FLEET_OLD_MS = 60_000;
/** How many workers of a fleet ask for that, of all that see the need. */
export const FLEET_ASKS = 4;

/** Workers on call, of many that are alike. */
export const ON_CALL = 2;
/**
 * The most workers that one call-up calls. Where a commit reruns more than 200 subscriptions, the platform spreads them over
 * 5 ms for each (common/src/knobs.rs:1900-1910): 253 workers that were called at once came within 1.2 s.
 */
export const CALL_UP_MAX = 192;
/** Waiting jobs that a worker may say it has left: a subscription names fewer. */
export const MORE_MAX = 1_000_000;
/** A call-up so soon after another calls twice as many; about so many of the workers that it called write the next one. */
export const CALL_UP_AGAIN_MS = 1_000;
export const CALL_UP_ASKS = 4;
/** The same for jobs that none takes: a worker on call without room says so every five seconds at least. */
export const UNTAKEN_AGAIN_MS = 12_000;
/** How often a worker on call says so, while others stand by, and after how long a silence it is not on call. */
export const DUTY_BEAT_MS = 20_000;
export const DUTY_SILENT_MS = 30_000;
/** How often the worker that watches claims: with the second for which it leaves a job, all waits end within 12 s. */
export const WATCH_MS = 10_000;
/** So many places of standby, the first ones, say so as often as the workers on call may be silent, and see when these are gone. */
export const STANDBY_FIRST = 8;
/** How often one of the workers that stand by says that it lives, each of them at the latest, and how seldom it may. */
export const STANDBY_EACH_MS = 10_000;
export const STANDBY_MS = 30 * 60_000;
export const PRESENCE_MAX_MS = 24 * 60 * 60_000;
/** The row of peers that were not called up for so long goes when another comes, of so many that are seen. */
export const CALL_UPS_KEPT_MS = 24 * 60 * 60_000;
export const CALL_UPS_FORGOTTEN = 2;

/** Rows that one page of a list reads, matching the filter or not, and the bytes of these rows. */
export const LIST_ROWS_MAX = 1_000;
export const LIST_BYTES_MAX = 4 * 2 ** 20;
/**
 * Places of waiting jobs that a list merges, each of which takes up to five ranges: the default eight shards with four
 * routes in four priorities.
 */
export const LIST_PLACES_MAX = 256;
/** Characters of an error that a list shows. */
export const LISTED_ERROR_LENGTH = 200;
/** Queues that are listed at once. */
export const QUEUES_LISTED_DEFAULT = 100;
export const QUEUES_LISTED_MAX = 1_000;
/** Queues that one overview shows: some 25 ranges each, and a few more rows than ranges. */
export const OVERVIEW_QUEUES_MAX = 100;
/** Of queues with large jobs, the overview counts as many as one query reads, and says that there are more. */
export const OVERVIEW_BYTES_MAX = 0.75 * PLATFORM_TRANSACTION_BYTES;
/** Minutes of each. */
export const OVERVIEW_MINUTES = 30;
/** Jobs that an overview of many queues counts, of all of them and all their statuses together. */
export const OVERVIEW_JOBS = 7_000;
/** And of one status at most: a comparison of queues needs no more. */
export const OVERVIEW_COUNT_MAX = 100;
/** Workers of each state that are read to find the workers of one queue, and jobs of all workers whose rows are read. */
export const WORKERS_SESSIONS_READ = 256;
export const WORKERS_JOBS_READ = 256;
/** Lanes that are awake, as far as the main loop shows them: more than the places of class S256. */
export const LANES_SHOWN = 512;
/** Processes of the main loop whose scheduled functions are read: each carries up to 64 KiB of jobs in its arguments. */
export const PROCESSES_ASKED = 32;
/** Jobs that are counted before one: farther back, the exact number does not matter. */
export const POSITION_MAX = 100;
/** Workers of each state that `why` reads to find the workers that could take a job. */
export const CREW_READ = 100;
/** Running jobs that `why` reads beyond the jobs that may run inside Convex: the rest run outside. */
export const OUTSIDE_READ = 64;
export const INSIDE_READ = 256;
/** Names that are given where many are meant. */
export const NAMED = 3;
/** A due job is claimable within a second; a job that is not after this long is stuck. */
export const NOT_PROMOTED_MS = 30_000;

holds(
  "a look reaches both bands of every shard of every queue with one route and priority, and as many shards as by default",
  4 * SHARDS_DEFAULT * QUEUES_MAX <= LOOK_RANGES_MAX,
);
holds("a claim reads all places of a queue", 2 * PLACES_MAX <= LOOK_RANGES_MAX);
holds(
  "a queue with the default shards may use all sets of labels, in one priority",
  2 * SHARDS_DEFAULT * ROUTES_MAX <= PLACES_MAX,
);
holds(
  "a page of a list reads less than a query may, two ends of each place and its rows with the longest errors included",
  5 * LIST_PLACES_MAX < PLATFORM_TRANSACTION_READS &&
    LIST_BYTES_MAX + LIST_PLACES_MAX * JOB_ROW_BYTES < PLATFORM_TRANSACTION_BYTES / 2,
);
holds(
  "a batch of jobs as pages see them reads less than half of what a query may",
  STATUS_BATCH_MAX_BYTES + STATUS_BATCH_MAX * (JOB_ROW_BYTES + PROGRESS_MAX_BYTES) <
    PLATFORM_TRANSACTION_BYTES / 2,
);
holds(
  "an overview of quiet queues reads less than a query may",
  30 * OVERVIEW_QUEUES_MAX < PLATFORM_TRANSACTION_READS &&
    OVERVIEW_JOBS * 2 * 2 ** 10 < PLATFORM_TRANSACTION_BYTES,
);
