/** The admin's key, for deployments. All other callers are `authenticator.ts`'s concern. */
import { createHash, timingSafeEqual } from "node:crypto";
import { PlatformError } from "../functions/errors.js";

export class AdminKey {
  readonly #digest: Buffer;

  constructor(readonly key: string) {
    this.#digest = digest(key);
  }

  matches(given: string): boolean {
    return timingSafeEqual(this.#digest, digest(given));
  }

  /** For calls that only an admin without an assumed user may make. `authorization` is the header. */
  require(authorization: string | undefined): void {
    const [, key] = /^convex\s+(.*)$/is.exec(authorization ?? "") ?? [];
    if (key === undefined || !this.matches(key.trim())) throw badAdminKey();
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
