/**
 * Operating one queue: changes to the whole queue, to one of its jobs, and to many. Apart from the queue's everyday
 * methods, and in none of the functions that browsers reach, since much of it cannot be undone. It keeps no state.
 */
import type {
  BulkReply,
  BulkState,
  JobFilter,
  OwnJobId,
  QueueDeclaration,
  QueueEvent,
  QueueOverrides,
  QueueState,
  Status,
} from "../shared/index.js";
import type { ComponentApi } from "./componentApi.js";
import { callComponent } from "./mounted.js";
import type { RunsMutations, RunsQueries } from "./types.js";

/** How a change of many jobs is made. */
export interface ManyOptions {
  /**
   * `false`: nothing goes on by itself. The reply's `cursor`, handed back, asks for the next step.
   * @default true
   */
  goOn?: boolean;
  /** As the last reply had it. */
  cursor?: string;
  /**
   * How many jobs this step may change, 1 to 100.
   * @default 100
   */
  limit?: number;
  /** The reason, for `onComplete` and for people; up to 4,096 characters. */
  reason?: string;
}

/** The effect of a request to pause or resume a job; `paused` and `status` are its state now. */
export interface PauseReply {
  changed: boolean;
  paused: boolean;
  status: Status;
}

/** The operations on one queue. Made by {@link Queue.control} and {@link Conveyor.control}. */
export class QueueControl<Name extends string = string> {
  /** @internal Use {@link Queue.control} or {@link Conveyor.control}. */
  constructor(
    private readonly component: ComponentApi,
    private readonly queue: Name,
    private readonly declaration?: () => Promise<QueueDeclaration>,
  ) {}

  /** By its definition, where that is at hand: a queue that is not known yet, or not so, is declared. */
  private async named(): Promise<{ queue: Name; declared?: QueueDeclaration }> {
    const { queue } = this;
    return this.declaration === undefined
      ? { queue }
      : { queue, declared: await this.declaration() };
  }

  // --- The queue --------------------------------------------------------------------------------

  /**
   * From now on no job of the queue is claimed. Jobs come in, fall due and expire as ever, and running jobs go on and
   * are recorded. Calls of the queue that are in flight retry once.
   *
   * @returns `changed` is false if it was paused already.
   * @throws `unknownQueue` by {@link Conveyor.control} before the queue's first enqueue or claim; {@link Queue.control} declares it.
   * `componentNotMounted`.
   * @example
   * export const stop = internalMutation({ handler: (ctx) => tiles.control.pause(ctx) });
   */
  async pause(ctx: RunsMutations): Promise<{ changed: boolean }> {
    const args = await this.named();
    return await callComponent(() => ctx.runMutation(this.component.operate.pauseQueue, args));
  }

  /**
   * From now on every enqueue is refused with `queueDraining`, while the existing jobs are processed: jobs that wait,
   * are due later, or come back. {@link state} says `drained` when nothing is left. A job that is paused is left; an
   * explicit `retry` brings one back. The items of a circular queue go round for ever: cancel or delete them to drain
   * it.
   *
   * @throws `unknownQueue`, `componentNotMounted`.
   * @example
   * await tiles.control.drain(ctx);
   */
  async drain(ctx: RunsMutations): Promise<{ changed: boolean }> {
    const args = await this.named();
    return await callComponent(() => ctx.runMutation(this.component.operate.drainQueue, args));
  }

  /**
   * Ends a pause and a drain. Idle workers notice it through their subscriptions. By the queue's definition, this and every other
   * change of the queue applies what a deploy has changed in it, as the next enqueue does.
   *
   * @throws `unknownQueue`, `componentNotMounted`.
   * @example
   * await tiles.control.resume(ctx);
   */
  async resume(ctx: RunsMutations): Promise<{ changed: boolean }> {
    const args = await this.named();
    return await callComponent(() => ctx.runMutation(this.component.operate.resumeQueue, args));
  }

  /**
   * Changes the queue's configuration while it runs. A named field wins over the declaration in code, also after the
   * next deploys, until it is reset; an earlier override that is not named stays so. It counts at once, for jobs that
   * wait too; a lease that is held keeps its length.
   *
   * @param overrides Any of `leaseMs`, `graceMs`, `maxResets`, `shards`, `retry` (complete), `timeoutMs`, `expiresAfterMs`,
   * `deadlineMs`, `restMs`, `retention` (complete), `logLevel`, and for jobs that Convex runs `maxParallelism`,
   * `fallbackAfterMs`, `handlerMissingAfterMs`, within the bounds of the definition.
   * @throws `invalidArgument` for a value that a definition would be refused with, `unknownQueue`, `componentNotMounted`.
   * @example
   * await tiles.control.configure(ctx, { leaseMs: 120_000, logLevel: "debug" });
   */
  async configure(ctx: RunsMutations, overrides: QueueOverrides): Promise<{ changed: boolean }> {
    const args = { ...(await this.named()), overrides };
    return await callComponent(() => ctx.runMutation(this.component.operate.configureQueue, args));
  }

  /**
   * The declaration in code counts again: for these fields, or for all.
   *
   * @throws `invalidArgument` for a field that a configuration does not have, `unknownQueue`, `componentNotMounted`.
   * @example
   * await tiles.control.resetConfig(ctx, ["leaseMs"]);
   */
  async resetConfig(
    ctx: RunsMutations,
    fields?: readonly (keyof QueueOverrides)[],
  ): Promise<{ changed: boolean }> {
    const args = {
      ...(await this.named()),
      ...(fields === undefined ? {} : { fields: [...fields] }),
    };
    return await callComponent(() => ctx.runMutation(this.component.operate.resetConfig, args));
  }

  /**
   * How the queue is configured (`declared`, `overrides`, and `inForce`, which counts), and since when it is paused or drains. A
   * few reads, however many jobs there are; a subscription reruns with the queue's jobs only while it drains.
   *
   * @throws `unknownQueue`, `componentNotMounted`.
   * @example
   * const { pausedAt, inForce } = await tiles.control.state(ctx);
   */
  async state(ctx: RunsQueries): Promise<QueueState> {
    const { queue } = this;
    return await callComponent(() => ctx.runQuery(this.component.operate.queueState, { queue }));
  }

  /**
   * Events of the queue, newest first: pauses, changed configuration, leases that were taken away, jobs that were
   * passed over. Kept for 31 days.
   *
   * @param options.limit How many, 1 to 1,000.
   * @default limit 100
   * @throws `invalidArgument`, `componentNotMounted`.
   * @example
   * const [latest] = await tiles.control.events(ctx, { limit: 1 });
   */
  async events(ctx: RunsQueries, options: { limit?: number } = {}): Promise<QueueEvent[]> {
    const args = { ...options, queue: this.queue };
    return await callComponent(() => ctx.runQuery(this.component.operate.events, args));
  }

  // --- One job ----------------------------------------------------------------------------------

  /**
   * No worker or lane claims this job until it is resumed. Its status stays: one that is due later falls due, one that
   * runs goes on and is paused when it comes back. One that has ended is left.
   *
   * @throws `unknownJob` for an id that names no job of this queue, `componentNotMounted`.
   * @example
   * const { paused } = await tiles.control.pauseJob(ctx, id);
   */
  async pauseJob(ctx: RunsMutations, id: OwnJobId<Name>): Promise<PauseReply> {
    const args = { id, queue: this.queue };
    return await callComponent(() => ctx.runMutation(this.component.operate.pauseJob, args));
  }

  /**
   * Ends the pause of a job, which goes to the end of its line.
   *
   * @throws `unknownJob`, `componentNotMounted`.
   * @example
   * await tiles.control.resumeJob(ctx, id);
   */
  async resumeJob(ctx: RunsMutations, id: OwnJobId<Name>): Promise<PauseReply> {
    const args = { id, queue: this.queue };
    return await callComponent(() => ctx.runMutation(this.component.operate.resumeJob, args));
  }

  /**
   * Deletes a job in any status, with its payload, result, attempts, log and output. Its key is free, or with `windowMs`
   * once that is over. **It cannot be undone, and no callback runs**: `onComplete` is not called, also if it was still
   * owed. Cancel first if the callback must run. The worker of a running job is asked to stop, and its later reports are
   * answered `leaseLost`.
   *
   * @returns `deleted` is false, and `status` null, for an id that names no job of this queue, as after a first call.
   * @throws `componentNotMounted`.
   * @example
   * const { deleted } = await tiles.control.deleteJob(ctx, id);
   */
  async deleteJob(
    ctx: RunsMutations,
    id: OwnJobId<Name>,
  ): Promise<{ deleted: boolean; status: Status | null }> {
    const args = { id, queue: this.queue };
    return await callComponent(() => ctx.runMutation(this.component.operate.deleteJob, args));
  }

  // --- Many jobs --------------------------------------------------------------------------------

  /**
   * Cancels all jobs that a filter means, the newest first: jobs that wait or are due later at once, and the workers of
   * running jobs are asked to end them. Each `onComplete` runs alone. The first 100 are done in this transaction; the
   * rest goes on by itself, over any number of jobs and through crashes, and is about jobs that were there before the
   * call's transaction: jobs that these transactions have enqueued themselves are left. A job that workers keep moving
   * through three scans may be left too.
   *
   * @param filter All that it names must hold: `statuses` (of `scheduled`, `pending`, `running`; all three by default),
   * `priority`, `tags` (one of up to 16), `labels` (all of up to 16), `group`, `name`, `enqueuedBefore`, `finishedBefore`
   * (milliseconds). `{}` means every job.
   * @returns How many this transaction `changed`, whether it `isDone`, and the `task` by which to follow the rest.
   * @throws `invalidArgument` for statuses that the action does not leave, or a filter out of bounds; `unknownQueue`,
   * `componentNotMounted`.
   * @example
   * const { changed, task } = await tiles.control.cancelMany(ctx, { tags: [`customer:${id}`] });
   */
  async cancelMany(
    ctx: RunsMutations,
    filter: JobFilter,
    options: ManyOptions = {},
  ): Promise<BulkReply> {
    return await this.changeMany(ctx, "cancelMany", filter, options);
  }

  /**
   * Makes all finished jobs that a filter means claimable again, the oldest end first: failed and timed out ones, unless the
   * filter names other `statuses`. A job with a key that another job has by now is left. One that fails again while
   * this goes on is not tried another time. Otherwise like {@link cancelMany}.
   *
   * @throws As {@link cancelMany}.
   * @example
   * await tiles.control.retryMany(ctx, { finishedBefore: Date.now() - 60_000 });
   */
  async retryMany(
    ctx: RunsMutations,
    filter: JobFilter,
    options: ManyOptions = {},
  ): Promise<BulkReply> {
    return await this.changeMany(ctx, "retryMany", filter, options);
  }

  /**
   * Deletes all jobs that a filter means, as {@link deleteJob} does: finished ones, unless the filter names other `statuses`.
   * **It cannot be undone.** Otherwise like {@link cancelMany}.
   *
   * @throws As {@link cancelMany}.
   * @example
   * await tiles.control.deleteMany(ctx, { statuses: ["canceled"], finishedBefore: lastMonth });
   */
  async deleteMany(
    ctx: RunsMutations,
    filter: JobFilter,
    options: ManyOptions = {},
  ): Promise<BulkReply> {
    return await this.changeMany(ctx, "deleteMany", filter, options);
  }

  /**
   * The progress of a task that goes on by itself. Null for a `task` that this queue does not have; one that has ended
   * is remembered as long as it is among the queue's last 100 events.
   *
   * @throws `componentNotMounted`.
   * @example
   * const progress = await tiles.control.taskState(ctx, task);
   * if (progress?.state === "done") return `${progress.changed} jobs canceled`;
   */
  async taskState(ctx: RunsQueries, task: string): Promise<BulkState | null> {
    const args = { queue: this.queue, task };
    return await callComponent(() => ctx.runQuery(this.component.operate.taskState, args));
  }

  /**
   * Stops a task that goes on by itself, after its current step. Its changes so far stay.
   *
   * @returns `stopped` is false if it had ended.
   * @throws `componentNotMounted`.
   * @example
   * await tiles.control.stopTask(ctx, task);
   */
  async stopTask(ctx: RunsMutations, task: string): Promise<{ stopped: boolean }> {
    const args = { queue: this.queue, task };
    return await callComponent(() => ctx.runMutation(this.component.operate.stopTask, args));
  }

  private async changeMany(
    ctx: RunsMutations,
    change: "cancelMany" | "retryMany" | "deleteMany",
    filter: JobFilter,
    options: ManyOptions,
  ): Promise<BulkReply> {
    const args = { ...options, queue: this.queue, filter };
    return await callComponent(() => ctx.runMutation(this.component.operate[change], args));
  }
}
