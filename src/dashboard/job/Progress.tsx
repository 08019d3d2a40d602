/** The progress of a running job: a bar for `percent`, and the other fields as text. */
import { useLabels } from "../frame/context.js";
import { ValueText } from "../parts/ValueText.js";

export function Progress({ progress }: { progress: unknown }) {
  const labels = useLabels().job;
  if (progress === undefined || progress === null) return null;
  const { percent, rest } = partsOf(progress);
  return (
    <div className="cv-progress">
      {percent !== undefined && (
        <p>
          <progress aria-label={labels.progress} value={percent} max={100} />{" "}
          <b>{labels.percent(percent)}</b>
        </p>
      )}
      {rest !== undefined && <ValueText value={rest} label={labels.progressDetails} />}
    </div>
  );
}

/** `percent`, as the worker's handlers report it, apart from the rest. */
export function partsOf(progress: unknown): { percent?: number; rest?: unknown } {
  if (typeof progress !== "object" || progress === null || Array.isArray(progress)) {
    return { rest: progress };
  }
  const { percent, ...rest } = progress as { percent?: unknown };
  if (typeof percent !== "number" || !Number.isFinite(percent)) return { rest: progress };
  const isAll = Object.keys(rest).length === 0;
  return { percent: Math.min(100, Math.max(0, percent)), ...(isAll ? {} : { rest }) };
}
