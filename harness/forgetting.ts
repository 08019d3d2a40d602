/** Later than any lease of a test ends, and sooner than a session is forgotten. */
const LATER_MS = 60 * 60_000;

/**
 * Whether a sweep that is due then only forgets sessions that are over, a day later, and ends no lease: a world at rest may
 * have one.
 */
export function onlyForgets(
  dueAt: number,
  sessions: readonly { readonly [field: string]: unknown }[],
  now: number,
): boolean {
  return dueAt > now + LATER_MS && sessions.some((session) => session["state"] === "gone");
}
