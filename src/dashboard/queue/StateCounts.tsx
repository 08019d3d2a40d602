/** How many jobs a queue has in each state; each leads to them. */
import { STATUSES, type Counts, type Status } from "../../shared/index.js";
import { Icon } from "../parts/Icon.js";
import { Link } from "../parts/Link.js";
import { queuePlace, type QueueLook } from "../places.js";
import { countOf, STATUS_WORDS } from "../words.js";

export function StateCounts({
  queue,
  counts,
  look,
  current = "none",
}: {
  queue: string;
  counts: Counts;
  /** What else is kept when one goes to another state. */
  look?: QueueLook;
  current?: Status | "any" | "none";
}) {
  const { status: _any, ...narrowed } = look?.filter ?? {};
  return (
    <ul className="cv-counts">
      {current !== "none" && (
        <li>
          <Link
            to={queuePlace(queue, { ...look, tab: "jobs", filter: narrowed })}
            className="cv-count"
            isCurrent={current === "any"}
          >
            <b>All</b> <span className="cv-count-word">Any state</span>
          </Link>
        </li>
      )}
      {STATUSES.map((status) => (
        <li key={status}>
          <Link
            to={queuePlace(queue, { ...look, tab: "jobs", filter: { ...look?.filter, status } })}
            className={`cv-count cv-is-${status} ${counts[status].count === 0 ? "cv-none" : ""}`}
            isCurrent={status === current}
          >
            <b>{countOf(counts[status])}</b>{" "}
            <span className="cv-count-word">
              <Icon name={status} />
              {STATUS_WORDS[status]}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
