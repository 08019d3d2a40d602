/**
 * The export of `auth.config.ts`: the providers that may issue tokens for the app. Checks it as the platform does when
 * it is pushed, with the platform's codes, which the CLI knows.
 */
import { PlatformError } from "../functions/errors.js";

export interface OidcProvider {
  applicationID: string;
  domain: string;
}

export interface CustomJwtProvider {
  type: "customJwt";
  applicationID: string | null;
  issuer: string;
  jwks: string;
  algorithm: "RS256" | "ES256";
}

export type AuthProvider = OidcProvider | CustomJwtProvider;

/** Takes the default export of `auth.config.ts`. */
export function parseProviders(config: unknown): AuthProvider[] {
  if (config === undefined || config === null) {
    throw refused(
      "AuthConfigMissingExportError",
      `auth config file is missing default export. ${SEE_DOCS}`,
    );
  }
  // Its values may come from another context, and only their JSON counts.
  const plain = JSON.parse(JSON.stringify(config) ?? "null") as { providers?: unknown } | null;
  if (!Array.isArray(plain?.providers)) throw mismatch("missing field `providers`");
  return plain.providers.map((provider: unknown, index) => parseProvider(provider, index));
}

/** The issuer that a provider's tokens name. */
export function issuerOf(provider: AuthProvider): string {
  return "domain" in provider ? provider.domain : provider.issuer;
}

/** The scheme may be left out, in the configuration as in tokens, and a slash at the end counts for nothing. */
export function sameIssuer(issuer: string, claimed: string): boolean {
  const full = /^https?:\/\//.test(claimed) ? claimed : `https://${claimed}`;
  return withoutSlash(issuer) === withoutSlash(full);
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, "");
}

function parseProvider(value: unknown, index: number): AuthProvider {
  const provider = (value ?? {}) as Record<string, unknown>;
  const at = `Provider at index ${index}`;
  if ("applicationId" in provider || "applicationid" in provider) {
    throw mismatch(
      `${at} must have applicationID property spelled lowercase 'application', capital I, capital D.`,
    );
  }
  const { type } = provider;
  if (type !== undefined && type !== "customJwt" && type !== "oidc") {
    throw mismatch(`${at} has unexpected 'type' value ${JSON.stringify(type)}`);
  }
  return type === "customJwt" ? parseCustomJwt(provider, at) : parseOidc(provider, at);
}

function parseOidc(provider: Record<string, unknown>, at: string): OidcProvider {
  if ("issuer" in provider) throw mismatch(`${at} is oidc so cannot have an 'issuer' specified.`);
  return {
    applicationID: text(provider, "applicationID", at),
    domain: issuerUrl(text(provider, "domain", at)),
  };
}

function parseCustomJwt(provider: Record<string, unknown>, at: string): CustomJwtProvider {
  if ("domain" in provider) {
    throw mismatch(`${at} is a customJwt so cannot have a 'domain' specified`);
  }
  const algorithm = text(provider, "algorithm", at);
  if (algorithm !== "RS256" && algorithm !== "ES256") {
    throw mismatch(`${at} has algorithm '${algorithm}', expected RS256 or ES256`);
  }
  const applicationID =
    (provider["applicationID"] ?? null) === null ? null : text(provider, "applicationID", at);
  return {
    type: "customJwt",
    applicationID,
    issuer: issuerUrl(text(provider, "issuer", at)),
    jwks: text(provider, "jwks", at),
    algorithm,
  };
}

function text(provider: Record<string, unknown>, field: string, at: string): string {
  const value = provider[field];
  if (typeof value === "string") return value;
  throw mismatch(
    value === undefined
      ? `${at}: missing field \`${field}\``
      : `${at}: \`${field}\` must be a string, got ${JSON.stringify(value)}`,
  );
}

function issuerUrl(given: string): string {
  const hasScheme = /^\w+:\/\//.test(given);
  const full = hasScheme ? given : `https://${given}`;
  let url: URL;
  try {
    url = new URL(full);
  } catch (error) {
    throw badDomain(given, (error as Error).message);
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw badDomain(given, "scheme should be http or https");
  }
  if (!hasScheme && url.hostname !== "localhost" && !/\.[a-z][a-z0-9-]+$/.test(url.hostname)) {
    throw badDomain(
      given,
      "Does not look like a URL (must have a scheme or end with a top-level domain)",
    );
  }
  return full;
}

const SEE_DOCS = "To learn more, see the auth documentation at https://docs.convex.dev/auth.";

function badDomain(given: string, why: string): PlatformError {
  return refused("InvalidProviderDomainUrl", `Invalid provider domain URL "${given}": ${why}`);
}

function mismatch(why: string): PlatformError {
  return refused(
    "AuthConfigNotMatchingSchemaError",
    `auth config file must include a list of provider credentials: ${why}`,
  );
}

function refused(code: string, message: string): PlatformError {
  return new PlatformError(400, code, message);
}
