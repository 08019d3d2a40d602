/** A queue over the last hour, two days or month. */
import { useRead } from "../frame/context.js";
import type { Per } from "../../shared/index.js";
import { DurationChart } from "../charts/DurationChart.js";
import { FlowChart } from "../charts/FlowChart.js";
import { PeriodTable } from "../charts/PeriodTable.js";
import { Link } from "../parts/Link.js";
import { Skeleton } from "../parts/Skeleton.js";
import { queuePlace } from "../places.js";
import { useLook } from "./useLook.js";

/** How many are shown of each, and what they are together. */
const SPANS: Readonly<Record<Per, { count: number; words: string }>> = {
  minute: { count: 60, words: "Last hour" },
  hour: { count: 48, words: "Last 2 days" },
  day: { count: 30, words: "Last 30 days" },
};

export function QueueCharts({ queue }: { queue: string }) {
  const { look } = useLook(queue);
  const { count } = SPANS[look.per];
  const stats = useRead({ kind: "stats", queue, per: look.per, count });
  return (
    <>
      <nav className="cv-segments" aria-label="Over what time">
        {(["minute", "hour", "day"] as const).map((per) => (
          <Link key={per} to={queuePlace(queue, { ...look, per })} isCurrent={per === look.per}>
            {SPANS[per].words}
          </Link>
        ))}
      </nav>
      {stats === undefined ? (
        <Skeleton lines={2} tall />
      ) : (
        <>
          <div className="cv-charts">
            <FlowChart stats={stats} />
            <DurationChart stats={stats} of="waitMs" title="Waited to be begun" />
            <DurationChart stats={stats} of="runMs" title="Ran" />
          </div>
          <PeriodTable stats={stats} />
        </>
      )}
    </>
  );
}
