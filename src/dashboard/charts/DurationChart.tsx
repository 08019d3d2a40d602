/** Queue latency or run time of jobs: median and upper percentiles. */
import { CartesianGrid, Line, LineChart, Tooltip, XAxis, YAxis } from "recharts";
import type { Stats } from "../../shared/index.js";
import { useLabels } from "../frame/context.js";
import { axes, Hint } from "./axes.js";
import { ChartFrame, DASHES, type Key } from "./ChartFrame.js";
import { latest } from "./series.js";

const KEYS = [
  { id: "p50", name: "p50", tone: "flow", drawn: "line" },
  { id: "p95", name: "p95", tone: "wait", drawn: "dashes" },
  { id: "p99", name: "p99", tone: "bad", drawn: "dots" },
] as const satisfies readonly Key[];

export function DurationChart({
  stats: { per, periods },
  of,
  title,
}: {
  stats: Stats;
  of: "waitMs" | "runMs";
  title: string;
}) {
  const rows = periods.map((period) => ({ at: period.at, ...period[of] }));
  const last = latest(periods, of);
  const { charts, times } = useLabels();
  const gist = last === null ? charts.noDurations : charts.durations(per, last);
  // A label beside an axis stays on one line.
  const unbroken = (ms: number) => times.duration(ms).replaceAll(" ", "\u00a0");
  return (
    <ChartFrame title={title} gist={gist} keys={KEYS}>
      <LineChart responsive data={rows} {...axes.chart}>
        <CartesianGrid {...axes.grid} />
        <XAxis {...axes.time(per)} />
        <YAxis {...axes.amount} tickFormatter={unbroken} />
        <Tooltip {...axes.hint} content={<Hint per={per} words={times.duration} keys={KEYS} />} />
        {KEYS.map(({ id, tone, drawn }) => (
          <Line
            key={id}
            dataKey={id}
            stroke={`var(--cv-${tone})`}
            strokeWidth={2}
            strokeDasharray={DASHES[drawn]}
            strokeLinecap={drawn === "dots" ? "round" : "butt"}
            // A period without neighbours would be no line.
            dot={isAlone(rows)}
            isAnimationActive={false}
          />
        ))}
      </LineChart>
    </ChartFrame>
  );
}

const isAlone = (rows: readonly object[]) =>
  rows.filter((row) => "p50" in row).length <= 3 ? { r: 2, strokeDasharray: "none" } : false;
