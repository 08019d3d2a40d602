/** Moments and durations that go on. */
import { useNow } from "../frame/clock.js";
import { ago, duration, moment, until } from "../words.js";

const exactly = (at: number) => ({
  dateTime: new Date(at).toISOString(),
  title: new Date(at).toLocaleString(),
});

/** "3 s ago". */
export function Ago({ at }: { at: number }) {
  const now = useNow();
  return <time {...exactly(at)}>{ago(at, now)}</time>;
}

/** "in 3 s". */
export function Until({ at }: { at: number }) {
  const now = useNow();
  return <time {...exactly(at)}>{until(at, now)}</time>;
}

/** "03:12:45". */
export function Moment({ at }: { at: number }) {
  const now = useNow();
  return <time {...exactly(at)}>{moment(at, now)}</time>;
}

/** How long it took, or takes so far. */
export function Took({ from, to }: { from: number; to?: number | undefined }) {
  const now = useNow();
  return <>{duration((to ?? now) - from)}</>;
}
