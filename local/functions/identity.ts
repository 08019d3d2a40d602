/** The rules that follow from the caller's identity: the user that functions see, and the calls that carry it on. */
import type { Namespace } from "../engine/types.js";
import type { Identity, UserAttributes } from "./types.js";

export const ANYONE: Identity = { kind: "none" };
export const ADMIN: Identity = { kind: "admin" };

/** The result of `ctx.auth.getUserIdentity()`. */
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
 * An action takes its user along only from a function of the app to another of the app; an admin without an assumed
 * user goes everywhere. Inside a transaction the platform draws no such line: a component sees the app's caller there.
 */
export function identityAcross(identity: Identity, from: Namespace, to: Namespace): Identity {
  if (identity.kind === "admin" && identity.actingAs === undefined) return identity;
  return from === "" && to === "" ? identity : ANYONE;
}
