/** The fields of a session's row that say its duty in a large fleet: see `claim/onCall.ts`. */
import { checkName, expiry } from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";

type Session = Doc<"sessions">;

/** `standbySince` of a worker that stands not by: on call without room, or watching. Places come after. */
export const FULL = 1;
export const WATCHING = 2;
export const FIRST_PLACE = 3;

/** None are of a worker that has no duty. */
export interface DutyFields extends Pick<Session, "peers" | "standbySince"> {
  /** It will be silent for so long, and lives. */
  silentMs?: number;
}

/** The key of a worker's peers in rows: the workers of a token name only each other. */
export function peersOf({ token }: Pick<Session, "token">, { peers }: { peers: string }): string {
  checkName("The peers of a worker", peers);
  return `${token}:${peers}`;
}

/** The fields of a duty. A session that says so is live for as long as it is silent: see `IDLE_LIVE_MS`. */
export function dutyOf(
  { peers, standbySince, silentMs = 0 }: DutyFields,
  leases: Session["leases"],
  now: number,
) {
  const seen = leases.length === 0 && silentMs > 0 ? { expiresAt: expiry([], now + silentMs) } : {};
  return { peers, standbySince, ...seen };
}
