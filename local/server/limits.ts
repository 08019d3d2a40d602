/** Every bound of the server, with its reason. Sizes are bytes, durations milliseconds. */

/** A push of a large app compresses to a few megabytes; the platform takes arguments of up to 16 MiB. */
export const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** The platform answers a Ping to a client that has received nothing else for this long; clients give up after 60 s. */
export const PING_IDLE_MS = 15_000;

/** The client reads a transition in parts when one message would be larger than this. */
export const TRANSITION_CHUNK_BYTES = 5_000_000;

/** Mutations of one socket that wait, and actions that run (sync/src/worker.rs, `OPERATION_QUEUE_BUFFER_SIZE`). */
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

/** The close code for a failure of the backend itself. */
export const CLOSE_INTERNAL_ERROR = 1011;
export const CLOSE_NORMAL = 1000;

/** The server asks over the socket whether the client is there, and gives it up when it is silent (subs/mod.rs). */
export const SOCKET_PING_MS = 5_000;
export const CLIENT_SILENCE_MS = 120_000;

/** Queries of one client that run at once (sync/src/worker.rs, `UPDATE_QUERY_CONCURRENCY`). */
export const MAX_RUNNING_QUERIES = 20;

/**
 * When one commit outdates more queries than this, they are woken at random within so many milliseconds for each
 * (knobs.rs, `SUBSCRIPTION_INVALIDATION_DELAY_THRESHOLD` and `_MULTIPLIER`).
 */
export const MAX_WOKEN_AT_ONCE = 200;
export const WAKE_SPLAY_MS = 5;
