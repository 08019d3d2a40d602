/** The worker's own times and bounds. Those that it shares with the component are in `src/shared/limits.ts`. */

/** A random wait before the claim that a wake-up asks for, so that a fleet does not come all at once. */
export const WAKE_SPREAD_MS = 50;
/** The wait after an empty claim; it doubles while there is said to be work and none is got. */
export const EMPTY_WAIT_MIN_MS = 50;
export const EMPTY_WAIT_MAX_MS = 5_000;

/**
 * A call without an answer is given up and repeated. The platform itself waits up to 5 s for a permit and runs a
 * conflicting mutation five times with up to 2 s between: twice that and a slow network fit.
 */
export const CALL_TIMEOUT_MS = 30_000;
/** A beat is worth little when it is late, and the next one says the same. */
export const BEAT_TIMEOUT_MS = 10_000;
/** Between repeats: 250 ms doubling to 10 s, each times a random half to whole. */
export const REPEAT_MIN_MS = 250;
export const REPEAT_MAX_MS = 10_000;
/** Between tries of one outcome that the deployment refuses. */
export const REFUSED_MIN_MS = 1_000;
export const REFUSED_MAX_MS = 60_000;
/**
 * An outcome refused so often alone goes without its callback. Not at the first time: a conflict may be bad luck, and
 * the app's data and the job's status should change together where they can.
 */
export const REFUSALS_BEFORE_DEFERRING = 2;

/** Results in one `complete`, as in a claim: one transaction's share, well below the platform's 16 MiB of arguments. */
export const COMPLETE_MAX_BYTES = 4 * 2 ** 20;

export const PROGRESS_INTERVAL_MS = 250;
export const PRESENCE_DEFAULT_MS = 60_000;
export const PRESENCE_MIN_MS = 1_000;

/** What orchestrators give by default is 30 s: this, and the last calls, fit in it. */
export const GRACE_DEFAULT_MS = 25_000;
/** For the last `complete` after the grace. */
export const FLUSH_MS = 3_000;
/** How long a handler that was told to stop keeps its slot. A well-behaved one ends within milliseconds. */
export const ABANDON_AFTER_MS = 5_000;
