/** Workers and lanes, each with its last heartbeat and its jobs. */
import { useState } from "react";
import { WORKERS_MAX, type ShownWorker } from "../../shared/index.js";
import { useLabels, useRead } from "../frame/context.js";
import { Surrounded, type ViewProps } from "../frame/Root.js";
import type { Labels } from "../labelOverrides.js";
import { Guard } from "../parts/Guard.js";
import { Heading } from "../parts/Heading.js";
import { Notice } from "../parts/Notice.js";
import { Skeleton } from "../parts/Skeleton.js";
import { WorkerRow } from "./WorkerRow.js";

/**
 * All workers and lanes: external workers, and the lanes that run jobs inside Convex, each with its jobs and the time of its last
 * call.
 *
 * @example
 * import { WorkersView } from "convex-conveyor/dashboard";
 * <WorkersView api={api.dashboard} />;
 */
export function WorkersView(props: ViewProps) {
  return (
    <Surrounded {...props}>
      <View />
    </Surrounded>
  );
}

function View() {
  const { page, workers } = useLabels();
  return (
    <div className="cv-view">
      <Heading>{page.workers}</Heading>
      <Guard label={workers.part}>
        <Workers />
      </Guard>
    </div>
  );
}

function Workers() {
  const workers = useRead({ kind: "workers" });
  const [withOffline, setWithOffline] = useState(false);
  const labels = useLabels().workers;
  if (workers === undefined) return <Skeleton lines={4} tall />;
  if (workers.length === 0) {
    return (
      <Notice title={labels.empty}>
        <p>{labels.emptyText}</p>
      </Notice>
    );
  }
  const offline = workers.filter(({ state }) => state === "stopped").length;
  const shown = withOffline ? workers : workers.filter(({ state }) => state !== "stopped");
  return (
    <>
      <p className="cv-lead">{summaryOf(workers, labels)}</p>
      {offline > 0 && (
        <label className="cv-field cv-check">
          <input
            type="checkbox"
            checked={withOffline}
            onChange={(event) => setWithOffline(event.target.checked)}
          />
          <span>{labels.showOffline(offline)}</span>
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

function summaryOf(workers: readonly ShownWorker[], { summary }: Labels["workers"]): string {
  const online = workers.filter(({ state }) => state !== "stopped");
  const lanes = online.filter(({ isLane }) => isLane).length;
  const busy = online.filter(({ holding }) => holding.length > 0);
  const jobs = busy.reduce((sum, { holding }) => sum + holding.length, 0);
  // Live ones come first.
  const more = online.length >= WORKERS_MAX;
  return summary(online.length - lanes, lanes, busy.length, jobs, more);
}

/** Workers before lanes, each by name: ordered by heartbeat, rows would move every second. */
function inOrder(workers: readonly ShownWorker[]): ShownWorker[] {
  const rank = ({ isLane, state }: ShownWorker) => (state === "stopped" ? 2 : 0) + (isLane ? 1 : 0);
  return workers.toSorted(
    (a, b) =>
      rank(a) - rank(b) ||
      a.name.localeCompare(b.name, undefined, { numeric: true }) ||
      (a.session < b.session ? -1 : 1),
  );
}
