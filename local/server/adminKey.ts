/** Who is calling: anyone, or whoever holds the admin key. */
import { createHash, timingSafeEqual } from "node:crypto";
import { PlatformError } from "../functions/errors.js";
import type { Identity } from "../functions/types.js";

export const ANYONE: Identity = { kind: "none" };
export const ADMIN: Identity = { kind: "admin" };

/** What a caller with a user's token is told, over HTTP and over the socket. */
export const USER_TOKENS_UNSUPPORTED =
  "The local backend does not verify users' tokens (JWT) yet: ctx.auth knows nobody here. " +
  "Call without setAuth, or with the admin key.";

export class AdminKey {
  readonly #digest: Buffer;

  constructor(readonly key: string) {
    this.#digest = digest(key);
  }

  /** `key`, or `key:<attributes>`, by which an admin acts as a user: that part needs users and is refused. */
  matches(given: string): boolean {
    return timingSafeEqual(this.#digest, digest(given));
  }

  /** From the `Authorization` header. Throws when there is one that does not hold. */
  identify(authorization: string | undefined): Identity {
    if (authorization === undefined) return ANYONE;
    const [scheme, credentials = ""] = authorization.split(/\s+/, 2);
    if (scheme === "Bearer") {
      throw new PlatformError(401, "UserTokensUnsupported", USER_TOKENS_UNSUPPORTED);
    }
    if (scheme === "Convex" && this.matches(credentials)) return ADMIN;
    if (scheme === "Convex" && this.matches(credentials.slice(0, credentials.lastIndexOf(":")))) {
      throw new PlatformError(
        401,
        "ActingAsUnsupported",
        "The local backend has no users yet, so an admin cannot act as one. Leave --identity out.",
      );
    }
    throw badAdminKey();
  }

  /** For what only an admin may do. */
  require(authorization: string | undefined): void {
    if (this.identify(authorization).kind !== "admin") throw badAdminKey();
  }
}

export function badAdminKey(): PlatformError {
  return new PlatformError(
    401,
    "BadAdminKey",
    "The provided admin key was invalid for this instance. " +
      "The local backend prints its key when it starts: set CONVEX_SELF_HOSTED_ADMIN_KEY to it.",
  );
}

/** Digests have one length, as a comparison in constant time needs. */
function digest(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}
