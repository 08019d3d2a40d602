/** A queue's job counts by status; each links to the list of its jobs. */
import { STATUSES, type Counts, type Status } from "../../shared/index.js";
import { useLabels } from "../frame/context.js";
import { Icon } from "../parts/Icon.js";
import { Link } from "../parts/Link.js";
import { queuePlace, type QueueLook } from "../places.js";
import { countOf, numeral } from "../words.js";

export function StateCounts({
  queue,
  counts,
  look,
  current = "none",
}: {
  queue: string;
  counts: Counts;
  /** The rest of the look, which a link to another status keeps. */
  look?: QueueLook;
  current?: Status | "any" | "none";
}) {
  const { jobs, statuses } = useLabels();
  const { retrying = 0 } = counts.scheduled;
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
            <b>{jobs.all}</b> <span className="cv-count-word">{jobs.anyStatus}</span>
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
              {statuses[status]}
            </span>
            {status === "scheduled" && retrying > 0 && (
              <span className="cv-count-note">
                {numeral(retrying)} {jobs.backingOff}
              </span>
            )}
          </Link>
        </li>
      ))}
    </ul>
  );
}
