/** Limits of what one worker's token is for, and of what its workers may write. Pure. */
import { holds, OFFER_MAX_BYTES } from "./limits.js";

/** All groups of one token: a worker's claim has them beside its labels, and its session's row keeps both. */
export const TOKEN_GROUPS_MAX_BYTES = 4 * 2 ** 10;

holds("a token's groups leave room for labels", TOKEN_GROUPS_MAX_BYTES <= OFFER_MAX_BYTES / 2);
