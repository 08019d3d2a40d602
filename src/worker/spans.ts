/** The span of an attempt, in a worker and in a lane's process. */
import { traceAttempt, type Tracer } from "../shared/index.js";
import type { Attempt } from "./attempts.js";

/** Begins the attempt's span, and runs its handler inside it. The attempt keeps the span, for its end. `worker`: its name. */
export function inSpanOf<T>(
  attempt: Attempt,
  { tracer, worker }: { tracer: Tracer | undefined; worker?: string },
  run: () => T,
): T {
  if (tracer === undefined) return run();
  return traceAttempt(tracer, attempt.job, worker, (traced) => {
    attempt.traced = traced;
    return run();
  });
}
