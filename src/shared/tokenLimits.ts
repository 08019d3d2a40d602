/** Limits of one worker's token: its scope, and the writes of its workers. Pure. */
import {
  ENQUEUE_MAX_BYTES,
  holds,
  OFFER_MAX_BYTES,
  PAYLOAD_MAX_BYTES,
  REPORT_MAX_BYTES,
} from "./limits.js";

/** All groups of one token: a worker's claim has them beside its labels, and its session's row keeps both. 64 ids. */
export const TOKEN_GROUPS_MAX_BYTES = 2 * 2 ** 10;

/**
 * Sessions of one token that are kept: as many of a fleet as are counted. At the bound a new session takes the place of one
 * that is gone, so that processes which live for a second may come at eleven a second.
 */
export const SESSIONS_MAX = 1_000;
/** Sessions of a full token among which a new one looks for a place, and sessions that it forgets: rows of up to 28 KB each. */
export const SESSIONS_LOOKED_AT = 16;
export const SESSIONS_FORGOTTEN = 4;

/**
 * The bytes that all workers of one token may write within an hour, without another bound: log entries, output, continued jobs.
 * A thousand answers of a language model, streamed at once all the time, are half of it.
 */
export const TOKEN_HOUR_BYTES = 4 * 2 ** 30;
export const TOKEN_HOUR_MS = 60 * 60_000;
/**
 * It is counted by lot, so many bytes at a time: a report of a kilobyte touches the count once in 4,096 times. The error of
 * a whole hour's sum is 3 in 100.
 */
export const TOKEN_COUNT_BYTES = 4 * 2 ** 20;
/** The bytes that a log entry or part of output counts for beside its text: it is a row, even with a single letter. */
export const TOKEN_ROW_BYTES = 64;
/** The bytes that a continued job counts for beside its payload: its rows in tables and indexes. */
export const TOKEN_JOB_BYTES = 2 ** 10;
/**
 * Different rules (`retry`, `timeoutMs`, `leaseMs`, `maxResets`) that jobs continued by the workers of one token may bring: a row of
 * 200 bytes each is kept for good. Code has few, and a worker that computes one for each job has as many as it likes.
 */
export const TOKEN_RULES_MAX = 10_000;
/** Outcomes of one call together, with the jobs that follow: of one job a result, and as much as one enqueue takes. */
export const OUTCOMES_MAX_BYTES = ENQUEUE_MAX_BYTES + 2 * PAYLOAD_MAX_BYTES;

holds("a token's groups leave room for labels", TOKEN_GROUPS_MAX_BYTES <= OFFER_MAX_BYTES / 2);
holds("a full report is counted whenever it comes", TOKEN_COUNT_BYTES <= REPORT_MAX_BYTES);
holds("one call is a small part of an hour", 64 * ENQUEUE_MAX_BYTES < TOKEN_HOUR_BYTES);
