/** Runs one handler with the app's hooks around it. It knows nothing of leases, slots or calls. */
import type { Outcome } from "../shared/index.js";
import type { Hooks, JobEnd } from "./hookTypes.js";
import { runHandler, type HandlerEnd } from "./runner.js";
import type { Handler, Job } from "./types.js";

export type JobHooks = Pick<Hooks, "beforeJob" | "afterJob" | "around">;

export interface HookedRun {
  hooks: JobHooks;
  now: () => number;
  /** The outcome to be recorded, of a handler that may have got its signal to stop. */
  outcomeOf: (end: HandlerEnd) => Outcome;
  /** The jobs that the handler has continued with so far. A further `next` takes back the ones of the last. */
  continued: unknown[];
  /** `afterJob` has thrown. */
  failed: (error: unknown) => void;
}

/** Always resolves, as {@link runHandler} does, and not before both `around` and the handler have ended. */
export async function runWithHooks(
  handler: Handler,
  job: Job,
  { hooks, now, outcomeOf, continued, failed }: HookedRun,
): Promise<HandlerEnd> {
  const { beforeJob, afterJob, around } = hooks;
  const startedAt = now();
  const end = await runHandler(async (given: Job) => {
    await beforeJob?.(given);
    if (around === undefined) return await handler(given);
    const { next, end: handlerEnd } = oneAtATime(handler, given, continued);
    try {
      return await around(given, next);
    } finally {
      await handlerEnd();
    }
  }, job);
  if (afterJob === undefined) return end;
  try {
    await afterJob(job, endOf({ ...end, outcome: outcomeOf(end) }, now() - startedAt));
  } catch (error) {
    failed(error);
  }
  return end;
}

/**
 * A job never has two handlers at once: `next` may be called again only when its last call has ended, and not after the
 * end of `around`. `end` waits for a handler that still runs then.
 */
function oneAtATime(handler: Handler, job: Job, continued: unknown[]) {
  let state: "free" | "running" | "over" = "free";
  let last: Promise<unknown> | undefined;
  let kept = 0;

  async function run(): Promise<unknown> {
    if (state === "over")
      throw new Error("`next` of `around` was called after the end of `around`.");
    if (state === "running")
      throw new Error("`next` of `around` was called while the handler runs.");
    state = "running";
    if (last === undefined) kept = continued.length;
    else continued.length = kept;
    try {
      return await handler(job);
    } finally {
      if (state === "running") state = "free";
    }
  }

  return {
    next: (): Promise<unknown> => {
      const begins = state === "free";
      const running = run();
      if (begins) last = running;
      // The app may not wait for it, and its error must not end the process.
      running.catch(() => {});
      return running;
    },
    end: async (): Promise<void> => {
      state = "over";
      await last?.catch(() => {});
    },
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
