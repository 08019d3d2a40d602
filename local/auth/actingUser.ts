/** The user that an admin acts as: attributes that the admin makes up, as `npx convex run --identity` sends them. */
import type { JSONValue } from "convex/values";
import { PlatformError } from "../functions/errors.js";
import type { UserAttributes } from "../functions/types.js";
import { tokenIdentifier } from "./claims.js";

const FLAGS = new Set(["emailVerified", "phoneNumberVerified"]);
const TEXTS = new Set(
  (
    "tokenIdentifier issuer subject name givenName familyName nickname preferredUsername profileUrl pictureUrl email " +
    "gender birthday timezone language phoneNumber address updatedAt"
  ).split(" "),
);

export function parseActingUser(value: unknown): UserAttributes {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw malformed(`must be an object, got ${JSON.stringify(value)}`);
  }
  const attributes: UserAttributes = {};
  for (const [name, given] of Object.entries(value as Record<string, JSONValue>)) {
    if (given === null && (TEXTS.has(name) || FLAGS.has(name))) continue;
    const wanted = TEXTS.has(name) ? "string" : FLAGS.has(name) ? "boolean" : null;
    if (wanted !== null && typeof given !== wanted) {
      throw malformed(`have ${name} ${JSON.stringify(given)}, which must be a ${wanted}`);
    }
    attributes[name] = given;
  }
  const { issuer, subject } = attributes;
  if (typeof issuer === "string" && typeof subject === "string") {
    attributes["tokenIdentifier"] ??= tokenIdentifier(issuer, subject);
  }
  if (attributes["tokenIdentifier"] === undefined) {
    throw malformed('need either "tokenIdentifier" or "issuer" and "subject"');
  }
  return attributes;
}

/** From the part of the `Authorization` header behind the admin key: base64 of JSON. */
export function decodeActingUser(encoded: string): UserAttributes {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(encoded, "base64").toString("utf8"));
  } catch {
    throw new PlatformError(400, "HeaderParseFailure", "Malformed Authorization header.");
  }
  return parseActingUser(value);
}

function malformed(why: string): PlatformError {
  return new PlatformError(
    400,
    "HeaderParseFailure",
    `The attributes of the user to act as ${why}.`,
  );
}
