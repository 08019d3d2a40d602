/** Jobs enqueued, started and finished, period by period. */
import { Bar, CartesianGrid, ComposedChart, Line, Tooltip, XAxis, YAxis } from "recharts";
import type { Stats } from "../../shared/index.js";
import { useLabels } from "../frame/context.js";
import type { Labels } from "../labelOverrides.js";
import { numeral } from "../words.js";
import { axes, Hint } from "./axes.js";
import { ChartFrame, DASHES, type Key } from "./ChartFrame.js";
import { finishedIn } from "./series.js";

const keysOf = ({ statuses, charts }: Labels): readonly Key[] => [
  { id: "succeeded", name: statuses.succeeded, tone: "good", drawn: "area" },
  { id: "failed", name: statuses.failed, tone: "bad", drawn: "area" },
  { id: "canceled", name: statuses.canceled, tone: "dim", drawn: "area" },
  { id: "enqueued", name: charts.enqueued, tone: "ink", drawn: "line" },
  { id: "started", name: charts.started, tone: "flow", drawn: "dots" },
];

export function FlowChart({ stats: { per, periods } }: { stats: Stats }) {
  const rows = periods.map(({ at, enqueued, started, succeeded, failed, canceled, timedOut }) => ({
    ...{ at, enqueued, started, succeeded, canceled },
    failed: failed + timedOut,
  }));
  const labels = useLabels();
  const keys = keysOf(labels);
  const sum = (of: (period: Stats["periods"][number]) => number) =>
    periods.reduce((total, period) => total + of(period), 0);
  const failures = sum(({ failed, timedOut }) => failed + timedOut);
  const enqueued = sum((period) => period.enqueued);
  const gist = labels.charts.flow(enqueued, sum(finishedIn), failures);
  return (
    <ChartFrame title={labels.charts.jobsPer(per)} gist={gist} keys={keys}>
      <ComposedChart responsive data={rows} {...axes.chart} barCategoryGap="15%">
        <CartesianGrid {...axes.grid} />
        <XAxis {...axes.time(per)} />
        <YAxis {...axes.amount} tickFormatter={numeral} allowDecimals={false} />
        <Tooltip {...axes.hint} content={<Hint per={per} words={numeral} keys={keys} />} />
        {keys.map(({ id, tone, drawn }) =>
          drawn === "area" ? (
            <Bar
              key={id}
              dataKey={id}
              stackId="ended"
              fill={`var(--cv-${tone})`}
              fillOpacity={0.8}
              isAnimationActive={false}
            />
          ) : (
            <Line
              key={id}
              dataKey={id}
              stroke={`var(--cv-${tone})`}
              strokeWidth={2}
              strokeDasharray={DASHES[drawn]}
              strokeLinecap={drawn === "dots" ? "round" : "butt"}
              dot={false}
              isAnimationActive={false}
            />
          ),
        )}
      </ComposedChart>
    </ChartFrame>
  );
}
