/** The fields of a session's row that say its duty in a large fleet: see `claim/onCall.ts`. */
import { checkName, expiry } from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";

type Session = Doc<"sessions">;

/** `standbySince` of a worker that stands not by: on call without room, or watching. Places come after. */
export const FULL = 1;
export const WATCHING = 2;
export const FIRST_PLACE = 3;

/** None are of a worker that has no duty. */
export type DutyFields = Pick<Session, "peers" | "standbySince" | "silentMs">;

/** The key of a worker's peers in rows: the workers of a token name only each other. */
export function peersOf({ token }: Pick<Session, "token">, { peers }: { peers: string }): string {
  checkName("The peers of a worker", peers);
  return `${token}:${peers}`;
}

/** The fields of a duty. A session that says so is live for as long as it is silent: see `IDLE_LIVE_MS`. */
export function dutyOf(
  { peers, standbySince, silentMs }: DutyFields,
  leases: Session["leases"],
  now: number,
) {
  const seen =
    leases.length === 0 && silentMs !== undefined ? { expiresAt: expiry([], now + silentMs) } : {};
  return { peers, standbySince, silentMs, ...seen };
}

/** After a completion without a claim: a worker on call has room again, and one that stands by is silent as before. */
export function dutyAgain({ peers, standbySince, silentMs }: Session): DutyFields | undefined {
  if (peers === undefined || standbySince === undefined) return undefined;
  if (standbySince === FULL) return { peers };
  return { peers, standbySince, ...(silentMs === undefined ? {} : { silentMs }) };
}

/** With room, for jobs of these peers. */
export function isOnCall({ peers: of, standbySince = FULL }: Session, peers: string): boolean {
  return of === peers && standbySince === FULL;
}
