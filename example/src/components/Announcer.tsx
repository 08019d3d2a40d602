/** Tells screen readers how a picture comes along: at quarters and at trouble, not at every tile. */
import type { Tally } from "../tally.js";

export function Announcer({ title, tally }: { title: string; tally: Tally }) {
  return (
    <p className="visually-hidden" aria-live="polite">
      {wordsFor(title, tally)}
    </p>
  );
}

/** The same words for all states within a quarter, so that the region changes, and is read, once a quarter. */
export function wordsFor(
  title: string,
  { total, succeeded, unfinished, failed, canceled }: Tally,
): string {
  if (total === 0) return "";
  const trouble =
    (failed > 0 ? ` ${failed} failed.` : "") + (canceled > 0 ? ` ${canceled} canceled.` : "");
  if (succeeded === total) return `${title} is complete.`;
  if (unfinished === 0) return `${title} is incomplete.${trouble}`;
  const quarters = Math.floor((4 * succeeded) / total);
  return `${title}: ${quarters * 25} percent drawn.${trouble}`;
}
