/** What follows from who calls: which user functions see, and how far that is told. */
import type { Namespace } from "../engine/types.js";
import type { Identity, UserAttributes } from "./types.js";

export const ANYONE: Identity = { kind: "none" };
export const ADMIN: Identity = { kind: "admin" };

/** What `ctx.auth.getUserIdentity()` gives. */
export function userOf(identity: Identity): UserAttributes | null {
  switch (identity.kind) {
    case "none":
      return null;
    case "admin":
      return identity.actingAs ?? null;
    case "user":
      return identity.user;
  }
}

/**
 * An action takes its user along only from a function of the app to another of the app; an admin who is nobody else goes
 * everywhere. Inside a transaction the platform draws no such line: there a component sees who called the app.
 */
export function identityAcross(identity: Identity, from: Namespace, to: Namespace): Identity {
  if (identity.kind === "admin" && identity.actingAs === undefined) return identity;
  return from === "" && to === "" ? identity : ANYONE;
}
