/** How many jobs of the queue are in each state. The counts are bounded: beyond the bound there is a plus. */
import { useCounts } from "../data.js";

const SHOWN = [
  ["pending", "waiting"],
  ["running", "running"],
  ["succeeded", "done"],
  ["failed", "failed"],
  ["timedOut", "timed out"],
  ["canceled", "canceled"],
] as const;

/** These are shown even at zero; trouble only where there is some. */
const ALWAYS: ReadonlySet<string> = new Set(["pending", "running", "succeeded"]);

export function QueueCounts() {
  const counts = useCounts();
  return (
    <dl className="counts" aria-label="Jobs of the queue “tiles”">
      {SHOWN.filter(([status]) => ALWAYS.has(status) || (counts?.[status].count ?? 0) > 0).map(
        ([status, word]) => (
          <div key={status} className={`count count-${status}`}>
            <dt>{word}</dt>
            <dd>
              {counts === undefined
                ? "–"
                : `${counts[status].count}${counts[status].more ? "+" : ""}`}
            </dd>
          </div>
        ),
      )}
    </dl>
  );
}
