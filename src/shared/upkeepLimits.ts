/**
 * Limits of the work beside the jobs: counting, purging, changes of many jobs, tokens. Pure. Their relations to the platform's
 * limits are checked in `limits.ts`.
 */

const DAY_MS = 24 * 60 * 60_000;

// --- Upkeep -------------------------------------------------------------------------------------

/** The delay of the roll-up behind finished jobs: counts may be ten seconds old, and a busy queue costs six calls per minute. */
export const ROLL_UP_EVERY_MS = 10_000;
/** The first comes so much sooner at most, by lot, so that the roll-ups of many queues do not come at once. */
export const ROLL_UP_SPREAD_MS = 5_000;
/**
 * The first roll-up of a queue comes later once its lane has left: new jobs are counted half a minute behind, and so one run
 * counts their ends as well. Of six queues with a job every ten minutes it saves a call per job.
 */
export const ROLL_UP_REST_MS = 40_000;
/**
 * A run that counts fewer jobs of the last minute does not come again by itself: the sweep after the next job asks for another.
 * (For a job every ten minutes, the roll-up would otherwise come twice.)
 */
export const ROLL_UP_STAYS_JOBS = 8;
export const ROLL_UP_LATELY_MS = 60_000;
/**
 * After a queue's only job for a while, its roll-up waits for further jobs: of an idle app's calls it would be one in five. No
 * whole number of minutes: jobs of a cron would end just when it comes, and it would have to come again.
 */
export const ROLL_UP_RARE_MS = 8.5 * 60_000;
/** Finished jobs that one run of the roll-up counts: rows of up to 6 KB with the longest error, 3 MiB in all. */
export const ROLL_UP_JOBS = 512;
/**
 * Counts are kept for so long: by minutes, so that a month can be compared with the one before; by hours and days, years.
 * A row has 700 bytes: that is 62, 6 and 1 MB of a queue that is never idle.
 */
export const PERIODS_RETENTION_MS = {
  minute: 62 * DAY_MS,
  hour: 366 * DAY_MS,
  day: 5 * 366 * DAY_MS,
} as const;
/**
 * New jobs are counted this far behind. A job's creation time is from its mutation's beginning, which may take 20 seconds to
 * commit: no row may come in below the counted ones.
 */
export const ARRIVALS_LAG_MS = 30_000;
/**
 * Where few new jobs come, each roll-up counts them too, and puts their alarm off by this. It is longer than the time between
 * two roll-ups at one job per minute: the alarm rings only where no job ends for a while.
 */
export const ARRIVALS_RARE_MS = 10 * 60_000;
/** New jobs that one step counts. */
export const ARRIVALS_JOBS = 512;
/** Queues of such jobs, of deleted ones as many more: each may begin a minute, an hour and a day, and forget two old rows of each. */
export const ARRIVALS_QUEUES = 64;
/** A sweep that meets a new job so old, uncounted, sees to it: in its queue nothing ends. */
export const ARRIVALS_LATE_MS = 2 * ARRIVALS_LAG_MS;
/** Of a busy queue each status is counted up to so many with every ring, and beyond that more seldom. */
export const GAUGE_QUICK = 50;
/**
 * How often further statuses are counted: moving ones, and finished ones. At most one status per run: 6 MB of rows at worst.
 */
export const GAUGE_ACTIVE_MS = 60_000;
export const GAUGE_FINISHED_MS = 10 * 60_000;
/** Events are kept for this long. */
export const EVENTS_RETENTION_MS = 31 * DAY_MS;
/** Events that one call returns. */
export const EVENTS_DEFAULT = 100;
export const EVENTS_MAX = 1_000;

/** Jobs that one transaction deletes: each costs six reads of its rows in further tables. */
export const REMOVE_JOBS = 100;
/** Rows that hang on jobs (output, log entries, attempts) which one transaction deletes with them. */
export const REMOVE_ROWS = 1_000;
/**
 * The bytes that one transaction reads in order to delete, each row twice, since a delete is also a read. Beyond this the next
 * transaction goes on; the payload, result and context of the last job are 3 MB more.
 */
export const REMOVE_BYTES = 1.5 * 2 ** 20;
/** A purge that had more to do than one transaction comes back after this; a busy queue costs one call per minute. */
export const PURGE_BUSY_MS = 60_000;
/** A purge without more to do comes back at most this much later than it must: an idle queue that keeps jobs costs one call per hour. */
export const PURGE_IDLE_MS = 60 * 60_000;
/** Jobs that must be kept for less than an hour should not be kept for an hour: the purge is late by a part of the retention. */
export const PURGE_LATE_PART = 24;
export const PURGE_LATE_MIN_MS = 1_000;
/** A job with a pending `onComplete` is kept until the callback has run, and checked again after this. */
export const PURGE_OWED_MS = 60_000;
/** Routes are looked through, and unused ones deleted, when there are more than these; and so many at a time. */
export const ROUTES_KEPT = 16;
export const ROUTES_DROPPED = 8;

// --- Many jobs ----------------------------------------------------------------------------------

/** Jobs that one step of `cancelMany`, `retryMany` or `deleteMany` looks at, whether they match or not. */
export const BULK_SCANNED = 512;
/** Jobs that one step changes: each may cost a dozen reads, and a callback that is owed is a scheduled function. */
export const BULK_CHANGED = 100;
/** Jobs that move while a step looks elsewhere are found by another pass; work that never stops coming ends it. */
export const BULK_PASSES = 3;
/** Statuses, tags and labels that a filter names. */
export const FILTER_MAX = 16;
/**
 * All of a filter: it is kept in an alarm's row, which every search for overdue alarms reads. The longest of all texts are 5
 * KB.
 */
export const FILTER_MAX_BYTES = 8 * 2 ** 10;

// --- Tokens -------------------------------------------------------------------------------------

/** How long a former secret may go on after a rotation: time to start a fleet anew. */
export const ROTATION_GRACE_MAX_MS = 7 * DAY_MS;
/** Sessions of a revoked token whose leases one transaction ends; their rows are up to 28 KB. */
export const REVOKED_SESSIONS = 64;

/**
 * Alarms that one segment may have: of callers that find it without one at the same time, only callers of the same slot
 * conflict. (With one slot, at 100 delayed jobs per second, 11 callers in a hundred conflicted and retried.)
 */
export const ALARM_SLOTS = 32;
/**
 * A call that records reports of workers does not depend on an alarm that rings within this time: the call may take as long,
 * and would conflict and retry. It arms another alarm, which rings this much later. (Of calls that record 1,000 jobs of which
 * 30 in 100 fail, 43 in 100 retried.)
 */
export const ALARM_NEAR_MS = 300;
export const ALARM_AFTER_MS = 50;

/** Narrower alarms that the ring of a wider one arms: each costs a read, a row and a scheduled function. */
export const REBUCKET_MAX = 64;
/** Alarms that one call arms, above which it leaves them to a wider one. */
export const ARM_MAX = 64;
/** A job that cannot be made claimable is retried this much later, and does not hold up further jobs. */
export const POSTPONE_MS = 10 * 60_000;
/** Dead alarms that one look finds, and stretches of overdue work without one. */
export const OVERDUE_ALARMS_MAX = 16;

/**
 * Ranges that one search for lost work reads, of all its queues together: less than half of a transaction's reads, and as many
 * as all places of forty queues with the default shards.
 */
export const WATCH_RANGES_MAX = 1_920;

// --- Due work ------------------------------------------------------------------------------------

/**
 * Jobs that one ring of the dispatcher makes claimable: about 150 KB of writes, a fraction of a second's share of the
 * smallest deployment.
 */
export const PROMOTE_MAX = 256;
/** A job that has waited so long shows that claims are behind: promoting more would only move the heap. */
export const PROMOTE_BEHIND_MS = 2_000;
/** While claims are that far behind, a segment's second batch and all that follow come at this distance. */
export const PROMOTE_PAUSE_MS = 1_000;
/** Ranges that are looked at to learn whether claims are behind. */
export const PROMOTE_LOOKS_MAX = 256;
/** Jobs that one ring of the expiry fails: each may owe a callback, free a key, and has a row of its own. */
export const EXPIRE_MAX = 64;

// --- Callbacks that are owed ---------------------------------------------------------------------

/** How often an owed callback is tried before it is left for people to see. */
export const CALLBACK_TRIES_MAX = 10;
export const CALLBACK_BACKOFF_MS = 1_000;
export const CALLBACK_BACKOFF_MAX_MS = 60 * 60_000;
/** As long as ten tries take. One that has waited as long for earlier ends of its job is given up with its first failure. */
export const CALLBACK_WAIT_MAX_MS = 2 ** CALLBACK_TRIES_MAX * CALLBACK_BACKOFF_MS;
/** A callback whose next try should have been planned this long ago is planned again. */
export const CALLBACK_OVERDUE_MS = 60_000;

// --- Janitor ------------------------------------------------------------------------------------

/** It comes this much after a lease's end, so that a beat sent in time is not raced. */
export const JANITOR_SLACK_MS = 100;
/** A timer within this of the wanted time is left alone: clocks of two machines differ by as much. */
export const JANITOR_TOLERANCE_MS = 250;
/** A timer overdue by more counts as dead, and the transaction that finds it replaces it. */
export const JANITOR_OVERDUE_MS = 5_000;
/**
 * A sweep that is so late is done by the next worker or lane that notices. Sooner than it counts as dead: a scheduler with a
 * backlog starts it in the end, and until then no lost job would come back. Later than the time for which sweeps that follow one
 * another leave the alarm as it was (`rearm`).
 */
export const TEND_LATE_MS = 3_000;
/** So many of a fleet at a time learn that work is late: all see the same. */
export const TENDERS = 4;
/** While anything is leased it comes at least this often, to publish cursors before tombstones pile up. */
export const JANITOR_PERIOD_MS = 30_000;
/**
 * A session whose jobs cannot be returned (a bug of ours) is left alone for this long, and does not hold up the other sessions.
 */
export const JANITOR_QUARANTINE_MS = 60_000;
/**
 * Silent sessions that one sweep ends, and leases of theirs, from the second session on: after a crash of many they are ended
 * in a few transactions. Not more: a session that beats after all makes the whole sweep run again.
 */
export const EXPIRED_MAX = 8;
export const EXPIRED_LEASES_MAX = 128;
/**
 * Places that one sweep reads to publish cursors, of all queues together, two ranges each: a quarter of a transaction's reads,
 * and all places of as many queues with the default shards as one worker serves.
 */
export const PUBLISH_PLACES_MAX = 512;
/** The bytes of the first rows of these places, and of jobs that have ended since a queue's last floor. */
export const PUBLISH_BYTES_MAX = 2 * 2 ** 20;
/** Places that one queue's cursor names one by one: about 35 KB, in a row that every claim reads. */
export const PUBLISHED_BOUNDS_MAX = PUBLISH_PLACES_MAX;
/** Forgotten sessions deleted a sweep, and overdue callbacks planned again. */
export const JANITOR_FORGET_MAX = 16;
/** While there are more to forget, it comes again after this pause: a fleet whose processes live for one job has many. */
export const JANITOR_FORGET_PAUSE_MS = 1_000;
/** Where it comes for nothing else, it leaves them to lie for so long, and forgets many together. */
export const JANITOR_FORGET_REST_MS = 2 * 60 * 60_000;
export const JANITOR_REPLAN_MAX = 16;
