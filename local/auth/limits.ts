/** Bounds of requests to identity providers. Durations are milliseconds, sizes bytes. */

/** The platform asks the provider for every token. Here keys are kept this long, and asked for anew when one is missing. */
export const KEYS_KEPT_MS = 10 * 60_000;
export const MAX_KEPT_KEY_SETS = 50;

/** An assumption: a provider that takes longer is taken for unreachable. */
export const PROVIDER_TIMEOUT_MS = 10_000;

/** An assumption: real key sets have a few kilobytes. */
export const MAX_PROVIDER_RESPONSE_BYTES = 1024 * 1024;

/** How far a provider's clock may be off, for `customJwt` (authentication/src/lib.rs, `epsilon`). */
export const CUSTOM_JWT_TOLERANCE_SECONDS = 5;
