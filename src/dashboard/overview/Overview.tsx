/** Every queue at a glance. */
import type { ShownQueue } from "../../shared/index.js";
import { useRead } from "../frame/context.js";
import { Surrounded, type ViewProps } from "../frame/Root.js";
import { Guard } from "../parts/Guard.js";
import { Heading } from "../parts/Heading.js";
import { Notice } from "../parts/Notice.js";
import { Skeleton } from "../parts/Skeleton.js";
import { rate, several } from "../words.js";
import { QueueRow } from "./QueueRow.js";

/**
 * Each queue that the reader may see: how many jobs it has in each state, what it got through and how long jobs waited in the
 * last 30 minutes, whether it is well, and a button that pauses it, if the reader may.
 *
 * @example
 * import { Overview } from "convex-conveyor/dashboard";
 * import "convex-conveyor/dashboard.css";
 * <Overview api={api.dashboard} />;
 */
export function Overview(props: ViewProps) {
  return (
    <Surrounded {...props}>
      <div className="cv-view">
        <Heading>Queues</Heading>
        <Guard label="The queues">
          <Queues />
        </Guard>
      </div>
    </Surrounded>
  );
}

function Queues() {
  const overview = useRead({ kind: "overview" });
  if (overview === undefined) {
    return (
      <div className="cv-queues">
        <Skeleton lines={3} tall />
      </div>
    );
  }
  const { queues } = overview;
  if (queues.length === 0) {
    return (
      <Notice title="No queue yet">
        <p>A queue shows up here with its first job, or as soon as a worker asks it for one.</p>
      </Notice>
    );
  }
  return (
    <>
      <p className="cv-lead">{inAll(queues)}</p>
      <ul className="cv-queues">
        {queues.map((queue) => (
          <QueueRow key={queue.state.name} queue={queue} />
        ))}
      </ul>
    </>
  );
}

/** "3 queues, 1 of them in trouble. 240 jobs ended a minute, of late." */
function inAll(queues: readonly ShownQueue[]): string {
  const unwell = queues.filter(({ gauge }) => gauge.health.light === "red").length;
  const finished = queues.reduce((sum, { gauge }) => sum + gauge.perMinute.finished, 0);
  const troubled = unwell === 0 ? "none of them in trouble" : `${unwell} of them in trouble`;
  return `${several(queues.length, "queue")}, ${troubled}. ${rate(finished)} jobs a minute end, of late.`;
}
