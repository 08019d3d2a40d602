/** A queue over the last hour, two days or month. */
import { useLabels, useRead } from "../frame/context.js";
import type { Per } from "../../shared/index.js";
import { DurationChart } from "../charts/DurationChart.js";
import { FlowChart } from "../charts/FlowChart.js";
import { PeriodTable } from "../charts/PeriodTable.js";
import { Link } from "../parts/Link.js";
import { Skeleton } from "../parts/Skeleton.js";
import { queuePlace } from "../places.js";
import { useLook } from "./useLook.js";

/** Periods in a chart, and the label of their time range. */
const SPANS = {
  minute: { count: 60, label: "lastHour" },
  hour: { count: 48, label: "lastDays" },
  day: { count: 30, label: "lastMonth" },
} as const satisfies Record<Per, object>;

export function QueueCharts({ queue }: { queue: string }) {
  const { look } = useLook(queue);
  const { charts } = useLabels();
  const { count } = SPANS[look.per];
  const stats = useRead({ kind: "stats", queue, per: look.per, count });
  return (
    <>
      <nav className="cv-segments" aria-label={charts.range}>
        {(["minute", "hour", "day"] as const).map((per) => (
          <Link key={per} to={queuePlace(queue, { ...look, per })} isCurrent={per === look.per}>
            {charts[SPANS[per].label]}
          </Link>
        ))}
      </nav>
      {stats === undefined ? (
        <Skeleton lines={2} tall />
      ) : (
        <>
          <div className="cv-charts">
            <FlowChart stats={stats} />
            <DurationChart stats={stats} of="waitMs" title={charts.latency} />
            <DurationChart stats={stats} of="runMs" title={charts.runTime} />
          </div>
          <PeriodTable stats={stats} />
        </>
      )}
    </>
  );
}
