/** Who works: each worker's last beat and what it holds, and the lanes in which Convex works itself. */
import { useState } from "react";
import type { WorkerStatus } from "../../shared/index.js";
import { useRead } from "../frame/context.js";
import { Surrounded, type ViewProps } from "../frame/Root.js";
import { Guard } from "../parts/Guard.js";
import { Heading } from "../parts/Heading.js";
import { Notice } from "../parts/Notice.js";
import { Skeleton } from "../parts/Skeleton.js";
import { numeral, several } from "../words.js";
import { WorkerRow } from "./WorkerRow.js";

/**
 * Everybody who works on jobs: workers outside and the lanes in which Convex works itself, what each does now, and when it was
 * last heard.
 *
 * @example
 * import { WorkersView } from "convex-conveyor/dashboard";
 * <WorkersView api={api.dashboard} />;
 */
export function WorkersView(props: ViewProps) {
  return (
    <Surrounded {...props}>
      <div className="cv-view">
        <Heading>Workers</Heading>
        <Guard label="The workers">
          <Workers />
        </Guard>
      </div>
    </Surrounded>
  );
}

function Workers() {
  const workers = useRead({ kind: "workers" });
  const [withGone, setWithGone] = useState(false);
  if (workers === undefined) return <Skeleton lines={4} tall />;
  if (workers.length === 0) {
    return (
      <Notice title="Nobody has taken a job yet">
        <p>A worker shows up here with its first job; a lane as soon as Convex works itself.</p>
      </Notice>
    );
  }
  const gone = workers.filter(({ state }) => state === "gone").length;
  const shown = withGone ? workers : workers.filter(({ state }) => state !== "gone");
  return (
    <>
      <p className="cv-lead">{inAll(workers)}</p>
      {gone > 0 && (
        <label className="cv-field cv-check">
          <input
            type="checkbox"
            checked={withGone}
            onChange={(event) => setWithGone(event.target.checked)}
          />
          <span>With those that are gone ({numeral(gone)})</span>
        </label>
      )}
      <ul className="cv-workers">
        {inOrder(shown).map((worker) => (
          <WorkerRow key={worker.session} worker={worker} />
        ))}
      </ul>
    </>
  );
}

/** "3 workers and 2 lanes are there; 4 of them hold 12 jobs." */
function inAll(workers: readonly WorkerStatus[]): string {
  const there = workers.filter(({ state }) => state !== "gone");
  const lanes = there.filter(({ isLane }) => isLane).length;
  const active = there.filter(({ holding }) => holding.length > 0);
  const held = active.reduce((sum, { holding }) => sum + holding.length, 0);
  const who = `${several(there.length - lanes, "worker")} and ${several(lanes, "lane")} are there`;
  return held === 0
    ? `${who}; none of them holds a job.`
    : `${who}; ${active.length} of them hold ${several(held, "job")}.`;
}

/** Workers before lanes, each by name: in the order of beats they would change places every second. */
function inOrder(workers: readonly WorkerStatus[]): WorkerStatus[] {
  const rank = ({ isLane, state }: WorkerStatus) => (state === "gone" ? 2 : 0) + (isLane ? 1 : 0);
  return workers.toSorted(
    (a, b) =>
      rank(a) - rank(b) ||
      a.name.localeCompare(b.name, undefined, { numeric: true }) ||
      (a.session < b.session ? -1 : 1),
  );
}
