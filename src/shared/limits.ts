/**
 * Every limit and default of Conveyor, each with its reason, and the relations between them, which are checked when
 * this file is loaded. Pure.
 */

import {
  ARM_MAX,
  BULK_CHANGED,
  BULK_SCANNED,
  CALLBACK_BACKOFF_MS,
  CALLBACK_TRIES_MAX,
  EXPIRE_MAX,
  JANITOR_SLACK_MS,
  JANITOR_TOLERANCE_MS,
  PROMOTE_MAX,
  PUBLISHED_BOUNDS_MAX,
  REMOVE_JOBS,
} from "./upkeepLimits.js";

// The platform's own limits, which ours must respect.
const PLATFORM_DOCUMENT_BYTES = 2 ** 20;
export const PLATFORM_TRANSACTION_BYTES = 16 * 2 ** 20;
const PLATFORM_TRANSACTION_DOCUMENTS_READ = 32_000;
const PLATFORM_TRANSACTION_DOCUMENTS_WRITTEN = 16_000;
export const PLATFORM_TRANSACTION_READS = 4_096;
const PLATFORM_TRANSACTION_SCHEDULED = 1_000;

// --- Names --------------------------------------------------------------------------------------

/** Names of queues, workers and tokens: long enough for `render-tiles-eu-west`, short enough for every index key. */
export const NAME_MAX_LENGTH = 64;

/** An id that a worker names, in bytes: the platform's have 31 to 37 characters. The session's row keeps the answer to it. */
export const ID_MAX_LENGTH = 64;
/** A uniqueness key: it is part of an index entry. */
export const KEY_MAX_LENGTH = 256;
/** A job's name and group: both lie in its row, which is written at every edge. */
export const JOB_NAME_MAX_LENGTH = 128;
export const GROUP_MAX_LENGTH = 128;
/** Tags and labels of one job. */
export const TAGS_MAX = 16;
export const LABELS_MAX = 16;

// --- Payloads, results, errors ------------------------------------------------------------------

/**
 * Up to this size a value stays in the job's row. The row is written three times in its life (enqueued, claimed,
 * finished): beyond 300 to 500 bytes a row of its own is cheaper.
 */
export const INLINE_MAX_BYTES = 512;
/** A payload or result: one document, less room for the document's other fields. */
export const PAYLOAD_MAX_BYTES = PLATFORM_DOCUMENT_BYTES - 4_096;
/** How deeply a payload or result may be nested: the platform allows 16 levels, and our rows take two of them. */
export const PAYLOAD_MAX_DEPTH = 14;
/** The platform's own limits on one array and one object: a result beyond them fails its job, and not its batch. */
export const ARRAY_MAX_ELEMENTS = 8_192;
export const OBJECT_MAX_FIELDS = 1_024;
/** A progress value is replaced several times per second and shown on a page: it is a report, not a result. */
export const PROGRESS_MAX_BYTES = 8_192;
/** A log entry's message is read by people, line by line; large values belong into `data`, and files into storage. */
export const LOG_MESSAGE_MAX_BYTES = 4_096;
export const LOG_DATA_MAX_BYTES = 8_192;
/** Log entries kept of one job, all of its last attempts: more than a person reads. */
export const LOGS_MAX = 1_000;
/** One part of output: pages load parts by the hundred. */
export const OUTPUT_PART_MAX_BYTES = 64 * 2 ** 10;
/** The output that is kept of one job, that of its last attempts: a long book. More belongs into file storage. */
export const OUTPUT_MAX_BYTES = 16 * 2 ** 20;
/** Parts of output of earlier attempts that one report deletes to make room for its own: at least as many as it may bring. */
export const OUTPUT_ROWS_DROPPED = 512;
/** An error is for people; a longer stack trace helps no reader, and the job's row must stay small. */
export const ERROR_MAX_BYTES = 4_096;
/** The trace of an error with its causes: with the error itself 8 KiB, in the row of the attempt only. */
export const TRACE_MAX_BYTES = 4_096;

// --- Calls --------------------------------------------------------------------------------------

/** Jobs in one call of the component's `enqueue`: larger batches are split into several calls. */
export const ENQUEUE_MAX_JOBS = 1_000;
/** Payloads, contexts and texts of options of one such call together: a call's arguments are held in memory several times over. */
export const ENQUEUE_MAX_BYTES = 4 * 2 ** 20;
/**
 * The total of all calls of one batch in one transaction: half of a transaction's writes, so that the other half is left to the
 * app. `ROWS`: each job, and each key, expiry, deadline, and payload or context of over 512 bytes. `KEYS` are looked up one by
 * one, and half of the transaction's reads are the app's too.
 */
export const BATCH_MAX_BYTES = PLATFORM_TRANSACTION_BYTES / 2;
export const BATCH_MAX_ROWS = PLATFORM_TRANSACTION_DOCUMENTS_WRITTEN / 2;
export const BATCH_MAX_KEYS = PLATFORM_TRANSACTION_READS / 2;
/** Keys of one transaction that replace other jobs: each may owe a callback, which is a scheduled function. */
export const BATCH_MAX_REPLACED = PLATFORM_TRANSACTION_SCHEDULED / 2;
/** A call that an action makes is refused while the deployment writes too fast: that is counted over one second. */
export const BATCH_WAIT_MS = 1_000;
/** How often such a call is made before the action fails. */
export const BATCH_TRIES_MAX = 10;
/** Jobs in one claim, outcomes in one `complete`, and leases that one session has at a time. */
export const LEASES_MAX = 64;
/** Rows of the app's own tables that a claim offers: what it may take, and as many that are passed over. */
export const OFFERED_ROWS_MAX = 2 * LEASES_MAX;
/**
 * Bytes of these rows, of all tables together, beyond which none is read: a row is read up to four times, by the index, once
 * more where these are all, by its id, and as it is marked. With a row of 1 MiB beyond the bound that is half of a transaction.
 */
export const OFFERED_MAX_BYTES = 2 ** 19;
/** Log entries, and parts of output, in one `report`: several of each for every job that one worker may hold. */
export const REPORT_MAX_ITEMS = 256;
/** All values and texts of one `report`, and the bytes that one page of logs or output reads: a quarter of a transaction. */
export const REPORT_MAX_BYTES = PLATFORM_TRANSACTION_BYTES / 4;
/** Jobs in one `statusBatch`: a page of a list. */
export const STATUS_BATCH_MAX = 100;
/** Results in one `statusBatch` together: with the jobs' rows and progress, less than half of what a query may read. */
export const STATUS_BATCH_MAX_BYTES = 5.5 * 2 ** 20;
/** Attempts, log entries and parts of output a page, by default and at most. */
export const PAGE_DEFAULT = 100;
export const PAGE_MAX = 1_000;
/** Jobs that may follow one, in the transaction that records it; of one call's outcomes together `ENQUEUE_MAX_JOBS`. */
export const CONTINUED_MAX = 64;
/** Payloads handed out by one claim: Node actions take 5 MiB of arguments, and a claim must not starve the rest. */
export const CLAIM_MAX_BYTES = 4 * 2 ** 20;
/** Queues that one worker serves: each costs a claim that looks everywhere up to two reads a band and shard. */
export const QUEUES_MAX = 32;
/** The private cursor that travels with a claim: 64 shards in two bands of all its queues would be more than this. */
export const CURSOR_MAX_BYTES = 32 * 2 ** 10;
/**
 * A larger one is not kept in its session's row, which sweeps and other workers' claims read: a repeat of the call looks from
 * the start. Both bands of the default shards in three priorities are about as much.
 */
export const CURSOR_KEPT_BYTES = 2 * 2 ** 10;
/** The same of a lane, which has its cursor nowhere else: both bands of 64 shards are 6 KB. */
export const LANE_CURSOR_KEPT_BYTES = 8 * 2 ** 10;
/** Rows that `counts` reads a status, by default and at most: it is a number for a page, not an audit. */
export const COUNT_DEFAULT = 100;
export const COUNT_MAX = 1_000;
/** Minutes, hours or days that `stats` returns, by default and at most: a row of 700 bytes each. */
export const STATS_DEFAULT = 60;
export const STATS_MAX = 1_000;
/** Workers that `workers` returns, and tokens that `listTokens` returns. */
export const WORKERS_MAX = 100;
export const TOKENS_MAX = 1_000;

// --- Leases -------------------------------------------------------------------------------------

/** Below a second, a lease is shorter than an ordinary conflict's backoff (100 ms to 2 s) and would be lost by it. */
export const LEASE_MIN_MS = 1_000;
export const LEASE_MAX_MS = 24 * 60 * 60_000;
export const LEASE_DEFAULT_MS = 60_000;
/** The janitor looks for lost leases on a grid of a 32nd of a lease, and at most this, so that it comes within a second. */
export const LEASE_GRID_PART = 32;
export const LEASE_GRID_MAX_MS = 500;
/** When an idle session was last seen is indexed to this: it counts as live for a minute and a half. */
export const IDLE_GRID_MS = 10_000;
/** Beats in a lease: two may be lost. */
export const HEARTBEATS_PER_LEASE = 3;
/** How often a job may lose its session before it is given up. */
export const MAX_RESETS_DEFAULT = 3;
export const MAX_RESETS_MAX = 100;
/**
 * How often a job that its session never acknowledged is put back for nothing. From then on it counts as a reset:
 * otherwise a job that kills its worker at once would go round for ever. With `maxResets: 0` it never is: a worker may have
 * died between the job's beginning and its own first word.
 */
export const UNACKNOWLEDGED_MAX = 3;

// --- Shards -------------------------------------------------------------------------------------

/** Enough that eight workers never meet at one job; strict order needs one. */
export const SHARDS_DEFAULT = 8;
export const SHARDS_MAX = 64;
/** How long a job waits in its own shard before any worker may take it: about four round trips of its owner. */
export const STEAL_AFTER_MS = 200;
/** Live sessions that a claim looks at to find its rank; where there are more, it finds it in the fleet's row. */
export const RANKED_SESSIONS_MAX = 8;
/** Sessions of each state that are counted: further sessions claim from random shards. */
export const FLEET_MAX = 1_000;
/** An idle worker is counted as live, and owns shards, this long after its last call. It sends one heartbeat per minute. */
export const IDLE_LIVE_MS = 90_000;
/** The largest row of a session: 64 leases and as many answers, its queues, labels, groups and cursor. A usual one has 700 bytes. */
export const SESSION_MAX_BYTES = 28 * 2 ** 10;
/**
 * The bytes of rows in one read of many sessions: some 3,000 rows of the usual size. There are up to three such reads in a
 * transaction.
 */
export const SESSIONS_READ_BYTES = PLATFORM_TRANSACTION_BYTES / 8;
/** A session that has not been seen for so long is forgotten, its call counter with it. */
export const SESSION_RETENTION_MS = 24 * 60 * 60_000;

// --- Routes -------------------------------------------------------------------------------------

/**
 * Different sets of labels and cost classes that the waiting jobs of one queue may have. Each is a part of the index
 * of its own, at which claims look one by one.
 */
export const ROUTES_MAX = 64;
/** The part of these that a worker's token may add by continued jobs: the other half is the app's. */
export const ROUTES_OF_WORKERS = ROUTES_MAX / 2;
/** The same, with routes of returned jobs in a queue that had dropped their route. */
export const ROUTES_BACK_MAX = 2 * ROUTES_MAX;
/** A cost is a whole number up to this: megabytes of memory, seconds of a GPU, anything that is a worker's budget. */
export const COST_DEFAULT = 1;
export const COST_MAX = 1_000_000_000;

// --- Claims -------------------------------------------------------------------------------------

/** Labels and groups that a claimer may offer: each is compared with every row. */
export const OFFERED_LABELS_MAX = 64;
export const CLAIM_GROUPS_MAX = 64;
/** All labels and groups of a worker together: they lie in its session's row, which other transactions read. */
export const OFFER_MAX_BYTES = 4 * 2 ** 10;
/**
 * Ranges that one claim may read: half of a transaction's reads; the rest is for jobs that it takes and records. Of queues with
 * more places together, a claim reads some, from a random queue on.
 */
export const LOOK_RANGES_MAX = PLATFORM_TRANSACTION_READS / 2;
/** The same for a claim behind inline callbacks, which leave it, and up to 64 outcomes, a fifth of the transaction. */
export const LOOK_RANGES_BESIDE_CALLBACKS = PLATFORM_TRANSACTION_READS / 8 - 64;
/** Rows that one look may read. */
export const LOOK_ROWS_MAX = 2_048;
/** The budget of one `related` query: a hundredth of a transaction, so that the queries of a full claim leave it a third. */
export const RELATED_LIMITS = {
  bytesRead: Math.floor(PLATFORM_TRANSACTION_BYTES / 100),
  databaseQueries: Math.floor(PLATFORM_TRANSACTION_READS / 100),
  documentsRead: PLATFORM_TRANSACTION_DOCUMENTS_READ / 100,
} as const;
// --- Retries ------------------------------------------------------------------------------------

/** The retries of `retry: true`. A handler may have side effects, so retries are off by default. */
export const RETRY_DEFAULT = {
  maxAttempts: 5,
  initialBackoffMs: 1_000,
  base: 2,
  maxBackoffMs: 60 * 60_000,
} as const;
export const RETRY_OFF = { ...RETRY_DEFAULT, maxAttempts: 1 } as const;
export const MAX_ATTEMPTS_MAX = 1_000;
/** Beyond a factor of ten, the third wait is the longest there is. */
export const BACKOFF_BASE_MAX = 10;
/**
 * Unsuccessful attempts kept of one job: a job that is snoozed every minute, or goes round in a circular queue, would otherwise
 * have more every day, for years.
 */
export const ATTEMPTS_KEPT = 1_000;
/** Workers that failed a job and are remembered: a retry prefers other workers. */
export const FAILED_BY_MAX = 4;

// --- Times --------------------------------------------------------------------------------------

const DAY_MS = 24 * 60 * 60_000;
/** `runAt` further away is nearly always a mistake of units: seconds for milliseconds, or microseconds. */
export const RUN_AT_PAST_MAX_MS = 366 * DAY_MS;
export const RUN_AT_FUTURE_MAX_MS = 4 * 366 * DAY_MS;
/** The longest wait between two attempts, and the longest rest between two rounds. */
export const BACKOFF_MAX_MS = 366 * DAY_MS;
export const REST_MAX_MS = 366 * DAY_MS;
/** A job that must have begun within less than a second would be lost to an ordinary conflict's backoff. */
export const EXPIRES_MIN_MS = 1_000;
export const EXPIRES_MAX_MS = RUN_AT_FUTURE_MAX_MS;
/** How long an action or client waits for a job's result: half of an action's time limit, and at most the longest attempt. */
export const RESULT_WAIT_DEFAULT_MS = 5 * 60_000;
export const RESULT_WAIT_MAX_MS = 7 * DAY_MS;
/** Between two looks of one that cannot subscribe: 100 ms, half as long again each time, up to 5 s. */
export const RESULT_LOOK_MS = 100;
export const RESULT_LOOK_MAX_MS = 5_000;
/** All of a job's time, from its enqueue on. */
export const DEADLINE_MIN_MS = 1_000;
export const DEADLINE_MAX_MS = RUN_AT_FUTURE_MAX_MS;
/** How long a key may be taken for, also after its job has finished. */
export const KEY_WINDOW_MAX_MS = 366 * DAY_MS;
/** One attempt may run for a week at most; a second at least, for the same reasons as a lease. */
export const TIMEOUT_MIN_MS = 1_000;
export const TIMEOUT_MAX_MS = 7 * DAY_MS;
export const GRACE_MAX_MS = 60 * 60_000;
/** How long finished jobs are kept. Failures are looked into days later; successes hardly ever. */
export const RETENTION_DEFAULT = {
  succeededMs: DAY_MS,
  canceledMs: DAY_MS,
  failedMs: 7 * DAY_MS,
  timedOutMs: 7 * DAY_MS,
} as const;
export const RETENTION_MAX_MS = 366 * DAY_MS;

// --- Queues -------------------------------------------------------------------------------------

/**
 * A changed declaration is applied at most this often, so that two deployed versions which declare a queue differently do not
 * rewrite its row, which every call reads, with every call. A declaration that has Convex run more jobs is applied at once.
 * Two deploys are further apart, so that the last one is in force with its first call.
 */
export const DECLARATION_SETTLE_MS = 1_000;

// --- Callbacks ----------------------------------------------------------------------------------

/** `onComplete` mutations run inside one `complete`; each is two fresh contexts, one after the other. */
export const CALLBACKS_INLINE_MAX = 8;
/** No further `onComplete` is run inside a transaction that has read so much: the claim that follows must have its part. */
export const CALLBACKS_INLINE_BYTES = PLATFORM_TRANSACTION_BYTES / 2 - CLAIM_MAX_BYTES / 2;
/**
 * The budget of one callback inside `complete`: a tenth of a transaction, so that eight callbacks leave a fifth for recording
 * outcomes and claiming. A callback that needs more fails here, and then runs alone with a whole transaction. It may read more
 * bytes than that, since its payload, context and result are 1 MiB each; `CALLBACKS_INLINE_BYTES` bounds the reads of all
 * callbacks together.
 */
export const CALLBACK_INLINE_LIMITS = {
  bytesRead: PLATFORM_TRANSACTION_BYTES / 4,
  bytesWritten: Math.floor(PLATFORM_TRANSACTION_BYTES / 10),
  databaseQueries: Math.floor(PLATFORM_TRANSACTION_READS / 10),
  documentsRead: PLATFORM_TRANSACTION_DOCUMENTS_READ / 10,
  documentsWritten: PLATFORM_TRANSACTION_DOCUMENTS_WRITTEN / 10,
  functionsScheduled: PLATFORM_TRANSACTION_SCHEDULED / 10,
} as const;

// --- Reading ------------------------------------------------------------------------------------

/**
 * Rows read at once where one would do: dead index entries are walked about as many at a time as rows were asked for,
 * and a range with few rows may have many.
 */
export const RANGE_ROWS = 64;

// --- Relations ----------------------------------------------------------------------------------

export function holds(relation: string, is: boolean): void {
  if (!is) throw new Error(`The limits contradict themselves: ${relation}`);
}

holds("a value that is not inline fits in a row of its own", INLINE_MAX_BYTES < PAYLOAD_MAX_BYTES);
holds("a progress value fits in a document", PROGRESS_MAX_BYTES < PAYLOAD_MAX_BYTES);
holds("a report makes room for what it brings", OUTPUT_ROWS_DROPPED >= REPORT_MAX_ITEMS);
holds("a part of output fits in a report, and in a page", OUTPUT_PART_MAX_BYTES < REPORT_MAX_BYTES);
holds(
  "a full report of small things fits in a transaction, three reads and two writes each",
  3 * (LEASES_MAX + 2 * REPORT_MAX_ITEMS) < PLATFORM_TRANSACTION_READS,
);
holds("a claim can hand out the largest payload", PAYLOAD_MAX_BYTES <= CLAIM_MAX_BYTES);
holds(
  "a full call of enqueue fits in a batch, with seven rows per job: itself, payload, context, key, expiry, deadline, preference",
  7 * ENQUEUE_MAX_JOBS <= BATCH_MAX_ROWS && ENQUEUE_MAX_JOBS <= BATCH_MAX_KEYS,
);
holds(
  "the largest payload and context fit in one call",
  2 * PAYLOAD_MAX_BYTES <= ENQUEUE_MAX_BYTES,
);
holds(
  "every outcome of a full `complete` may owe a callback",
  2 * LEASES_MAX < PLATFORM_TRANSACTION_SCHEDULED,
);
holds(
  "a look beside callbacks leaves the outcomes their reads",
  LOOK_RANGES_BESIDE_CALLBACKS <= 0.2 * PLATFORM_TRANSACTION_READS - 5 * LEASES_MAX,
);
holds(
  "what one ring promotes fits in a transaction several times, errors and payloads included",
  PROMOTE_MAX * 4 * (INLINE_MAX_BYTES * 3 + ERROR_MAX_BYTES) <= PLATFORM_TRANSACTION_BYTES,
);
holds(
  "every job that expires at once may owe a callback, and a batch may arm alarms of both kinds",
  EXPIRE_MAX < PLATFORM_TRANSACTION_SCHEDULED && 2 * ARM_MAX < PLATFORM_TRANSACTION_SCHEDULED / 4,
);
holds(
  "inline callbacks leave a fifth of the transaction",
  CALLBACKS_INLINE_MAX * CALLBACK_INLINE_LIMITS.documentsWritten <=
    0.8 * PLATFORM_TRANSACTION_DOCUMENTS_WRITTEN,
);
holds(
  "the last inline callback and the claim after it may read all that they are allowed",
  CALLBACKS_INLINE_BYTES + CALLBACK_INLINE_LIMITS.bytesRead + CLAIM_MAX_BYTES + PAYLOAD_MAX_BYTES <
    PLATFORM_TRANSACTION_BYTES,
);
holds(
  "a callback inside `complete` may read the largest payload, context and result",
  3 * PAYLOAD_MAX_BYTES < CALLBACK_INLINE_LIMITS.bytesRead,
);
holds(
  "the shortest lease leaves three beats room",
  LEASE_MIN_MS / HEARTBEATS_PER_LEASE > 3 * JANITOR_SLACK_MS,
);
holds("jobs are stolen well before a lease ends", STEAL_AFTER_MS < LEASE_MIN_MS);
holds("a cursor's bounds fit in a list", PUBLISHED_BOUNDS_MAX < ARRAY_MAX_ELEMENTS);
holds(
  "lost leases are returned within a second of their end",
  LEASE_GRID_MAX_MS + JANITOR_SLACK_MS + JANITOR_TOLERANCE_MS < 1_000,
);
holds(
  "a step over many jobs reads less than a transaction may: ten ranges a job, and its scan",
  10 * BULK_CHANGED + BULK_SCANNED < PLATFORM_TRANSACTION_READS &&
    10 * REMOVE_JOBS < PLATFORM_TRANSACTION_READS,
);
holds(
  "each job that a step changes may owe a callback",
  BULK_CHANGED < PLATFORM_TRANSACTION_SCHEDULED / 2,
);
holds(
  "a callback is tried for the last time before its job is purged by default",
  2 ** CALLBACK_TRIES_MAX * CALLBACK_BACKOFF_MS < RETENTION_DEFAULT.succeededMs,
);
holds(
  "a sweep's two looks at sessions read a quarter of what they may, and three reads of many sessions less than half",
  2 * RANGE_ROWS * SESSION_MAX_BYTES < PLATFORM_TRANSACTION_BYTES / 4 &&
    3 * (SESSIONS_READ_BYTES + SESSION_MAX_BYTES) < PLATFORM_TRANSACTION_BYTES / 2,
);
holds("a full session is ranked before it is forgotten", IDLE_LIVE_MS < SESSION_RETENTION_MS);
