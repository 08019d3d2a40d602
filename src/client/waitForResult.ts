/**
 * Waits until a job has ended, outside React: in an action of the app, which has to ask again and again, and in a client, which
 * subscribes where it can. Reads nothing but the job's status, and holds nothing in the deployment while it waits.
 */
import type { FunctionReference } from "convex/server";
import {
  backoffMs,
  checkInteger,
  conveyorError,
  isFinished,
  RESULT_LOOK_MAX_MS,
  RESULT_LOOK_MS,
  RESULT_WAIT_DEFAULT_MS,
  RESULT_WAIT_MAX_MS,
  type FinalOutcome,
  type IdOf,
  type JobById,
  type TypedJobStatus,
} from "../shared/index.js";

/** How long to wait for a result. */
export type WaitOptions = {
  /**
   * After how many milliseconds the wait is given up, 1 to 604,800,000 (a week). The job goes on.
   * @default 300_000, five minutes; an action is ended after ten
   */
  timeoutMs?: number;
};

/** How a job has ended that has no result. */
export type FailedOutcome = Exclude<FinalOutcome, { status: "succeeded" }>;

/** A job that was waited for has ended without a result. Its message is the job's own error. */
export class JobFailedError extends Error {
  override readonly name = "JobFailedError";
  constructor(
    /** The job's id. */
    readonly jobId: string,
    /** How it ended: `failed` or `timedOut` with an `error` (and a `code`, if a deadline has passed), or `canceled` with the reason as `error`. */
    readonly outcome: FailedOutcome,
  ) {
    super(outcome.error);
  }
}

/** The `status` of `conveyor.api`, such as `api.jobs.status`. */
type StatusFunction = FunctionReference<"query", "public", any, any>;

/** `ConvexHttpClient` and `ConvexReactClient` have the first only, and are asked again and again; `ConvexClient` has both. */
export interface ResultClient {
  query(query: any, args: any): Promise<any>;
  onUpdate?(
    query: any,
    args: any,
    onResult: (result: any) => unknown,
    onError?: (error: Error) => unknown,
  ): () => void;
}

/** By the queue that the id's brand says; of a plain string, of any. */
type ResultOf<Status extends StatusFunction, Id> =
  Extract<JobById<{ status: Status }, Id>, { status: "succeeded" }> extends { result: infer Result }
    ? Result
    : unknown;

/**
 * Waits for a job's result, in any client outside React: through a subscription with `ConvexClient`, by asking again after
 * 100 ms and ever longer up to 5 s with `ConvexHttpClient`.
 *
 * @param client Any of Convex's clients.
 * @param status The app's function that gives a job's status, as in `api.jobs.status`.
 * @param id The job's id. The result has the type of the queue that it remembers.
 * @returns The result of the job's handler.
 * @throws `JobFailedError` with the `outcome` of a job that has failed, timed out or been canceled; `resultTimedOut` when
 * `timeoutMs` has passed; `unknownJob`; the error of the app's `authorize`. A job of a circular queue never ends.
 * @example
 * const { pixels } = await waitForResult(client, api.jobs.status, id);
 */
export async function waitForResult<
  Status extends StatusFunction,
  const Id extends IdOf<{ status: Status }>,
>(
  client: ResultClient,
  status: Status,
  id: Id,
  options: WaitOptions = {},
): Promise<ResultOf<Status, Id>> {
  const timeoutMs = checkedTimeout(options);
  const ended =
    client.onUpdate === undefined
      ? await pollUntilEnded(id, timeoutMs, () => client.query(status, { id }))
      : await watchUntilEnded(id, timeoutMs, (onJob, onError) =>
          client.onUpdate!(status, { id }, onJob, onError),
        );
  return resultOf(ended) as ResultOf<Status, Id>;
}

/** The same, of an action: `look` reads the job's status. */
export async function waitByLooking(
  id: string,
  options: WaitOptions,
  look: () => Promise<TypedJobStatus | null>,
): Promise<unknown> {
  return resultOf(await pollUntilEnded(id, checkedTimeout(options), look));
}

function checkedTimeout({ timeoutMs = RESULT_WAIT_DEFAULT_MS }: WaitOptions): number {
  checkInteger("timeoutMs", timeoutMs, 1, RESULT_WAIT_MAX_MS);
  return timeoutMs;
}

async function pollUntilEnded(
  id: string,
  timeoutMs: number,
  look: () => Promise<TypedJobStatus | null>,
): Promise<TypedJobStatus> {
  const until = Date.now() + timeoutMs;
  for (let looks = 1; ; looks += 1) {
    const job = await look();
    if (job === null) throw unknown(id);
    if (isFinished(job.status)) return job;
    const leftMs = until - Date.now();
    if (leftMs <= 0) throw notEnded(job, timeoutMs);
    const ms = Math.min(leftMs, backoffMs(looks, RESULT_LOOK_MS, RESULT_LOOK_MAX_MS, 1.5));
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
}

async function watchUntilEnded(
  id: string,
  timeoutMs: number,
  watch: (
    onJob: (job: TypedJobStatus | null) => void,
    onError: (error: Error) => void,
  ) => () => void,
): Promise<TypedJobStatus> {
  let last: TypedJobStatus | undefined;
  let stop: (() => void) | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    return await new Promise((resolve, reject) => {
      timer = setTimeout(() => reject(notEnded(last ?? { id }, timeoutMs)), timeoutMs);
      stop = watch((job) => {
        if (job === null) return reject(unknown(id));
        last = job;
        if (isFinished(job.status)) resolve(job);
      }, reject);
    });
  } finally {
    clearTimeout(timer);
    stop?.();
  }
}

function unknown(id: string): Error {
  return conveyorError(
    "unknownJob",
    `No job of this queue has the id ${JSON.stringify(String(id).slice(0, 100))}: it may have been deleted since it ended. ` +
      "Pass the id that enqueue returned, on the same deployment.",
    { id: String(id).slice(0, 100) },
  );
}

function notEnded(job: { id: string; status?: string }, timeoutMs: number): Error {
  return conveyorError(
    "resultTimedOut",
    `The job has not ended within ${timeoutMs} ms (timeoutMs); it is ${job.status ?? "not known yet"}, and goes on. ` +
      "Wait longer, or read its status later.",
    { id: job.id, timeoutMs, ...(job.status === undefined ? {} : { status: job.status }) },
  );
}

function resultOf(job: TypedJobStatus): unknown {
  switch (job.status) {
    case "succeeded":
      return job.result;
    case "canceled":
      throw new JobFailedError(job.id, {
        status: "canceled",
        error: job.reason ?? "The job was canceled.",
      });
    case "failed":
      throw new JobFailedError(job.id, { status: "failed", error: job.error });
    case "timedOut": {
      const { id, error, code } = job;
      const why = code === undefined ? {} : { code };
      throw new JobFailedError(id, { status: "timedOut", error, ...why });
    }
    default:
      throw new Error(`A job that is ${job.status} has not ended; this is a bug in Conveyor.`);
  }
}
