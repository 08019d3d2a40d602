/** The parts that all charts share: axes, grid and tooltip. */
import type { Per } from "../../shared/index.js";
import { useLabels } from "../frame/context.js";
import type { Key } from "./ChartFrame.js";
import { tickOf, titleOf } from "./series.js";

const TICK = { fill: "var(--cv-ink-soft)", fontSize: 12 };

export const axes = {
  chart: {
    style: { width: "100%", height: "100%" },
    margin: { top: 6, right: 30, bottom: 0, left: 0 },
  },
  grid: { vertical: false, stroke: "var(--cv-line)" },
  time: (per: Per) => ({
    dataKey: "at",
    tickFormatter: (at: number) => tickOf(at, per),
    tick: TICK,
    tickLine: false,
    axisLine: { stroke: "var(--cv-line)" },
    minTickGap: 28,
  }),
  amount: { tick: TICK, tickLine: false, axisLine: false, width: 66 },
  hint: { isAnimationActive: false, cursor: { stroke: "var(--cv-edge)", fill: "none" } },
} as const;

interface HintProps {
  per: Per;
  words: (value: number) => string;
  keys: readonly Key[];
  /** These the chart fills in. */
  active?: boolean;
  label?: unknown;
  payload?: readonly { name?: unknown; value?: unknown }[];
}

/** The figures of one period. */
export function Hint({ per, words, keys, active = false, label, payload = [] }: HintProps) {
  const { none } = useLabels().page;
  if (!active || typeof label !== "number") return null;
  return (
    <div className="cv-hint">
      <p>{titleOf(label, per)}</p>
      <dl>
        {keys.map(({ id, name }) => {
          const value = payload.find((entry) => entry.name === id)?.value;
          return (
            <div key={id}>
              <dt>{name}</dt>
              <dd>{typeof value === "number" ? words(value) : none}</dd>
            </div>
          );
        })}
      </dl>
    </div>
  );
}
