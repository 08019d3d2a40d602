/** Whether a worker is over one of its limits. Pure but for the measures. */
import type { BackPressure } from "./hookTypes.js";

/** The measures of a runtime, as shares from 0 to 1. */
export interface Load {
  memory: () => number;
  cpu: () => number;
}

export type Limit = "memory" | "cpu" | "check";

/** The limit that is reached, or null. At once where `check` answers at once. */
export function limitReached(
  { memory = Infinity, cpu = Infinity, check }: BackPressure,
  load: Load | undefined,
): Limit | null | Promise<Limit | null> {
  if (load !== undefined && memory < Infinity && load.memory() >= memory) return "memory";
  if (load !== undefined && cpu < Infinity && load.cpu() >= cpu) return "cpu";
  return andThen(check?.() ?? false, (isOver) => (isOver ? "check" : null));
}

/** At once where the value is there at once. */
export function andThen<Value, Result>(
  value: Value | PromiseLike<Value>,
  next: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return isPromise(value) ? Promise.resolve(value).then(next) : next(value);
}

/** Also one of another library, or of another realm. */
export function isPromise<Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}
