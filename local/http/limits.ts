/** Bounds of HTTP actions, with their source. Sizes are bytes, durations milliseconds. */

/** The platform's `HTTP_SERVER_TIMEOUT_DURATION` (knobs.rs): no response by then is an empty 408. */
export const HTTP_TIMEOUT_MS = 300_000;

/** The platform's `HTTP_ACTION_BODY_LIMIT` (isolate/src/http_action.rs): the rest of a longer response is dropped. */
export const MAX_RESPONSE_BYTES = 20 * 1024 * 1024;

/** How much of a response may wait for a slow client. An assumption: no more than keeps the network busy. */
export const RESPONSE_BUFFER_BYTES = 256 * 1024;
