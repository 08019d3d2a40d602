/** Limits and defaults of queues that Convex itself works off, each with its reason. Pure. */

/** How many jobs of a queue run inside Convex at once by default: the usual default of such libraries. */
export const PARALLELISM_DEFAULT = 10;
/** More than any deployment class runs actions. */
export const PARALLELISM_MAX = 2_000;
/** How long jobs may be left to workers outside: longer is a queue that has no handler. */
export const FALLBACK_MAX_MS = 24 * 60 * 60_000;
/** How long a job whose handler cannot start is put off before it fails: a day is time for a deploy that mends it. */
export const HANDLER_MISSING_DEFAULT_MS = 86_400_000;
export const HANDLER_MISSING_MAX_MS = 366 * HANDLER_MISSING_DEFAULT_MS;
/** While jobs of a queue are put off so, there is an event so often, and each tells on the queue's health for so long. */
export const BLOCKED_EVENT_MS = 10 * 60_000;
export const BLOCKED_SHOWN_MS = 20 * 60_000;
/** How long one attempt may run inside Convex if nothing is said, and at most: a lane's action ends after 30 minutes. */
export const PUSH_TIMEOUT_DEFAULT_MS = 10 * 60_000;
export const PUSH_TIMEOUT_MAX_MS = 25 * 60_000;
/** The same where the lane runs in an action of the app, which may be a Node action: that ends after 10 minutes. */
export const INLINE_TIMEOUT_MAX_MS = 9 * 60_000;

/**
 * The longest `result` validator of a queue, written out, that is checked where the component calls handlers. Every enqueue
 * carries it, and every step reads it: beyond this length, only types bound the return value of a handler.
 */
export const RESULT_RULE_MAX_CHARS = 2_048;

// --- Lanes --------------------------------------------------------------------------------------

/**
 * Jobs that one lane runs at once: as many as class S16 runs at all, so that one lane does the work of two there without their
 * conflicts. Of mutations it has as many as fit a call. Measured beside 8, 16, 32 and 64 (docs/internals/choices/push.md).
 */
export const LANE_WIDTH = 48;
/** A lane that has not called for so long is looked after: whether its scheduled function still runs. */
export const LANE_WATCH_MS = 20_000;
/** The grid of these times: lanes with a time in the same cell cost one read together. */
export const LANE_WATCH_GRID_MS = 5_000;
/**
 * A lane with room, in a queue where jobs keep coming, looks again after so long, then after twice that, so often. From its
 * second look in vain on it says that it is about to go: 600 ms before it does, which is longer than nearly every caller
 * takes. Without that 2 to 15 in 100 callers of 60 to 200 ms ran again (docs/internals/choices/push-wakes.md).
 */
export const LANE_LOOK_MS = 100;
export const LANE_LOOKS_MAX = 3;
export const LANE_LOOKS_ALONE = 1;
/** A lane says so as long before its process takes no more of its jobs. */
export const LANE_LEAVES_MS = 1_000;
/** How long a lane with a running job waits for other jobs to end before it reports the ended ones (docs/internals/choices/push.md). */
export const LANE_LINGER_MS = 25;
/** A job that has waited this long although a lane looks for it is taken by any lane: its own lane may have died. */
export const LANE_RESCUE_MS = 3_000;
/** A wake that was shown an old snapshot, and found nothing there, comes again after so long. */
export const WAKE_AGAIN_MS = 100;
/** Pending jobs in a queue that Convex runs, without a claim for this long, count as forgotten. */
export const WAKE_OVERDUE_MS = 5_000;
/** A job of an inline handler that has run for so long is asked after as often: whether it is canceled, or another's by now. */
export const LANE_ASK_MS = 5_000;
/** Where a handler inside Convex has taken its signal: with a query's time, it aborts within a second of a cancel. */
export const SIGNAL_ASK_MS = 700;
/** Where no slot of the scheduler is left, the lane with room looks at least this often: no other lane can be started. */
export const LANE_LOOK_MAX_MS = 1_000;
/**
 * Mutation handlers that run in one transaction, which they share with their outcomes and callbacks; as many are all that
 * a lane of mutations holds. Measured beside 4, 8 and 32 (docs/internals/choices/push.md).
 */
export const HANDLERS_PER_STEP = 16;
/** The budget of a handler that runs alone: the outcome, a callback and the next claim need the rest of a transaction. */
export const HANDLER_ALONE_LIMITS = {
  bytesRead: 8 * 2 ** 20,
  bytesWritten: 11 * 2 ** 20,
  databaseQueries: 1_024,
  documentsRead: 16_000,
  documentsWritten: 11_000,
  functionsScheduled: 700,
} as const;
/**
 * The total size of a lane's first jobs that are written with its scheduled function, which is written anew whenever its state
 * changes; larger jobs cost a call of the lane instead. This is as much as all jobs of a lane with payloads in their rows. (Of
 * jobs of 500 KiB, ten per second, 27 callers of 100 were refused, since the class writes no faster, and 9 of a work pool's.)
 */
export const LANE_CARRIES_BYTES = 64 * 2 ** 10;
/** Rows of `lanes` that are read for a queue: one for each job that may run, and the ones kept for single jobs. */
export const LANES_READ = PARALLELISM_MAX + 64;

// --- Processes ----------------------------------------------------------------------------------

/** The share of the class's scheduler that one mount takes if nothing is said: the other half is the app's. */
export const SCHEDULER_SHARE_DEFAULT = 0.5;
/** Below this a mount of class S16 would have less than one slot; above, the app's own functions would have none left. */
export const SCHEDULER_SHARE_MIN = 0.01;
export const SCHEDULER_SHARE_MAX = 0.9;
/**
 * Processes of a mount at once, with half of the class's scheduler. On S16 that is half of the class's scheduled functions at
 * once. The larger classes schedule 128 and more; the number is enough for all places in half full processes, and each further
 * process is another that asks for places.
 */
export const PROCESSES_BY_CLASS: Readonly<Record<string, number>> = {
  s16: 4,
  s256: 32,
  d1024: 64,
  d2048: 128,
};
/**
 * Jobs of a mount at once, without handlers that are mutations: for any queue, and with the ones for queues that run fewer than
 * two. With the processes themselves they are fewer than the class's action permits: 64, 512, 1,024 and 2,048.
 */
export const PLACES_BY_CLASS: Readonly<Record<string, { any: number; all: number }>> = {
  s16: { any: 48, all: 56 },
  s256: { any: 192, all: 224 },
  d1024: { any: 768, all: 832 },
  d2048: { any: 1_536, all: 1_664 },
};
/** Places of one process: as many jobs does its death take with it. */
export const PROCESS_WIDTH = 56;
/**
 * With so many no lane is handed to it any more: wakes see in a snapshot how many it has, and it asks for places for their
 * jobs some 250 ms later. Not where one process may have all places, as on class S16: with two that shared 48 the jobs of 30
 * busy queues began after 1.1 s at p95, and begin after 0.3 s.
 */
export const PROCESS_FULL = 40;
/** No attempt of a process ends later than this after its start: the platform ends actions after 30 minutes. */
export const PROCESS_LIFE_MS = 29.5 * 60_000;
/** The same of a process that runs in an action of the app, which may be a Node action: that ends after 10 minutes. */
export const INLINE_LIFE_MS = 9.75 * 60_000;
/**
 * So long takes such a process new jobs. A deploy of the app reaches an inline handler only with a new process; functions
 * that are called by reference are the new ones at once.
 */
export const INLINE_OPEN_MS = 30_000;
/** So often a process looks for lanes that were handed to it, where no step of its lanes has looked. */
export const PROCESS_LOOK_MS = 250;
/** A process looks for so much longer than lanes are handed to it: a wake may take as long from its clock to its commit. */
export const PROCESS_LATE_MS = 60_000;
/** Lanes that one look brings, and hand-overs that one close reads. */
export const HAND_OVERS_READ = 16;
/** Queues that wait and are woken together, and how soon the next are where there are more. */
export const ROUSED = 8;
export const ROUSE_AGAIN_MS = 200;
/** A process that has this many more places than half as many again as the jobs it runs gives the rest back. */
export const PLACES_SPARE = 3;
/** A lane that has used all places of its process is given so many more at once, or this part of the places that are left. */
export const PLACES_MORE = 8;
export const PLACES_PART = 4;
