/** Whether a queue is well: a light, its word, and why. */
import type { Health as HealthOf } from "../../shared/index.js";
import { Icon } from "../parts/Icon.js";
import { duration, HEALTH_WORDS, several, share } from "../words.js";

export function Health({ health }: { health: HealthOf }) {
  return (
    <p className="cv-health">
      <span className={`cv-light cv-light-${health.light}`}>
        <Icon name={health.light} />
        {HEALTH_WORDS[health.light]}
      </span>{" "}
      <span className="cv-health-reason">{health.reason}</span>
    </p>
  );
}

/** "Of the last 50 jobs, 98 % succeeded, in 1.2 s on average." */
export function HealthFigures({ health: { of, successRate, averageMs } }: { health: HealthOf }) {
  if (of === 0) return null;
  const last = of === 1 ? "The last job" : `Of the last ${several(of, "job")}`;
  const went =
    of === 1 ? (successRate === 1 ? "succeeded" : "failed") : `${share(successRate)} succeeded`;
  return (
    <p className="cv-soft">
      {last}
      {of === 1 ? " " : ", "}
      {went}, in {duration(averageMs)}
      {of === 1 ? "" : " on average"}.
    </p>
  );
}
