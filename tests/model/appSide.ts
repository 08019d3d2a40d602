/** The calls of an app and its operators: made to the component and to the model, with the answers compared. */
import type { Infer } from "convex/values";
import { api } from "../../src/component/_generated/api.js";
import { refusal, type World } from "../../src/component/setup.test.js";
import type { JobOptions, QueueOverrides, vBulkReply } from "../../src/shared/index.js";
import type { Filter } from "./commands.js";
import { enterAll, refusalOf } from "./entering.js";
import { expect } from "./follow.js";
import { isActive, type Job } from "./jobs.js";
import { type Model } from "./model.js";
import { pick, same } from "./same.js";
import type { Numbers } from "./workerSide.js";

export class AppSide {
  constructor(
    private readonly world: World,
    private readonly model: Model,
    private readonly numbers: Numbers,
  ) {}

  async enqueue(list: readonly JobOptions[]): Promise<void> {
    const { model, world } = this;
    const now = Date.now();
    const jobs = list.map((options) => ({ payload: this.numbers.next(), options }));
    const refused = refusalOf(model, list, now);
    const call = world.t.mutation(api.lib.enqueue, { queue: world.queue, jobs });
    if (refused !== null) {
      expect((await refusal(call)).code === refused, `it is refused as ${refused}`, list);
      return;
    }
    enterAll(model, await call, jobs, now);
    model.isDeclared = true;
  }

  async replace(index: number, options: JobOptions): Promise<void> {
    const { model, world } = this;
    const job = pick(model.there, index);
    if (job === undefined) return;
    const now = Date.now();
    const by = { payload: this.numbers.next(), options };
    const call = world.t.mutation(api.lib.replace, { id: job.id, queue: world.queue, job: by });
    if (job.status !== "pending" && job.status !== "scheduled") {
      const { replaced, id, status } = await call;
      expect(!replaced && id === job.id && status === job.status, "one that began stays", job);
      return;
    }
    const { key } = options;
    const owner = key === undefined ? null : model.ownerOf(key.value, now);
    // Its own key is the new one's, also within the key's window; that of a third only where both are replaced.
    const isOutdone =
      key?.onConflict === "replace" &&
      (owner?.status === "pending" || owner?.status === "scheduled") &&
      !owner.isDeleted;
    const isTaken = owner !== null && owner !== job && !isOutdone;
    const code = model.isDraining ? "queueDraining" : isTaken ? "duplicateKey" : null;
    if (code !== null) {
      expect((await refusal(call)).code === code, `a replacement is refused as ${code}`, options);
      return;
    }
    const reply = await call;
    expect(reply.replaced && reply.status === "canceled", "one that waits is replaced", job);
    if (owner === job) model.keys.delete(job.key!);
    model.cancel(job);
    enterAll(model, [{ id: reply.id, isNew: true }], [by], now);
  }

  async one(
    what: "cancel" | "retry" | "pauseJob" | "resumeJob" | "delete",
    job: Job,
  ): Promise<void> {
    const { model, world } = this;
    const { id, status } = job;
    switch (what) {
      case "cancel": {
        const reply = await world.t.mutation(api.operate.cancelJob, { id });
        const canceled = status === "pending" || status === "scheduled";
        const requested = status === "running";
        if (canceled) model.cancel(job);
        if (requested) model.requestCancel(job);
        return same(reply, { canceled, requested, status: job.status });
      }
      case "retry": {
        const owner = job.key === undefined ? null : model.ownerOf(job.key, Date.now());
        const reply = await world.t.mutation(api.operate.retryJob, { id });
        const retried = !isActive(status) && model.retry(job, Date.now());
        const isTaken = !retried && !isActive(status);
        const taken = isTaken ? { keyTakenBy: owner!.id } : {};
        return same(reply, { retried, status: job.status, ...taken });
      }
      case "pauseJob": {
        const reply = await world.t.mutation(api.operate.pauseJob, { id });
        return same(reply, { changed: model.pause(job), paused: job.paused, status });
      }
      case "resumeJob": {
        const reply = await world.t.mutation(api.operate.resumeJob, { id });
        return same(reply, { changed: model.resume(job, Date.now()), paused: job.paused, status });
      }
      case "delete":
        same(await world.t.mutation(api.operate.deleteJob, { id }), { deleted: true, status });
        return await this.deleted(job);
    }
  }

  /** Callbacks that were still owed for it are owed no more. */
  private async deleted(job: Job): Promise<void> {
    this.model.delete(job);
    const told = (await this.world.all("told")).filter(({ id }) => id === job.id);
    const isTold = (one: Model["told"][number]) =>
      told.some(({ status, attempt }) => status === one.status && attempt === one.attempt);
    this.model.told = this.model.told.filter((one) => one.id !== job.id || isTold(one));
  }

  async many(action: "cancel" | "retry" | "delete", filter: Filter): Promise<void> {
    const { model, world } = this;
    if (!model.isDeclared) return;
    const now = Date.now();
    const statuses = filter.statuses ?? USUAL[action];
    const order = (job: Job) => statuses.indexOf(job.status);
    const meant = model.there
      .filter((job) => statuses.includes(job.status) && isMeant(job, filter))
      .filter((job) => action !== "cancel" || !job.cancelRequested)
      .sort(
        (a, b) =>
          order(a) - order(b) ||
          (a.seq < b.seq ? -1 : a.seq > b.seq ? 1 : a.createdAt - b.createdAt),
      );
    const args = { queue: world.queue.name, filter };
    const reply: Infer<typeof vBulkReply> = await world.t.mutation(
      api.operate[`${action}Many`],
      args,
    );
    let changed = 0;
    for (const job of meant) {
      if (action === "retry") changed += model.retry(job, now) ? 1 : 0;
      else changed += 1;
      if (action === "delete") await this.deleted(job);
      if (action !== "cancel") continue;
      if (job.status === "running") model.requestCancel(job);
      else model.cancel(job);
    }
    same(reply, { changed, isDone: true });
  }

  async configure(overrides: QueueOverrides): Promise<void> {
    const { model, world } = this;
    if (!model.isDeclared) return;
    const args = { queue: world.queue.name, overrides };
    const reply = await world.t.mutation(api.operate.configureQueue, args);
    same(reply, { changed: model.configure({ ...model.overrides, ...overrides }, Date.now()) });
  }

  async resetConfig(fields: (keyof QueueOverrides)[] | undefined): Promise<void> {
    const { model, world } = this;
    if (!model.isDeclared) return;
    const args = { queue: world.queue.name, ...(fields === undefined ? {} : { fields }) };
    const reply = await world.t.mutation(api.operate.resetConfig, args);
    const kept = { ...model.overrides };
    for (const field of fields ?? (Object.keys(kept) as never[])) delete kept[field];
    same(reply, { changed: model.configure(kept, Date.now()) });
  }

  async control(what: "pauseQueue" | "drainQueue" | "resumeQueue"): Promise<void> {
    const { model, world } = this;
    if (!model.isDeclared) return;
    const { isPaused, isDraining } = model;
    const reply = await world.t.mutation(api.operate[what], { queue: world.queue.name });
    if (what === "pauseQueue") model.isPaused = true;
    else if (what === "drainQueue") model.isDraining = true;
    else model.isPaused = model.isDraining = false;
    same(reply, { changed: isPaused !== model.isPaused || isDraining !== model.isDraining });
  }
}

const USUAL: Record<"cancel" | "retry" | "delete", readonly string[]> = {
  cancel: ["scheduled", "pending", "running"],
  retry: ["failed", "timedOut"],
  delete: ["succeeded", "failed", "canceled", "timedOut"],
};

function isMeant(job: Job, { priority, tags, group }: Filter): boolean {
  return (
    (priority === undefined || job.priority === priority) &&
    (tags === undefined || tags.some((tag) => job.tags.includes(tag))) &&
    (group === undefined || job.group === group)
  );
}
