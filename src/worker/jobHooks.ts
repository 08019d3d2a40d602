/** Runs one handler with the app's hooks around it. It knows nothing of leases, slots or calls. */
import type { Hooks, JobEnd } from "./hookTypes.js";
import { runHandler, type HandlerEnd } from "./runner.js";
import type { Handler, Job } from "./types.js";

export type JobHooks = Pick<Hooks, "beforeJob" | "afterJob" | "around">;

export interface HookedRun {
  hooks: JobHooks;
  now: () => number;
  /** `afterJob` has thrown. */
  failed: (error: unknown) => void;
}

/** Always resolves, as {@link runHandler} does. */
export async function runWithHooks(
  handler: Handler,
  job: Job,
  { hooks, now, failed }: HookedRun,
): Promise<HandlerEnd> {
  const { beforeJob, afterJob, around } = hooks;
  const startedAt = now();
  const end = await runHandler(async (given: Job) => {
    await beforeJob?.(given);
    return await (around === undefined ? handler(given) : around(given, once(handler, given)));
  }, job);
  if (afterJob === undefined) return end;
  try {
    await afterJob(job, endOf(end, now() - startedAt));
  } catch (error) {
    failed(error);
  }
  return end;
}

/** A job never has two handlers at once: `next` may be called again only when its last call has ended. */
function once(handler: Handler, job: Job): () => Promise<unknown> {
  let isRunning = false;
  return async () => {
    if (isRunning) throw new Error("`next` of `around` was called while the handler runs.");
    isRunning = true;
    try {
      return await handler(job);
    } finally {
      isRunning = false;
    }
  };
}

function endOf(end: HandlerEnd, ms: number): JobEnd {
  const { outcome } = end;
  return {
    outcome: outcome.kind,
    ms,
    ...(outcome.kind === "failed" ? { error: outcome.error } : {}),
    ...("thrown" in end ? { thrown: end.thrown } : {}),
  };
}
