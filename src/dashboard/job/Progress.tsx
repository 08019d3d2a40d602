/** How far a running job says it is: a bar where it says so in percent, and whatever else it says. */
import { ValueText } from "../parts/ValueText.js";

export function Progress({ progress }: { progress: unknown }) {
  if (progress === undefined || progress === null) return null;
  const { percent, rest } = partsOf(progress);
  return (
    <div className="cv-progress">
      {percent !== undefined && (
        <p>
          <progress aria-label="Progress" value={percent} max={100} />{" "}
          <b>{Math.round(percent)} %</b>
        </p>
      )}
      {rest !== undefined && <ValueText value={rest} label="What it says of its progress" />}
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
