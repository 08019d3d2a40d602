/** The rule of all worlds at rest for a sweep that stays armed: it comes for sessions that are over, a day later. */
import { SESSION_RETENTION_MS, JANITOR_FORGET_REST_MS } from "../../src/shared/index.js";

/** Later than any lease of a test ends, and sooner than a session is forgotten. */
const LATER_MS = 60 * 60_000;

/**
 * Whether this alarm is a sweep that only forgets sessions, and ends no lease: no later than for some session that is there.
 * A session that has come back since leaves that sweep armed, and the sweep then finds nothing.
 */
export function onlyForgets(
  { kind, dueAt }: Fields,
  sessions: readonly Fields[],
  now: number,
): boolean {
  if (kind !== "janitor" || Number(dueAt) <= now + LATER_MS) return false;
  const latest = Math.max(...sessions.map(({ lastSeenAt }) => Number(lastSeenAt)));
  return Number(dueAt) <= latest + SESSION_RETENTION_MS + JANITOR_FORGET_REST_MS;
}

interface Fields {
  readonly [field: string]: unknown;
}
