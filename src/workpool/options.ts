/** The options of a pool and of its work. Nothing here runs. */
import type { FunctionReference, FunctionVisibility } from "convex/server";
import type { LogLevel, OnCompleteArgs, RetryBehavior, RunResult } from "./validators.js";

export interface WorkpoolRetryOptions {
  /**
   * The meaning of `retry: true`.
   * @default {@link DEFAULT_RETRY_BEHAVIOR}: 5 attempts, 250 ms, doubled each time
   */
  defaultRetryBehavior?: RetryBehavior;
  /**
   * Whether actions that fail are tried again where `enqueueAction` does not say. Only for actions that may run twice.
   * @default false
   */
  retryActionsByDefault?: boolean;
}

export interface WorkpoolOptions extends WorkpoolRetryOptions {
  /**
   * How much of the pool's work may run at once, 0 to 2,000; 0 is a pause. A value set by `components.….config.update`
   * wins over it.
   * @default 10
   */
  maxParallelism?: number;
  /**
   * From which level on the component writes to the deployment's log.
   * @default "REPORT", which comes to warnings and errors
   */
  logLevel?: LogLevel;
}

export interface RetryOption {
  /**
   * Whether the action is tried again when it fails: `true` as the pool's default says, or how. With a retry, an
   * attempt with a lost lane counts as one that may be repeated.
   * @default the pool's `retryActionsByDefault`
   */
  retry?: boolean | RetryBehavior;
}

/** When work is run; at once where nothing is said. */
type WhenOptions =
  | {
      /**
       * In milliseconds since 1970. More than a year ago is now; more than four years ahead is in a year.
       */
      runAt?: number;
      runAfter?: never;
    }
  | {
      /** In how many milliseconds. */
      runAfter?: number;
      runAt?: never;
    };

export type EnqueueOptions<Context = unknown, ReturnValue = unknown> = {
  /**
   * For people, in logs and on pages; cut to 128 characters.
   * @default the function's path
   */
  name?: string;
  /**
   * A mutation that receives the work's end, once, in the transaction that ends it; see
   * {@link Workpool.defineOnComplete}. If it throws, the work's end stands, and it retries alone: after 1 s, 2 s, 4 s …, ten
   * times in all.
   */
  onComplete?: FunctionReference<
    "mutation",
    FunctionVisibility,
    OnCompleteArgs<Context, ReturnValue>
  > | null;
  /**
   * Ends that it does not receive.
   * @default none: it receives every end
   */
  onCompleteExcludeKinds?: readonly RunResult["kind"][];
  /** Handed to `onComplete` as it is; up to 1,044,480 bytes. */
  context?: Context;
} & WhenOptions;

/** The options of the pool and the call together, for one piece of work. */
export type WorkOptions<Context = unknown, ReturnValue = unknown> = EnqueueOptions<
  Context,
  ReturnValue
> & {
  retryBehavior?: RetryBehavior | undefined;
  maxParallelism?: number | undefined;
  logLevel?: LogLevel | undefined;
};
