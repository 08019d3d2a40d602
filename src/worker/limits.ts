/** The worker's own times and bounds. Limits that it shares with the component are in `src/shared/limits.ts`. */
import { ENQUEUE_MAX_JOBS } from "../shared/index.js";

/** Over how long workers that start at once spread their first claims. */
export const FIRST_SPREAD_MS = 50;
/** Once to twice so long after its start it scans again: a fleet that starts together has been counted. */
export const LOOK_AGAIN_MS = 2_000;
/** Between the turns of two workers of a fleet: a claim, and the news of it, take about so long. */
export const TURN_GAP_MS = 120;
/** For so long the same one of a fleet comes first when it is woken, and then the next: much longer than clocks are apart. */
export const FIRST_MS = 1_000;
/** From a worker's turn to the next one's for one job that was named: its first one may have a call on its way, and then claim. */
export const NAMED_GAP_MS = 200;
/**
 * The longest wait of a fleet's last worker, however large the fleet is: workers before it are busy as a rule, and may
 * be gone without a word. So that few come at once where few are away, each gap between two turns is shorter.
 */
export const PATIENCE_MS = 400;
/**
 * A worker that got so many jobs in a row after the turns of other workers, none of which took any meanwhile, comes at
 * once: they are away.
 */
export const LATE_WINS = 2;
/** Once to one and a half times so long it leaves a job that it has failed to workers that have not. */
export const FAILED_PATIENCE_MS = 2_000;
/** After how long a worker on call without room reports a job that no other takes: others are called up for it. */
export const UNTAKEN_MS = 250;
/** For so long after it got a job, the news that it waits is old news. */
export const NAMED_TAKEN_MS = 2_000;
/** One in so many claims of named jobs also scans so many queues: for jobs that are lost, overdue or hidden. */
export const NAMED_CLAIMS_A_LOOK = 32;
export const NAMED_LOOK_QUEUES = 2;
/**
 * For how long a worker is sure of its place in its fleet: twice as long each time that an answer confirms it, and no
 * longer once another has the job that it came for. A fleet that has just started gets answers often, and one at rest
 * seldom.
 */
export const PLACES_SURE_MIN_MS = 1_000;
export const PLACES_SURE_MAX_MS = 30_000;
/** The wait after an empty claim; it doubles while there is said to be work and none is got. */
export const EMPTY_WAIT_MIN_MS = 50;
/** So many of them are short for a large fleet, too: a job of another worker's shard may be free by then. */
export const EMPTY_WAITS_SHORT = 3;
export const EMPTY_WAIT_MAX_MS = 5_000;
/**
 * After so many empty claims in a row a queue that is said to have work is followed from the claims' cursor on: most of the
 * time another worker has been faster, and the subscription that all share is the cheaper one.
 */
export const EMPTY_CLAIMS_MAX = 4;
/**
 * Out of turn a fleet comes no faster than so together, up to the longest wait; and each waits so many times as long as its
 * last claim took: where that is long, the deployment has more to do than it can.
 */
export const EMPTY_WAIT_GAP_MS = 80;
export const EMPTY_WAIT_CLAIMS = 16;

/**
 * A call without an answer is given up and repeated. The platform itself waits up to 5 s for a permit and runs a
 * conflicting mutation five times with up to 2 s between: twice that and a slow network fit.
 */
export const CALL_TIMEOUT_MS = 30_000;
/** The slowest line that carries the largest call: it is repeated as it is, and would be cut off each time. */
export const LINE_BYTES_PER_MS = 32;
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
/** One that is refused as often even so is handed over to the deployment: nothing of the app's is in its way any more. */
export const REFUSALS_BEFORE_HANDING_OVER = 4;

/** Results in one `complete`, as in a claim: one transaction's share, well below the platform's 16 MiB of arguments. */
export const COMPLETE_MAX_BYTES = 4 * 2 ** 20;
/** So much each job that follows counts besides, so that no more follow the outcomes of one call than one call enqueues. */
export const FOLLOWING_BYTES = Math.ceil(COMPLETE_MAX_BYTES / ENQUEUE_MAX_JOBS);

/** A socket that is gone for so long may be gone for good, as behind a proxy that lets calls alone through. */
export const SOCKET_LOST_MS = 20_000;

/** Between two reports: reports of that time go together, and a page is as fresh as people can see. */
export const REPORT_INTERVAL_MS = 250;
/** How often one job's part of a report is refused alone before it is given up. */
export const REPORT_REFUSALS_MAX = 3;
/**
 * Output goes when a clause or line ends, or there is more than a line of it, as people read; and at the latest after a
 * second, so that a slow writer is seen to write.
 */
export const OUTPUT_DEFAULT = { flushOn: /[,.!?\n]/, flushChars: 100, flushMs: 1_000 } as const;
export const FLUSH_CHARS_MAX = 16_384;
export const FLUSH_MS_MAX = 60_000;
/** A job held for so long is worth a subscription to its cancellation; shorter ones end by themselves. */
export const CANCEL_WATCH_AFTER_MS = 500;
export const PRESENCE_DEFAULT_MS = 60_000;
export const PRESENCE_MIN_MS = 1_000;

/** Between two status events. */
export const STATUS_DEFAULT_MS = 60_000;
export const STATUS_MIN_MS = 1_000;

/** Docker kills after 10 s, and most orchestrators after 30 s. The last calls take a fraction of the rest as a rule. */
export const GRACE_DEFAULT_MS = 8_000;
/** For the last `complete` after the grace. */
export const FLUSH_MS = 3_000;
/** For the word that the session is over, which nothing else waits for. */
export const GOODBYE_MS = 750;
/** For the end of the sockets: one that has no answer yet, or whose other end is gone, does not say when it is closed. */
export const SOCKETS_CLOSE_MS = 250;
/** Answers to jobs of a batch that goes on are recorded together, so often. */
export const ANSWERS_INTERVAL_MS = REPORT_INTERVAL_MS;
/** How long a handler keeps its slot after its signal to stop. A well-behaved one ends within milliseconds. */
export const ABANDON_AFTER_MS = 5_000;
/** A job that comes again while its handler still runs waits so long for that, and goes back: in the end for so long. */
export const BESIDE_MS = 1_000;
export const BESIDE_BACK_MAX_MS = 60_000;

/** A local retry is for failures that pass within seconds; the queue retries after longer ones. */
export const RETRY_LOCALLY_DEFAULT = { attempts: 3, minMs: 500, maxMs: 10_000 } as const;
export const RETRY_LOCALLY_TIMES_MAX = 100;
export const RETRY_LOCALLY_MAX_MS = 60 * 60_000;

/** The least time between two polls; while they find nothing it doubles so often. */
export const POLL_MIN_MS = 250;
export const POLL_DOUBLINGS = 3;

/** After a claim that a limit or a hook has left out, the next one is asked about. */
export const HELD_BACK_MS = 1_000;
