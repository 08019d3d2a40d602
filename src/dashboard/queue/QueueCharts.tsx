/** A queue over the last hour, two days or month. */
import { useLabels, useRead } from "../frame/context.js";
import type { Per } from "../../shared/index.js";
import { DurationChart } from "../charts/DurationChart.js";
import { FlowChart } from "../charts/FlowChart.js";
import { PeriodTable } from "../charts/PeriodTable.js";
import { Guard } from "../parts/Guard.js";
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
  const { charts, queue: labels } = useLabels();
  return (
    <>
      <nav className="cv-segments" aria-label={charts.range}>
        {(["minute", "hour", "day"] as const).map((per) => (
          <Link key={per} to={queuePlace(queue, { ...look, per })} isCurrent={per === look.per}>
            {charts[SPANS[per].label]}
          </Link>
        ))}
      </nav>
      {/* Guarded alone: where one range fails, another can be chosen. */}
      <Guard label={labels.activity} of={`${look.per} ${queue}`}>
        <Charts queue={queue} per={look.per} />
      </Guard>
    </>
  );
}

function Charts({ queue, per }: { queue: string; per: Per }) {
  const { charts } = useLabels();
  const stats = useRead({ kind: "stats", queue, per, count: SPANS[per].count });
  if (stats === undefined) return <Skeleton lines={2} tall />;
  return (
    <>
      <div className="cv-charts">
        <FlowChart stats={stats} />
        <DurationChart stats={stats} of="waitMs" title={charts.latency} />
        <DurationChart stats={stats} of="runMs" title={charts.runTime} />
      </div>
      <PeriodTable stats={stats} />
    </>
  );
}
