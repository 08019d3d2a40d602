/** The caller's identity: none, a user by a token, the admin by the key, or the admin as a user. */
import { decodeActingUser, parseActingUser } from "../auth/actingUser.js";
import type { AuthProvider } from "../auth/providers.js";
import type { TokenVerifier } from "../auth/tokens.js";
import { PlatformError } from "../functions/errors.js";
import { ADMIN, ANYONE } from "../functions/identity.js";
import type { Identity } from "../functions/types.js";
import { badAdminKey, type AdminKey } from "./adminKey.js";
import type { HttpRequest } from "./http.js";

export class Authenticator {
  constructor(
    private readonly adminKey: AdminKey,
    private readonly verifier: TokenVerifier,
    /** Of the latest push. */
    private readonly providers: () => readonly AuthProvider[],
  ) {}

  /** By the `Authorization` header, or `?adminKey=`. Throws when its value is not valid. */
  async ofRequest({
    authorization,
    url,
  }: Pick<HttpRequest, "authorization" | "url">): Promise<Identity> {
    if (authorization === undefined) {
      const key = url.searchParams.get("adminKey");
      return key === null ? ANYONE : this.admin(key);
    }
    const [, scheme, credentials] = /^(bearer|convex)\s+(.*)$/is.exec(authorization) ?? [];
    if (scheme === undefined || credentials === undefined) {
      throw new PlatformError(
        400,
        "InvalidHeaderFailure",
        'The Authorization header must be "Bearer <token>" or "Convex <admin key>".',
      );
    }
    if (scheme.toLowerCase() === "bearer") return this.user(credentials.trim());
    return this.#adminOrActing(credentials.trim());
  }

  user(token: string): Promise<Identity> {
    return this.verifier.verify(token, this.providers());
  }

  /** `actingAs` are a user's attributes as the client sends them. */
  admin(key: string, actingAs?: unknown): Identity {
    if (!this.adminKey.matches(key)) throw badAdminKey();
    if (actingAs === undefined || actingAs === null) return ADMIN;
    return { kind: "admin", actingAs: parseActingUser(actingAs) };
  }

  /** `key`, or `key:<attributes of the user to act as>`. A key may itself hold colons, base64 does not. */
  #adminOrActing(credentials: string): Identity {
    if (this.adminKey.matches(credentials)) return ADMIN;
    const colon = credentials.lastIndexOf(":");
    if (colon === -1 || !this.adminKey.matches(credentials.slice(0, colon))) throw badAdminKey();
    return { kind: "admin", actingAs: decodeActingUser(credentials.slice(colon + 1)) };
  }
}
