/** The conditions after a crash at any moment. Pure: from the clients' knowledge and the rows to the violations. */
import type { Done } from "./load.js";

export interface Audit {
  entries: { key: string; kind: string }[];
  runs: { key: string; what: string }[];
  counted: number;
  missing: string[];
}

/** The only way in which a scheduled function may have failed: an action that ran when the process was killed. */
const LOST_ACTION = "Transient error while executing action";

/** Rows that were acknowledged and are not there, or were acknowledged as deleted and are. */
export function lost(
  acknowledged: readonly Done[],
  unknown: readonly Done[],
  audit: Audit,
): string[] {
  const entries = new Set(audit.entries.map(({ key }) => key));
  // An unanswered move may have taken an acknowledged row away: `torn` checks that case.
  const moved = new Set([...acknowledged, ...unknown].map(({ from }) => from));
  return acknowledged.flatMap(({ key, from }) => [
    ...(entries.has(key) || moved.has(key) ? [] : [`${key} was acknowledged and is lost`]),
    ...(from !== undefined && entries.has(from) ? [`${from} was deleted and is back`] : []),
  ]);
}

/** Commits of which only a part is there. */
export function torn(done: readonly Done[], audit: Audit): string[] {
  const entries = new Set(audit.entries.map(({ key }) => key));
  return done.flatMap(({ key, from }) =>
    from !== undefined && entries.has(key) === entries.has(from)
      ? [`of the move from ${from} to ${key} one half is there`]
      : [],
  );
}

export function doubled({ entries, runs }: Audit): string[] {
  const seen = new Set<string>();
  return [...entries.map(({ key }) => key), ...runs.map(({ key, what }) => `${key} ${what}`)]
    .filter((row) => seen.size === seen.add(row).size)
    .map((row) => `${row} is there twice`);
}

/** A scheduled mutation runs exactly once if the transaction that scheduled it was committed, else never. */
export function exactlyOnce(done: readonly Done[], audit: Audit): string[] {
  const entries = new Set(audit.entries.map(({ key }) => key));
  const ran = new Set(audit.runs.filter(({ what }) => what === "ran").map(({ key }) => key));
  return done
    .filter(({ kind, key }) => kind === "schedule" && entries.has(key) !== ran.has(key))
    .map(
      ({ key }) => `${key} was ${ran.has(key) ? "run and not scheduled" : "scheduled and not run"}`,
    );
}

/** Chains go link by link, and end early only where a running action was lost. */
export function chained(done: readonly Done[], audit: Audit, errors: readonly string[]): string[] {
  const wrong = errors.filter((error) => error !== LOST_ACTION).map((error) => `failed: ${error}`);
  let cutShort = 0;
  for (const { key } of done.filter(({ kind }) => kind === "chain")) {
    const marks = audit.runs.filter((run) => run.key === key).map(({ what }) => what);
    const expected = Array.from({ length: marks.length }, (_, i) =>
      i % 2 === 0 ? `begin ${i / 2}` : `end ${(i - 1) / 2}`,
    );
    if (expected.some((mark) => !marks.includes(mark))) wrong.push(`${key} has ${marks.join()}`);
    const started = audit.entries.some((entry) => entry.key === key);
    if (started && marks.length < LINK_MARKS) cutShort++;
  }
  if (cutShort > errors.length) wrong.push(`${cutShort} chains end early, ${errors.length} failed`);
  return wrong;
}

/** `LINKS` in the app, twice. */
const LINK_MARKS = 10;
