/**
 * Checks users' tokens (JWT) against the providers of `auth.config.ts`: from the right issuer, for this app, signed by
 * one of the provider's keys, neither too early nor too late. Signatures and times are `jose`'s work.
 */
import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  jwtVerify,
  type JWTPayload,
} from "jose";
import type { Environment } from "../environment.js";
import { PlatformError } from "../functions/errors.js";
import type { Identity } from "../functions/types.js";
import { fromCustomJwt, fromIdToken } from "./claims.js";
import { KeySets, unauthenticated, type KeySet } from "./keySets.js";
import { CUSTOM_JWT_TOLERANCE_SECONDS } from "./limits.js";
import {
  issuerOf,
  sameIssuer,
  type AuthProvider,
  type CustomJwtProvider,
  type OidcProvider,
} from "./providers.js";

/** Most providers use RSA; EdDSA is Ed25519 alone (authentication/src/lib.rs). */
const ID_TOKEN_ALGORITHMS = ["RS256", "EdDSA"];

export type UserSession = Extract<Identity, { kind: "user" }>;

type Claims = JWTPayload & { iss: string; sub: string; exp: number };

export class TokenVerifier {
  readonly #keySets: KeySets;

  constructor(private readonly env: Environment) {
    this.#keySets = new KeySets(env);
  }

  /** Throws a `PlatformError` that names the fault of the token, or of its provider. */
  async verify(token: string, providers: readonly AuthProvider[]): Promise<UserSession> {
    const { iss, aud } = unverified(token);
    const audiences = aud === undefined ? [] : [aud].flat();
    // A forged token finds at worst the wrong provider, and none of its keys signed it.
    const provider = providers.find((candidate) => accepts(candidate, iss, audiences));
    if (provider === undefined) throw noProvider(providers);
    const isCustom = "type" in provider;
    const claims = isCustom
      ? await this.#verifyCustom(token, provider)
      : await this.#verifyIdToken(token, provider, iss);
    return {
      kind: "user",
      user: isCustom ? fromCustomJwt(claims) : fromIdToken(claims),
      expiresAt: claims.exp * 1000,
      token,
    };
  }

  async #verifyIdToken(token: string, provider: OidcProvider, issuer: string): Promise<Claims> {
    const url = /^https?:\/\//.test(issuer) ? issuer : `https://${issuer}`;
    try {
      const claims = await this.#verified(token, (fresh) => this.#keySets.ofIssuer(url, fresh), {
        algorithms: ID_TOKEN_ALGORITHMS,
      });
      // As on the platform, a token that is also for another application is not taken.
      if ([claims.aud].flat().some((audience) => audience !== provider.applicationID)) {
        throw new Error("it is for other applications too");
      }
      return claims;
    } catch (error) {
      if (error instanceof PlatformError) throw error;
      throw new PlatformError(
        401,
        "Unauthenticated",
        "Could not verify OIDC token claim. Check that the token signature is valid and the token hasn't expired. " +
          `(${(error as Error).message})`,
      );
    }
  }

  async #verifyCustom(token: string, provider: CustomJwtProvider): Promise<Claims> {
    const { kid } = decodeProtectedHeader(token);
    try {
      if (kid === undefined) throw new errors.JWKSNoMatchingKey();
      const claims = await this.#verified(
        token,
        (fresh) => this.#keySets.at(provider.jwks, fresh),
        {
          algorithms: [provider.algorithm],
          clockTolerance: CUSTOM_JWT_TOLERANCE_SECONDS,
        },
      );
      const { iat = 0 } = claims;
      if (iat - CUSTOM_JWT_TOLERANCE_SECONDS > this.env.now() / 1000) {
        throw new errors.JWTClaimValidationFailed('"iat" is in the future', claims, "iat");
      }
      return claims;
    } catch (error) {
      if (error instanceof PlatformError) throw error;
      if (error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed) {
        throw unauthenticated(`Could not validate token: ${error.message}`);
      }
      throw unauthenticated(
        kid === undefined
          ? "Could not decode token. JWT may be missing a 'kid' (key ID) header."
          : `Could not decode token. The JWT's 'kid' (key ID) header is '${kid}', does this key match any key in the provider's JWKS? ` +
              `(${(error as Error).message})`,
      );
    }
  }

  /** Asks for the keys again when they are old and the token's is not among them: providers replace theirs. */
  async #verified(
    token: string,
    keysOf: (fresh: boolean) => Promise<KeySet>,
    options: { algorithms: string[]; clockTolerance?: number },
  ): Promise<Claims> {
    const check = async ({ keys }: KeySet): Promise<Claims> => {
      const verifying = jwtVerify(token, createLocalJWKSet(keys), {
        ...options,
        currentDate: new Date(this.env.now()),
        requiredClaims: ["iss", "sub", "exp"],
      });
      const { payload } = await this.env.outside(verifying);
      return payload as Claims;
    };
    const first = await keysOf(false);
    try {
      return await check(first);
    } catch (error) {
      if (!first.kept || !(error instanceof errors.JWKSNoMatchingKey)) throw error;
      return check(await keysOf(true));
    }
  }
}

function unverified(token: string): JWTPayload & { iss: string } {
  let payload: JWTPayload;
  try {
    payload = decodeJwt(token);
    decodeProtectedHeader(token);
  } catch {
    throw unauthenticated(
      "Could not parse JWT payload. Check that the token is a valid JWT format with three base64-encoded parts separated by dots.",
    );
  }
  const { iss } = payload;
  if (typeof iss === "string") return { ...payload, iss };
  throw unauthenticated(
    "Missing issuer claim ('iss') in JWT payload. The JWT must include an 'iss' claim that matches one of your configured auth providers.",
  );
}

function accepts(provider: AuthProvider, issuer: string, audiences: string[]): boolean {
  const { applicationID } = provider;
  if (applicationID !== null && !audiences.includes(applicationID)) return false;
  return sameIssuer(issuerOf(provider), issuer);
}

function noProvider(providers: readonly AuthProvider[]): PlatformError {
  const configured = providers.map((provider) =>
    "type" in provider
      ? `CustomJWT(issuer=${provider.issuer}, app_id=${provider.applicationID ?? "none"})`
      : `OIDC(domain=${provider.domain}, app_id=${provider.applicationID})`,
  );
  return new PlatformError(
    401,
    "NoAuthProvider",
    configured.length === 0
      ? "No auth provider found matching the given token (no providers configured). Check convex/auth.config.ts."
      : "No auth provider found matching the given token. Check that your JWT's issuer and audience match one of your " +
          `configured providers: [${configured.join(", ")}]`,
  );
}
