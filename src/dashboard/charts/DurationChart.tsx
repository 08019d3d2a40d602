/** How long jobs waited, or ran: the middle one, and those that took longest. */
import { CartesianGrid, Line, LineChart, Tooltip, XAxis, YAxis } from "recharts";
import type { Stats } from "../../shared/index.js";
import { duration } from "../words.js";
import { axes, Hint } from "./axes.js";
import { ChartFrame, DASHES, type Key } from "./ChartFrame.js";
import { latest } from "./series.js";

const KEYS = [
  { name: "p50", tone: "flow", drawn: "line" },
  { name: "p95", tone: "wait", drawn: "dashes" },
  { name: "p99", tone: "bad", drawn: "dots" },
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
  const gist =
    last === null
      ? "Nothing ended in this time."
      : `In the last ${per} that had any, half took less than ${duration(last.p50)}, 95 of 100 less than ` +
        `${duration(last.p95)}, 99 of 100 less than ${duration(last.p99)}.`;
  return (
    <ChartFrame title={title} gist={gist} keys={KEYS}>
      <LineChart responsive data={rows} {...axes.chart}>
        <CartesianGrid {...axes.grid} />
        <XAxis {...axes.time(per)} />
        <YAxis {...axes.amount} tickFormatter={unbroken} />
        <Tooltip {...axes.hint} content={<Hint per={per} words={duration} keys={KEYS} />} />
        {KEYS.map(({ name, tone, drawn }) => (
          <Line
            key={name}
            dataKey={name}
            stroke={`var(--cv-${tone})`}
            strokeWidth={2}
            strokeDasharray={DASHES[drawn]}
            strokeLinecap={drawn === "dots" ? "round" : "butt"}
            // A period between two without any would be no line.
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

/** A label beside an axis stays on one line. */
const unbroken = (ms: number) => duration(ms).replaceAll(" ", "\u00a0");
