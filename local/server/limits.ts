/** Every bound of the server, with its reason. Sizes are bytes, durations milliseconds. */

/** A push of a large app compresses to a few megabytes; the platform takes arguments of up to 16 MiB. */
export const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** The platform answers a Ping to a client that has heard nothing else for this long; clients give up after 60 s. */
export const PING_IDLE_MS = 15_000;

/** The client reads a transition in parts when one message would be larger than this. */
export const TRANSITION_CHUNK_BYTES = 5_000_000;

/** What one socket may have waiting; the platform refuses more with `TooManyConcurrentMutations`. */
export const MAX_QUEUED_MUTATIONS = 1_000;
export const MAX_RUNNING_ACTIONS = 1_000;

/** How long `stream_function_logs` waits for something to report. The CLI asks again at once. */
export const LOG_POLL_MS = 30_000;

/** Completions kept for `stream_function_logs`. */
export const MAX_KEPT_COMPLETIONS = 2_000;

/** How long closing waits for running functions. */
export const CLOSE_GRACE_MS = 5_000;

/** A close reason may have 123 bytes, by the WebSocket protocol. */
export const MAX_CLOSE_REASON_BYTES = 123;

/** The platform's close code for "come again later": the client reconnects with backoff and sends its mutations again. */
export const CLOSE_TRY_AGAIN = 1013;
