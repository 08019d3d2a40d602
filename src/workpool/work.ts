/** Turns a piece of work into a job, and a pool into the declaration of its queue. Pure, but for the clock. */
import {
  createFunctionHandle,
  getFunctionAddress,
  type FunctionReference,
  type FunctionType,
  type FunctionVisibility,
} from "convex/server";
import {
  BACKOFF_MAX_MS,
  conveyorLogLevel,
  firstCharacters,
  JOB_NAME_MAX_LENGTH,
  MAX_ATTEMPTS_MAX,
  MAX_RESETS_DEFAULT,
  MAX_RESETS_MAX,
  RETRY_OFF,
  RUN_AT_FUTURE_MAX_MS,
  RUN_AT_PAST_MAX_MS,
  WORKPOOL_CONFIG,
  WORKPOOL_QUEUE,
  type FinishedStatus,
  type JobOptions,
  type QueueDeclaration,
  type Retry,
} from "../shared/index.js";
import type { WorkOptions } from "./options.js";
import type { RetryBehavior, RunResult } from "./validators.js";

/** The queue that these options declare. In a pool of one, work is begun strictly in order. */
export function declarationOf({ maxParallelism, logLevel }: WorkOptions): QueueDeclaration {
  const config = {
    ...WORKPOOL_CONFIG,
    ...(maxParallelism === undefined ? {} : { maxParallelism }),
    ...(maxParallelism === 1 ? { shards: 1 } : {}),
    ...(logLevel === undefined ? {} : { logLevel: conveyorLogLevel(logLevel) }),
  };
  return { name: WORKPOOL_QUEUE, config };
}

/** The options that all jobs of one call share. */
export async function jobOptions(
  fnType: FunctionType,
  fn: FunctionReference<FunctionType, FunctionVisibility>,
  options: WorkOptions<any, any>,
  now: number,
): Promise<JobOptions> {
  const { onComplete, onCompleteExcludeKinds = [], context } = options;
  const retry = fnType === "action" ? retryOf(options.retryBehavior) : RETRY_OFF;
  const callback = onComplete ? await handleOf(onComplete) : undefined;
  return {
    name: firstCharacters(options.name?.trim() || nameOf(fn), JOB_NAME_MAX_LENGTH),
    ...dueAt(options, now),
    ...(callback === undefined || context === undefined ? {} : { context }),
    rules: {
      handler: { kind: fnType, handle: await handleOf(fn), takes: "payload" },
      retry: { ...retry },
      // An action that may have run is repeated only where the app allows it. Queries and mutations leave no trace.
      maxResets:
        fnType === "action" ? Math.min(retry.maxAttempts - 1, MAX_RESETS_MAX) : MAX_RESETS_DEFAULT,
      ...(callback === undefined ? {} : { onComplete: callback }),
      onCompleteExclude: onCompleteExcludeKinds.flatMap((kind) => EXCLUDED[kind]),
    },
  };
}

const EXCLUDED: { readonly [Kind in RunResult["kind"]]: readonly FinishedStatus[] } = {
  success: ["succeeded"],
  failed: ["failed", "timedOut"],
  canceled: ["canceled"],
};

async function handleOf(fn: FunctionReference<FunctionType, FunctionVisibility>): Promise<string> {
  if (typeof fn === "string") return fn;
  return await createFunctionHandle(fn);
}

function nameOf(fn: FunctionReference<FunctionType, FunctionVisibility>): string {
  const { name, reference, functionHandle } = getFunctionAddress(fn);
  return name ?? reference ?? functionHandle;
}

/** There, any number will do. */
function retryOf(behavior: RetryBehavior | undefined): Retry {
  if (behavior === undefined || !(behavior.maxAttempts > 1)) return { ...RETRY_OFF };
  const { maxAttempts, initialBackoffMs, base } = behavior;
  return {
    maxAttempts: Math.min(Math.ceil(maxAttempts), MAX_ATTEMPTS_MAX),
    initialBackoffMs: Math.round(initialBackoffMs),
    base,
    maxBackoffMs: BACKOFF_MAX_MS,
  };
}

/** When the job falls due. A time beyond bounds is not refused, but moved: to now, or to a year from now. */
function dueAt({ runAt, runAfter }: WorkOptions<any, any>, now: number): { runAt?: number } {
  const given = runAt ?? (runAfter === undefined ? undefined : now + runAfter);
  if (given === undefined || given < now - RUN_AT_PAST_MAX_MS) return {};
  return { runAt: given > now + RUN_AT_FUTURE_MAX_MS ? now + RUN_AT_PAST_MAX_MS : given };
}
