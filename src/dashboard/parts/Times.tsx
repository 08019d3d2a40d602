/** Moments and durations, kept current. */
import { useNow } from "../frame/clock.js";
import { useLabels } from "../frame/context.js";
import { moment } from "../words.js";

/** Nothing of a number that no date has: a worker tells the time of its own start. */
function exactly(at: number): { dateTime?: string; title?: string } {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return {};
  return { dateTime: date.toISOString(), title: date.toLocaleString() };
}

/** "3 s ago". */
export function Ago({ at }: { at: number }) {
  const now = useNow();
  return <time {...exactly(at)}>{useLabels().times.ago(at, now)}</time>;
}

/** "in 3 s". */
export function Until({ at }: { at: number }) {
  const now = useNow();
  return <time {...exactly(at)}>{useLabels().times.until(at, now)}</time>;
}

/** "03:12:45". */
export function Moment({ at }: { at: number }) {
  const now = useNow();
  return <time {...exactly(at)}>{moment(at, now)}</time>;
}

/** The time from `from` to `to`, or so far. */
export function Took({ from, to }: { from: number; to?: number | undefined }) {
  const now = useNow();
  return <>{useLabels().times.duration((to ?? now) - from)}</>;
}
