/**
 * Reads of a queue's jobs for pages: the reading half of {@link Queue}. Each is a query of the component, run in the
 * caller's own: where that is a subscription, it reruns when its own job changes and at no other time.
 */
import type { VAny } from "convex/values";
import {
  conveyorError,
  type AttemptStatus,
  type Counts,
  type LogPage,
  type OutputPage,
  type OwnJobId,
  type TypedJobStatus,
} from "../shared/index.js";
import type { ComponentApi } from "./componentApi.js";
import { callComponent } from "./mounted.js";
import type { RunsActions } from "./jobTypes.js";
import type { RunsQueries, ValueValidator } from "./types.js";
import { waitByLooking, type WaitOptions } from "./waitForResult.js";

/** Which page of a job's log. */
export type LogOptions = {
  /** The `cursor` of the page before; without one, the log is read from its beginning. */
  cursor?: string;
  /**
   * How many entries, 1 to 1,000.
   * @default 100
   */
  limit?: number;
};

/** Which page of which attempt's output. */
export type OutputOptions = {
  /** The `cursor` of the page before: it stays with that page's attempt. Without `attempt` and `fromIndex`. */
  cursor?: string;
  /**
   * The attempt of the output, from 1.
   * @default the job's last attempt
   */
  attempt?: number;
  /**
   * The first part wanted, from 0.
   * @default 0
   */
  fromIndex?: number;
  /**
   * How many parts, 1 to 1,000. A page is cut earlier after 4 MiB.
   * @default 100
   */
  limit?: number;
};

/** A queue's jobs, to be read. */
export abstract class WatchedQueue<
  Name extends string,
  VResult extends ValueValidator = VAny,
  VProgress extends ValueValidator = VAny,
> {
  /** @internal */
  constructor(
    /** @internal */
    readonly component: ComponentApi,
    readonly name: Name,
  ) {}

  /**
   * How a job stands, with its progress or result: a union on `status`. Null for an id that names no job of this queue.
   *
   * A `scheduled` job has `dueAt`; with a `lastError` it backs off after a failure. A `canceled` one has the `reason`,
   * if one was given. A running one that was asked to end has `cancelRequestedAt`.
   *
   * @param id As `enqueue` returned it; plain strings will do.
   * @throws `componentNotMounted`.
   * @example
   * const job = await tiles.status(ctx, id);
   * if (job?.status === "succeeded") return job.result.pixels;
   */
  async status(
    ctx: RunsQueries,
    id: OwnJobId<Name>,
  ): Promise<TypedJobStatus<VResult["type"], Name, VProgress["type"]> | null> {
    const args = { id, queue: this.name };
    const status = await callComponent(() => ctx.runQuery(this.component.lib.status, args));
    return status as TypedJobStatus<VResult["type"], Name, VProgress["type"]> | null;
  }

  /**
   * Waits in an action until a job has ended, and returns its result. It asks again after 100 ms, and ever longer up to 5 s.
   *
   * A handler that waits for a job of its own queue takes one of the queue's places while it waits: with `maxParallelism` such
   * handlers, none of the jobs that they wait for could begin. Wait for other queues' jobs, or use `onComplete`.
   *
   * @param ctx Of an action: a query or mutation sees no change while it runs.
   * @param options.timeoutMs After how many milliseconds the wait is given up; the job goes on. 300,000 by default.
   * @throws `JobFailedError` with the `outcome` of a job that has failed, timed out or been canceled; `resultTimedOut`;
   * `unknownJob`; `invalidArgument` outside an action; `componentNotMounted`.
   * @example
   * const id = await tiles.enqueue(ctx, tile);
   * const { pixels } = await tiles.waitForResult(ctx, id, { timeoutMs: 60_000 });
   */
  async waitForResult(
    ctx: RunsActions,
    id: OwnJobId<Name>,
    options: WaitOptions = {},
  ): Promise<VResult["type"]> {
    if (typeof (ctx as Partial<RunsActions> | undefined)?.runAction !== "function") {
      throw conveyorError(
        "invalidArgument",
        "Only an action can wait for a result: a query or mutation sees no change while it runs. " +
          "Call waitForResult(ctx, id) in an action, or name a mutation as the queue's onComplete.",
        { argument: "ctx", queue: this.name },
      );
    }
    return await waitByLooking(id, options, () => this.status(ctx, id));
  }

  /**
   * {@link status} of up to 100 jobs in one query, in the order of their ids, null for jobs of other queues. As a
   * subscription it reruns when any of them changes.
   *
   * @throws `invalidArgument` for more than 100 ids; `payloadTooLarge` when the results are more than 8 MiB together;
   * `componentNotMounted`.
   * @example
   * const jobs = await tiles.statusBatch(ctx, picture.jobs);
   * const done = jobs.filter((job) => job?.status === "succeeded").length;
   */
  async statusBatch(
    ctx: RunsQueries,
    ids: readonly OwnJobId<Name>[],
  ): Promise<(TypedJobStatus<VResult["type"], Name, VProgress["type"]> | null)[]> {
    const args = { ids: [...ids], queue: this.name };
    const jobs = await callComponent(() => ctx.runQuery(this.component.lib.statusBatch, args));
    return jobs as (TypedJobStatus<VResult["type"], Name, VProgress["type"]> | null)[];
  }

  /**
   * The last attempts of a job, in order: a union on `outcome`, with the worker, the times and the error of each.
   * Successful ones of a circular queue are not among them, but for their count in `status`; neither is a success that
   * was repeated by `retry`.
   *
   * @param options.limit How many, 1 to 1,000; the answer has fewer where their errors come to more than 4 MiB.
   * @default limit 100
   * @returns Null for an id that names no job of this queue.
   * @throws `invalidArgument` for a limit out of bounds, `componentNotMounted`.
   * @example
   * const attempts = await emails.attempts(ctx, id);
   * return attempts?.map(({ attempt, outcome, worker }) => `${attempt}: ${outcome} on ${worker}`);
   */
  async attempts(
    ctx: RunsQueries,
    id: OwnJobId<Name>,
    options: { limit?: number } = {},
  ): Promise<AttemptStatus[] | null> {
    const args = { ...options, id, queue: this.name };
    return await callComponent(() => ctx.runQuery(this.component.lib.attempts, args));
  }

  /**
   * A page of a job's log, oldest first, of all its attempts. Entries are only ever added at the end (and changed in
   * place), so a cursor means the same place for ever: keep the last page subscribed to follow the log.
   *
   * @returns Null for an id that names no job of this queue.
   * @throws `invalidArgument` for a limit out of bounds or a string that is no cursor, `componentNotMounted`.
   * @example
   * const page = await builds.logs(ctx, id, { cursor, limit: 200 });
   * return page?.entries.map(({ level, message }) => `${level} ${message}`);
   */
  async logs(
    ctx: RunsQueries,
    id: OwnJobId<Name>,
    options: LogOptions = {},
  ): Promise<LogPage | null> {
    const args = { ...options, id, queue: this.name };
    return await callComponent(() => ctx.runQuery(this.component.lib.logs, args));
  }

  /**
   * A page of a job's output: pieces of text that together are its output, from the beginning for late readers too. A
   * retry begins a new output: without `attempt` and `cursor` the page is of the job's last attempt, so that a page on
   * the screen changes over at once; `lastAttempt` says whether there is a newer one than the page's.
   *
   * @returns Null for an id that names no job of this queue.
   * @throws `invalidArgument` for a number out of bounds or a string that is no cursor, `componentNotMounted`.
   * @example
   * const page = await answers.output(ctx, id, { limit: 1_000 });
   * return page?.parts.map(({ text }) => text).join("");
   */
  async output(
    ctx: RunsQueries,
    id: OwnJobId<Name>,
    options: OutputOptions = {},
  ): Promise<OutputPage | null> {
    const args = { ...options, id, queue: this.name };
    return await callComponent(() => ctx.runQuery(this.component.lib.output, args));
  }

  /**
   * How many jobs are in each status, each counted up to `limit` (1 to 1,000), or as far as 3 MiB of rows go for all together, and
   * with `more` if there are more. It is
   * for a page; it is not for deciding whether there is work.
   *
   * @param options.limit How far to count each status, 1 to 1,000.
   * @default limit 100
   * @throws `invalidArgument` for a limit out of bounds, `componentNotMounted`.
   * @example
   * const { pending } = await tiles.counts(ctx);
   * return `${pending.count}${pending.more ? "+" : ""} waiting`;
   */
  async counts(ctx: RunsQueries, options: { limit?: number } = {}): Promise<Counts> {
    return await callComponent(() =>
      ctx.runQuery(this.component.lib.counts, { ...options, queue: this.name }),
    );
  }
}
