/** From a verified token's claims to the result of `ctx.auth.getUserIdentity()`. */
import type { JWTPayload } from "jose";
import type { JSONValue } from "convex/values";
import type { UserAttributes } from "../functions/types.js";

/** OpenID Connect's names of standard claims, to the platform's (keybroker/src/broker.rs, `from_token`). */
const STANDARD_TEXT: Record<string, string> = {
  name: "name",
  given_name: "givenName",
  family_name: "familyName",
  nickname: "nickname",
  preferred_username: "preferredUsername",
  profile: "profileUrl",
  picture: "pictureUrl",
  email: "email",
  gender: "gender",
  birthdate: "birthday",
  zoneinfo: "timezone",
  locale: "language",
  phone_number: "phoneNumber",
};
const STANDARD_FLAGS: Record<string, string> = {
  email_verified: "emailVerified",
  phone_number_verified: "phoneNumberVerified",
};

/** Claims about the token and not the user. `fva` ages from token to token, and would make each another identity. */
const OF_THE_TOKEN = new Set(["iss", "sub", "aud", "exp", "nbf", "iat", "jti", "fva"]);
const OF_AN_ID_TOKEN = new Set(
  ["auth_time", "nonce", "acr", "amr", "azp", "at_hash", "c_hash", "website"].concat([
    ...OF_THE_TOKEN,
  ]),
);

export function fromIdToken(payload: JWTPayload & { iss: string; sub: string }): UserAttributes {
  const attributes = base(payload);
  for (const [claim, value] of Object.entries(payload)) {
    if (OF_AN_ID_TOKEN.has(claim)) continue;
    const [name, told] = standard(claim, value) ?? [claim, value as JSONValue];
    if (told !== undefined) attributes[name] = told;
  }
  return attributes;
}

/** All claims are the app's own here, under their own names; claims of nested objects are joined by dots. */
export function fromCustomJwt(payload: JWTPayload & { iss: string; sub: string }): UserAttributes {
  const attributes: UserAttributes = {};
  flatten(payload, "", attributes);
  for (const claim of OF_THE_TOKEN) delete attributes[claim];
  return { ...attributes, ...base(payload) };
}

export function tokenIdentifier(issuer: string, subject: string): string {
  return `${issuer}|${subject}`;
}

function base({ iss, sub }: { iss: string; sub: string }): UserAttributes {
  return { tokenIdentifier: tokenIdentifier(iss, sub), issuer: iss, subject: sub };
}

/** `undefined` in the pair: a standard claim of another type than the standard's, which is left out. */
function standard(claim: string, value: unknown): [string, JSONValue | undefined] | null {
  const text = STANDARD_TEXT[claim];
  if (text !== undefined) return [text, typeof value === "string" ? value : undefined];
  const flag = STANDARD_FLAGS[claim];
  if (flag !== undefined) return [flag, typeof value === "boolean" ? value : undefined];
  if (claim === "address") {
    const { formatted } = (value ?? {}) as { formatted?: unknown };
    return ["address", typeof formatted === "string" ? formatted : undefined];
  }
  if (claim === "updated_at") return ["updatedAt", updatedAt(value)];
  return null;
}

/** Seconds since the epoch, by the standard; some providers write a date. */
function updatedAt(value: unknown): string | undefined {
  const at = typeof value === "number" ? new Date(value * 1000) : new Date(String(value));
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString().replace(/(\.000)?Z$/, "+00:00");
}

function flatten(claims: object, prefix: string, into: UserAttributes): void {
  for (const [name, value] of Object.entries(claims) as [string, JSONValue][]) {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      flatten(value, `${prefix}${name}.`, into);
    } else {
      into[prefix + name] = value;
    }
  }
}
