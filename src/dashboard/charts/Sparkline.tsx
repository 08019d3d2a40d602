/** The last half hour as one small line beside its figure. */
import { Area, AreaChart, YAxis } from "recharts";

export interface Spark {
  readonly at: number;
  /** `null` where a minute has no data: the line has a gap. */
  readonly value: number | null;
}

export function Sparkline({
  sparks,
  tone,
  words,
}: {
  sparks: readonly Spark[];
  tone: "flow" | "wait";
  /** The data in words, for screen readers. */
  words: string;
}) {
  return (
    <div className={`cv-spark cv-tone-${tone}`} role="img" aria-label={words}>
      <AreaChart
        responsive
        data={sparks}
        style={{ width: "100%", height: "100%" }}
        margin={{ top: 3, right: 1, bottom: 1, left: 1 }}
        accessibilityLayer={false}
        tabIndex={-1}
      >
        {/* From 0, and never flat at the top for a single job. */}
        <YAxis hide domain={[0, (most: number) => Math.max(most, 1)]} />
        <Area
          dataKey="value"
          type="monotone"
          stroke="currentColor"
          strokeWidth={1.5}
          fill="currentColor"
          fillOpacity={0.12}
          isAnimationActive={false}
          dot={false}
        />
      </AreaChart>
    </div>
  );
}
