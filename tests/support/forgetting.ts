/** Later than any lease of a test ends, and sooner than a session is forgotten. */
const LATER_MS = 60 * 60_000;

/**
 * Whether a sweep that is due then only forgets sessions that are over, a day later, and ends no lease: a world at rest may
 * have one. A session that has come back since leaves that sweep armed, and the sweep then finds nothing.
 */
export function onlyForgets(dueAt: number, sessions: readonly unknown[], now: number): boolean {
  return dueAt > now + LATER_MS && sessions.length > 0;
}
