/**
 * The views of a queue as a whole, and why its jobs are where they are: for pages, and for nothing on which work
 * depends. Each is a query of the component that reads only its answer, however many jobs there are.
 */
import type { VAny } from "convex/values";
import type {
  Gauge,
  Health,
  JobPage,
  ListedJob,
  ListFilter,
  ListOrder,
  OwnJobId,
  PageOptions,
  Per,
  Position,
  Stats,
  Why,
} from "../shared/index.js";
import { callComponent } from "./mounted.js";
import type { RunsQueries, ValueValidator } from "./types.js";
import { WatchedQueue } from "./watched.js";

/** Which periods of a queue's statistics. */
export type StatsOptions = {
  /**
   * Minutes are kept for 62 days, hours for a year, days for five.
   * @default "minute"
   */
  per?: Per;
  /**
   * How many periods, 1 to 1,000.
   * @default 60
   */
  count?: number;
  /**
   * An instant in the last of them, milliseconds.
   * @default now
   */
  until?: number;
};

/** Which page of which of a queue's jobs. */
export type ListOptions = {
  /**
   * `status`, `name` (of the job at `enqueue`), `worker` (the name of its current or last worker), `tag`, `group`: all
   * that is named must hold. `status` selects the range to read; the other fields skip jobs that do not match. In a
   * queue with `listBy`, a `tag` or `group` selects the range to read: in all statuses, by when the jobs were enqueued.
   * @default all jobs: running jobs, waiting jobs, jobs that are due later, and then ended jobs
   */
  filter?: ListFilter;
  /**
   * `next`: as they are claimed, fall due, began, or ended. `newest`: the other way round.
   * @default "next"
   */
  order?: ListOrder;
  /**
   * As `usePaginatedQuery` sends them: `numItems` 1 to 1,000, the `cursor` behind which to go on (null to begin), and the
   * `endCursor` at which a page ends that has been read before.
   */
  paginationOpts: PageOptions;
};

/** A queue, for reading. Every {@link Queue} is one; by name, see {@link Conveyor.observe}. */
export class ObservedQueue<
  Name extends string,
  VResult extends ValueValidator = VAny,
  VProgress extends ValueValidator = VAny,
> extends WatchedQueue<Name, VResult, VProgress> {
  // --- How it goes ------------------------------------------------------------------------------

  /**
   * The queue's statistics by minute, hour or day (of UTC), oldest first and without gaps: how many jobs were enqueued,
   * were started, and ended how, and how long they waited and ran. It is counted ten to 80 seconds behind, in a queue
   * that has a job now and then up to ten minutes behind; counts are exact. Percentiles are as near as buckets of
   * powers of two tell.
   *
   * It reads a row for each period, however many jobs there were. A subscription reruns when one of them is written:
   * every 10 s in a busy queue.
   *
   * @throws `invalidArgument` for a `count` or an `until` out of bounds, `componentNotMounted`.
   * @example
   * const { periods } = await tiles.stats(ctx, { per: "hour", count: 24 });
   * const failed = periods.reduce((sum, hour) => sum + hour.failed, 0);
   */
  async stats(ctx: RunsQueries, options: StatsOptions = {}): Promise<Stats> {
    const args = { ...options, queue: this.name };
    return await callComponent(() => ctx.runQuery(this.component.observe.stats, args));
  }

  /**
   * How the queue stands: its jobs by status, counted up to 1,000 each (of jobs with long errors less far); since when the job was enqueued that has been claimable for
   * longest; jobs per minute; and its {@link health}. For a page that is always open.
   *
   * Of a busy queue it is a row that is rewritten every 10 s, for any number of jobs and readers: a subscription reruns
   * with it and at no other time, and where a status has more than 50 jobs its figure may be a minute old, of ended
   * ones ten minutes. Of a quiet queue it is read from the jobs themselves, exact and live. `at` says when the figures
   * were true.
   *
   * @throws `componentNotMounted`.
   * @example
   * const { counts, perMinute, health } = await tiles.gauge(ctx);
   * return `${counts.pending.count} waiting, ${Math.round(perMinute.finished)} a minute, ${health.light}`;
   */
  async gauge(ctx: RunsQueries): Promise<Gauge> {
    const { name: queue } = this;
    return await callComponent(() => ctx.runQuery(this.component.observe.gauge, { queue }));
  }

  /**
   * How the last jobs of the queue went that were not canceled, newest first: the share that succeeded, and how long they
   * ran on average, 1 and 5,000 ms where none has ended. And a light, with the reason in words: red when a job is
   * claimable, a worker or lane could take it, and nothing has been claimed for a minute; yellow when the queue is
   * paused and jobs wait, when fewer than three in four succeeded, or when a job waits for longer than is usual.
   *
   * In a queue that stands still nothing changes, and no subscription reruns: `worsens` has the next light and its
   * time, so that a page can show it by its own clock.
   *
   * @param options.last How many jobs, 1 to 100.
   * @default last 5
   * @throws `invalidArgument` for `last` out of bounds, `componentNotMounted`.
   * @example
   * const { light, reason, successRate } = await tiles.health(ctx, { last: 20 });
   */
  async health(ctx: RunsQueries, options: { last?: number } = {}): Promise<Health> {
    const args = { ...options, queue: this.name };
    return await callComponent(() => ctx.runQuery(this.component.observe.health, args));
  }

  // --- Which jobs there are ---------------------------------------------------------------------

  /**
   * A page of the queue's jobs, each without its payload and result. Waiting ones by priority and then as they came, paused
   * ones behind them.
   *
   * It reads the page and no more, however many jobs there are; with a filter up to 1,000 rows, and where that is not enough
   * the page is short and `isDone` false. A subscription reruns when one of its jobs moves or another comes into it. It
   * is made for `usePaginatedQuery` of `convex-helpers/react`, which pins each page's end, so that pages neither
   * overlap nor leave anything out while jobs move; that of `convex/react` reads it too, and does not pin.
   *
   * In a queue of more than 512 places (its priorities, times two, times its shards, times its different sets of labels and
   * classes of cost), waiting jobs of one priority are listed place by place.
   *
   * @throws `invalidArgument` for a page size, filter or cursor that is none, `componentNotMounted`.
   * @example
   * export const failed = query({
   *   args: { paginationOpts: paginationOptsValidator },
   *   handler: (ctx, { paginationOpts }) =>
   *     tiles.list(ctx, { filter: { status: "failed" }, order: "newest", paginationOpts }),
   * });
   */
  async list(ctx: RunsQueries, options: ListOptions): Promise<JobPage> {
    const args = { ...options, queue: this.name };
    return await callComponent(() => ctx.runQuery(this.component.observe.list, args));
  }

  /**
   * The job that has this uniqueness key: an active one, or one with a key that is kept for a window. Null where none
   * has.
   *
   * @throws `componentNotMounted`.
   * @example
   * const job = await invoices.byKey(ctx, `order:${orderId}`);
   */
  async byKey(ctx: RunsQueries, key: string): Promise<ListedJob | null> {
    const args = { queue: this.name, key };
    return await callComponent(() => ctx.runQuery(this.component.observe.byKey, args));
  }

  /**
   * How many jobs would be claimed before one that waits: exactly up to 100, and whether there are `more`. With up to 100, and
   * where any have ended within the last hour, `startsAt` is when it will begin at the pace of the best of the last minutes.
   * Null for a job that does not wait to be claimed (it is due later, paused, runs or has ended), or is none of this queue.
   *
   * Some of the jobs before it may be for workers with other labels. A subscription reruns when one before it moves.
   *
   * @throws `componentNotMounted`.
   * @example
   * const place = await tiles.position(ctx, id);
   * return place === null ? null : place.more ? "more than 100 before you" : `${place.ahead} before you`;
   */
  async position(ctx: RunsQueries, id: OwnJobId<Name>): Promise<Position | null> {
    const args = { id, queue: this.name };
    return await callComponent(() => ctx.runQuery(this.component.observe.position, args));
  }

  /**
   * Why a job is not running: the obstacles, the first reason first, each in words with its figures, and the way out
   * (`remedy`); `until` when it holds, where that is known. Of one that runs or has ended it says that. Null for an id
   * that names no job of this queue.
   *
   * In this order: it is due later (`scheduled`), or waits for its next attempt (`backingOff`); it, or its queue, is paused; it
   * has `expired`; no worker that serves the queue is alive, or none that offers the labels, group and budget that it
   * needs, as of the workers' last claims; all workers that could take it are at work (`atCapacity`); jobs are before
   * it (`behind`), or none (`next`). `stuck`: for a minute no job has been claimed, though a worker could claim one.
   *
   * It reads some hundred rows at most. A subscription to a job that waits reruns with the claims of its queue and the
   * beats of its workers.
   *
   * @throws `componentNotMounted`.
   * @example
   * const answer = await tiles.why(ctx, id);
   * return answer?.reasons.map(({ text, remedy }) => `${text} ${remedy}`);
   */
  async why(ctx: RunsQueries, id: OwnJobId<Name>): Promise<Why | null> {
    const args = { id, queue: this.name };
    return await callComponent(() => ctx.runQuery(this.component.observe.why, args));
  }
}
