/** What came, what was begun and how it ended, period by period. */
import { Bar, CartesianGrid, ComposedChart, Line, Tooltip, XAxis, YAxis } from "recharts";
import type { Stats } from "../../shared/index.js";
import { numeral, several } from "../words.js";
import { axes, Hint } from "./axes.js";
import { ChartFrame, DASHES, type Key } from "./ChartFrame.js";
import { finishedIn } from "./series.js";

const KEYS = [
  { name: "Succeeded", tone: "good", drawn: "area" },
  { name: "Failed", tone: "bad", drawn: "area" },
  { name: "Canceled", tone: "dim", drawn: "area" },
  { name: "Enqueued", tone: "ink", drawn: "line" },
  { name: "Started", tone: "flow", drawn: "dots" },
] as const satisfies readonly Key[];

export function FlowChart({ stats: { per, periods } }: { stats: Stats }) {
  const rows = periods.map(({ at, enqueued, started, succeeded, failed, canceled, timedOut }) => ({
    at,
    ...{ Enqueued: enqueued, Started: started, Succeeded: succeeded },
    ...{ Failed: failed + timedOut, Canceled: canceled },
  }));
  const sum = (of: (period: Stats["periods"][number]) => number) =>
    periods.reduce((total, period) => total + of(period), 0);
  const failures = sum(({ failed, timedOut }) => failed + timedOut);
  const gist =
    `${several(
      sum(({ enqueued }) => enqueued),
      "job",
    )} enqueued, ${numeral(sum(finishedIn))} ended, ` +
    `${numeral(failures)} of them failed or timed out.`;
  return (
    <ChartFrame title={`Jobs per ${per}`} gist={gist} keys={KEYS}>
      <ComposedChart responsive data={rows} {...axes.chart} barCategoryGap="15%">
        <CartesianGrid {...axes.grid} />
        <XAxis {...axes.time(per)} />
        <YAxis {...axes.amount} tickFormatter={numeral} allowDecimals={false} />
        <Tooltip {...axes.hint} content={<Hint per={per} words={numeral} keys={KEYS} />} />
        {KEYS.map(({ name, tone, drawn }) =>
          drawn === "area" ? (
            <Bar
              key={name}
              dataKey={name}
              stackId="ended"
              fill={`var(--cv-${tone})`}
              fillOpacity={0.8}
              isAnimationActive={false}
            />
          ) : (
            <Line
              key={name}
              dataKey={name}
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
