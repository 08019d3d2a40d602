/** A queue's health: a light, its word, and the reason. */
import type { Gauge, Health as HealthOf } from "../../shared/index.js";
import { useAgeOf } from "../frame/clock.js";
import { useLabels } from "../frame/context.js";
import { Icon } from "../parts/Icon.js";

/** The light at this time: of a queue that stands still, no new one is sent. */
export function useLightOf(): (gauge: Gauge) => Pick<HealthOf, "light" | "reason"> {
  const ageOf = useAgeOf();
  return (gauge) => {
    const now = gauge.at + ageOf(gauge);
    return gauge.health.worsens.findLast(({ at }) => at <= now) ?? gauge.health;
  };
}

export function Health({ gauge }: { gauge: Gauge }) {
  const labels = useLabels().health;
  const { light, reason } = useLightOf()(gauge);
  return (
    <p className="cv-health">
      <span className={`cv-light cv-light-${light}`}>
        <Icon name={light} />
        {labels[light]}
      </span>{" "}
      <span className="cv-health-reason">{reason}</span>
    </p>
  );
}

/** "Last 50 jobs: 98 % succeeded, average run time 1.2 s." */
export function HealthFigures({ health }: { health: HealthOf }) {
  const { lastJobs, noneRan } = useLabels().health;
  const { of, successRate, ran, averageMs } = health;
  if (of === 0) return null;
  return (
    <p className="cv-soft">{ran === 0 ? noneRan(of) : lastJobs(of, successRate, averageMs)}</p>
  );
}
