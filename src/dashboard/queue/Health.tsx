/** A queue's health: a light, its word, and the reason. */
import type { Health as HealthOf } from "../../shared/index.js";
import { useLabels } from "../frame/context.js";
import { Icon } from "../parts/Icon.js";

export function Health({ health }: { health: HealthOf }) {
  const labels = useLabels().health;
  return (
    <p className="cv-health">
      <span className={`cv-light cv-light-${health.light}`}>
        <Icon name={health.light} />
        {labels[health.light]}
      </span>{" "}
      <span className="cv-health-reason">{health.reason}</span>
    </p>
  );
}

/** "Last 50 jobs: 98 % succeeded, average run time 1.2 s." */
export function HealthFigures({ health: { of, successRate, averageMs } }: { health: HealthOf }) {
  const { lastJobs } = useLabels().health;
  if (of === 0) return null;
  return <p className="cv-soft">{lastJobs(of, successRate, averageMs)}</p>;
}
