/** Every queue at a glance. */
import type { ShownQueue } from "../../shared/index.js";
import { useLabels, useRead } from "../frame/context.js";
import { Surrounded, type ViewProps } from "../frame/Root.js";
import { Guard } from "../parts/Guard.js";
import { Heading } from "../parts/Heading.js";
import { Notice } from "../parts/Notice.js";
import { Skeleton } from "../parts/Skeleton.js";
import { useLightOf } from "../queue/Health.js";
import { MainLoop } from "./MainLoop.js";
import { QueueRow } from "./QueueRow.js";
import { useRateOf } from "./useRateOf.js";

/**
 * Each queue that the reader may see: its jobs by status, its throughput and queue latency of the last 30 minutes, its health,
 * and a button that pauses it, if the reader may. Where Convex runs jobs, also the main loop: its run status, lanes and places.
 *
 * @example
 * import { Overview } from "convex-conveyor/dashboard";
 * import "convex-conveyor/dashboard.css";
 * <Overview api={api.dashboard} />;
 */
export function Overview(props: ViewProps) {
  return (
    <Surrounded {...props}>
      <View />
    </Surrounded>
  );
}

function View() {
  const { page, overview } = useLabels();
  return (
    <div className="cv-view">
      <Heading>{page.queues}</Heading>
      <Guard label={overview.part}>
        <Queues />
      </Guard>
    </div>
  );
}

function Queues() {
  const overview = useRead({ kind: "overview" });
  const { overview: labels, mainLoop } = useLabels();
  const { empty, emptyText } = labels;
  if (overview === undefined) {
    return (
      <div className="cv-queues">
        <Skeleton lines={3} tall />
      </div>
    );
  }
  const { queues, more = false } = overview;
  if (queues.length === 0 && !more) {
    return (
      <Notice title={empty}>
        <p>{emptyText}</p>
      </Notice>
    );
  }
  return (
    <>
      <Summary queues={queues} more={more} />
      {queues.some(({ isPush }) => isPush) && (
        <Guard label={mainLoop.part}>
          <MainLoop />
        </Guard>
      )}
      <ul className="cv-queues">
        {queues.map((queue) => (
          <QueueRow key={queue.state.name} queue={queue} />
        ))}
      </ul>
    </>
  );
}

function Summary({ queues, more }: { queues: readonly ShownQueue[]; more: boolean }) {
  const { summary } = useLabels().overview;
  const [lightOf, rateOf] = [useLightOf(), useRateOf()];
  const critical = queues.filter(({ gauge }) => lightOf(gauge).light === "red").length;
  const perMinute = queues.reduce((sum, { gauge }) => sum + rateOf(gauge), 0);
  return <p className="cv-lead">{summary(queues.length, critical, perMinute, more)}</p>;
}
