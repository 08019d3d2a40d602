/**
 * `convex-conveyor/workpool`: the import that replaces `@convex-dev/workpool` in an app. The names, calls and shapes
 * are that package's (0.4.12); `docs/guides/from-workpool.md` lists the differences.
 * @module
 */
export { enqueue, enqueueBatch } from "./enqueue.js";
export { isNonRetryableError, NonRetryableError } from "./errors.js";
export type {
  EnqueueOptions,
  RetryOption,
  WorkpoolOptions,
  WorkpoolRetryOptions,
} from "./options.js";
export {
  DEFAULT_RETRY_BEHAVIOR,
  vLogLevel,
  vOnComplete,
  vOnCompleteArgs,
  vOnCompleteArgs as vOnCompleteValidator,
  vResult,
  vResult as resultValidator,
  vResult as vResultValidator,
  vRetryBehavior,
  vRunResult,
  vWorkId,
  vWorkId as vWorkIdValidator,
  vWorkId as workIdValidator,
  type LogLevel,
  type OnCompleteArgs,
  type RetryBehavior,
  type RunResult,
  type WorkId,
} from "./validators.js";
export { Workpool, type WorkpoolComponent } from "./workpool.js";
