/** Bounds of file storage, with their source. Sizes are bytes, durations milliseconds. */

/** The platform's `STORE_FILE_AUTHORIZATION_VALIDITY` (local_backend/src/storage.rs). */
export const UPLOAD_URL_VALID_MS = 3_600_000;

/** The platform's `MAX_CACHE_AGE` (local_backend/src/storage.rs), in seconds: a stored file never changes. */
export const MAX_CACHE_AGE_S = 30 * 24 * 3600;

/**
 * An assumption: the platform bounds the time of an upload and not its size; here the bytes of one pass through memory.
 */
export const MAX_FILE_BYTES = 256 * 1024 * 1024;
