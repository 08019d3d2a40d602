/** One step, done to the component and to the model; what the component answers must be what the model says. */
import type { Infer } from "convex/values";
import { api } from "../../src/component/_generated/api.js";
import { app, leaseOf, refusal, Worker, type World } from "../../src/component/setup.test.js";
import type { vBulkReply, vEnqueued } from "../../src/shared/index.js";
import {
  type Answer,
  type ClaimedJob,
  type Finished,
  type JobOptions,
  type NewJob,
  type Outcome,
} from "../../src/shared/index.js";
import { claimable, followClaim } from "./claims.js";
import type { Command, Filter, Kind, Wants } from "./commands.js";
import { expect, follow } from "./follow.js";
import { isActive, span, type Job, type Model, type Session } from "./model.js";
import { settle, type Seen } from "./world.js";

/** The last call of a session, to be repeated. */
interface Call {
  again: () => Promise<{ jobs: ClaimedJob[]; answers?: Answer[] }>;
  answers: Answer[];
}

/** A model beside a component, and what belongs to both. */
export class Pair {
  private readonly workers = new Map<Session, Worker>();
  private readonly calls = new Map<Session, Call>();
  /** New jobs whose ids no reply names. */
  private awaited: { payload: number; options: JobOptions }[] = [];
  private readonly current: Session[] = [];
  private payloads = 0;
  private throws = 0;

  constructor(
    readonly world: World,
    readonly model: Model,
  ) {
    for (const name of ["ann", "bob", "cyd"]) this.current.push(this.begin(name));
    app.onComplete = () => {
      if (this.throws === 0) return;
      this.throws -= 1;
      throw new Error("The app's callback throws.");
    };
  }

  private begin(name: string): Session {
    const session = {
      ...{ name, session: `${name}-${this.model.sessions.length}`, n: 0, lastSeenAt: 0 },
      ...{ leases: [], acknowledged: true, deadlineAt: Infinity },
    };
    this.model.sessions.push(session);
    this.workers.set(session, new Worker(this.world, name, session.session));
    return session;
  }

  /** Does the step, lets all that is due run, and compares. */
  async step(command: Command): Promise<Seen> {
    await this.perform(command);
    const seen = await settle(this.world);
    for (const row of seen.jobs) this.meet(row._id, (row.payload as { inline: number }).inline);
    follow(this.model, seen, Date.now());
    expect(this.awaited.length === 0, "what is continued is there", this.awaited);
    return seen;
  }

  private meet(id: string, payload: number): void {
    const i = this.awaited.findIndex((one) => one.payload === payload);
    if (i < 0) return;
    const [one] = this.awaited.splice(i, 1);
    this.model.add(id, payload, one!.options, Date.now());
  }

  private async perform(command: Command): Promise<void> {
    switch (command.do) {
      case "enqueue":
        return await this.enqueue(command.jobs);
      case "replace":
        return await this.replace(command.job, command.by);
      case "claim":
        return await this.claim(pick(this.current, command.worker), command.wants);
      case "complete":
        return await this.complete(command);
      case "late":
        return await this.late(command);
      case "repeat":
        return await this.repeat(pick(this.current, command.worker));
      case "stale":
        return await this.stale(pick(this.current, command.worker));
      case "beat":
        return await this.beat(pick(this.current, command.worker), command.names);
      case "newSession": {
        const i = command.worker % this.current.length;
        this.current[i] = this.begin(this.current[i]!.name);
        return;
      }
      case "pass":
        return this.pass(command.ms);
      case "throw":
        this.throws = command.times;
        return;
      case "hasWork":
        return await this.hasWork(command.wants);
      case "pauseQueue":
      case "drainQueue":
      case "resumeQueue":
        return await this.control(command.do);
      case "many":
        return await this.many(command.action, command.filter);
      default: {
        const job = pick(this.model.there, command.job);
        if (job !== undefined) await this.one(command.do, job);
      }
    }
  }

  private pass(ms: number): void {
    clock.advance(ms);
  }

  // --- The app ---------------------------------------------------------------------------------------

  private async enqueue(list: readonly JobOptions[]): Promise<void> {
    const { model, world } = this;
    const now = Date.now();
    const jobs = list.map((options) => ({ payload: (this.payloads += 1), options }));
    const refused = this.refuses(list, now);
    const call = world.t.mutation(api.lib.enqueue, { queue: world.queue, jobs });
    if (refused !== null) {
      expect((await refusal(call)).code === refused, `it is refused as ${refused}`, list);
      return;
    }
    this.enqueued(await call, jobs, now);
    model.isDeclared = true;
  }

  /** Why the call is refused as a whole, if it is. */
  private refuses(list: readonly JobOptions[], now: number): string | null {
    if (this.model.isDraining) return "queueDraining";
    const mine = new Set<string>();
    for (const { key } of list) {
      if (key === undefined) continue;
      const isTaken = mine.has(key.value) || this.model.ownerOf(key.value, now) !== null;
      if (isTaken && key.onConflict === "refuse") return "duplicateKey";
      mine.add(key.value);
    }
    return null;
  }

  private enqueued(replies: Infer<typeof vEnqueued>[], jobs: readonly NewJob[], now: number): void {
    const { model } = this;
    for (const [i, { payload, options = {} }] of jobs.entries()) {
      const { id, isNew } = replies[i]!;
      const owner = options.key === undefined ? null : model.ownerOf(options.key.value, now);
      const isOutdone =
        owner !== null &&
        options.key?.onConflict === "replace" &&
        !owner.isDeleted &&
        (owner.status === "pending" || owner.status === "scheduled");
      expect(isNew === (owner === null || isOutdone), "a key is one job's", { options, owner, id });
      if (!isNew) {
        expect(id === owner!.id, "who has the key is named", { id, owner });
        continue;
      }
      // The key is the new job's before the other ends.
      model.add(id, payload as number, options, now);
      if (isOutdone) model.cancel(owner);
    }
  }

  private async replace(index: number, options: JobOptions): Promise<void> {
    const { model, world } = this;
    const job = pick(model.there, index);
    if (job === undefined) return;
    const now = Date.now();
    const by = { payload: (this.payloads += 1), options };
    const call = world.t.mutation(api.lib.replace, { id: job.id, queue: world.queue, job: by });
    if (job.status !== "pending" && job.status !== "scheduled") {
      const { replaced, id, status } = await call;
      expect(!replaced && id === job.id && status === job.status, "one that began stays", job);
      return;
    }
    const { key } = options;
    const owner = key === undefined ? null : model.ownerOf(key.value, now);
    const isFreed = owner === job && job.keyUntil === undefined;
    const isTaken = owner !== null && !isFreed;
    const code = model.isDraining
      ? "queueDraining"
      : isTaken && key!.onConflict === "refuse"
        ? "duplicateKey"
        : null;
    if (code !== null) {
      expect((await refusal(call)).code === code, `a replacement is refused as ${code}`, options);
      return;
    }
    const reply = await call;
    expect(reply.replaced && reply.status === "canceled", "one that waits is replaced", job);
    model.cancel(job);
    const isNew = !isTaken || reply.id !== owner.id;
    this.enqueued([{ id: reply.id, isNew }], [by], now);
  }

  private async one(
    what: "cancel" | "retry" | "pauseJob" | "resumeJob" | "delete",
    job: Job,
  ): Promise<void> {
    const { model, world } = this;
    const { id, status } = job;
    switch (what) {
      case "cancel": {
        const reply = await world.t.mutation(api.lib.cancel, { id });
        const canceled = status === "pending" || status === "scheduled";
        const requested = status === "running";
        if (canceled) model.cancel(job);
        if (requested) model.requestCancel(job);
        return same(reply, { canceled, requested, status: job.status });
      }
      case "retry": {
        const owner = job.key === undefined ? null : model.ownerOf(job.key, Date.now());
        const reply = await world.t.mutation(api.lib.retry, { id });
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

  /** What was still owed of it is owed no more. */
  private async deleted(job: Job): Promise<void> {
    this.model.delete(job);
    const told = (await this.world.all("told")).filter(({ id }) => id === job.id);
    const isTold = (one: Model["told"][number]) =>
      told.some(({ status, attempt }) => status === one.status && attempt === one.attempt);
    this.model.told = this.model.told.filter((one) => one.id !== job.id || isTold(one));
  }

  private async many(action: "cancel" | "retry" | "delete", filter: Filter): Promise<void> {
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
    const args = { queue: world.queue.name, action, filter };
    const reply: Infer<typeof vBulkReply> = await world.t.mutation(api.operate.changeMany, args);
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

  private async control(what: "pauseQueue" | "drainQueue" | "resumeQueue"): Promise<void> {
    const { model, world } = this;
    if (!model.isDeclared) return;
    const { isPaused, isDraining } = model;
    const reply = await world.t.mutation(api.operate[what], { queue: world.queue.name });
    if (what === "pauseQueue") model.isPaused = true;
    else if (what === "drainQueue") model.isDraining = true;
    else model.isPaused = model.isDraining = false;
    same(reply, { changed: isPaused !== model.isPaused || isDraining !== model.isDraining });
  }

  // --- Workers ---------------------------------------------------------------------------------------

  private async claim(session: Session, wants: Wants): Promise<void> {
    const worker = this.workers.get(session)!;
    const { max, ...conditions } = wants;
    const jobs = await worker.claim(max, conditions);
    this.model.isDeclared = true;
    this.called(session, () =>
      worker.claim(max, { ...conditions, n: session.n }).then((again) => ({ jobs: again })),
    );
    this.claimed(session, wants, jobs);
  }

  /** A new call: the last one's reply has arrived. */
  private called(session: Session, again: Call["again"], answers: Answer[] = []): void {
    session.n += 1;
    session.acknowledged = true;
    this.calls.set(session, { again, answers });
  }

  private claimed(session: Session, wants: Wants, jobs: ClaimedJob[]): void {
    const now = Date.now();
    followClaim(this.model, session, wants, jobs, now);
    if (jobs.length > 0) session.acknowledged = false;
    this.model.renew(session, now);
  }

  private async complete(command: Extract<Command, { do: "complete" }>): Promise<void> {
    const session = pick(this.current, command.worker);
    if (session.n === 0) return;
    const finished: Finished[] = [];
    for (const { lease: index, kind, ms, continued } of command.ends) {
      const lease = pick(session.leases, index);
      if (lease === undefined) continue;
      const jobs = Array.from({ length: continued }, () => ({
        payload: (this.payloads += 1),
        options: { priority: 1 },
      }));
      const more = continued === 0 ? {} : { continued: [{ queue: this.world.queue, jobs }] };
      finished.push({ ...leaseOf(lease), outcome: outcomeOf(kind, ms), ...more });
    }
    if (finished.length === 0) return;
    const { claim, deferCallbacks } = command;
    const options = { deferCallbacks, ...(claim === undefined ? {} : { claim }) };
    await this.report(session, finished, options);
  }

  private async late(command: Extract<Command, { do: "late" }>): Promise<void> {
    const session = pick(this.model.sessions, command.worker);
    const job = pick(this.model.jobs, command.job);
    if (session.n === 0 || job === undefined) return;
    const attempt = Math.max(0, job.attempt - command.back);
    const jobs = [{ payload: (this.payloads += 1) }];
    const continued = [{ queue: this.world.queue, jobs }];
    const outcome = outcomeOf(command.kind, 100);
    await this.report(session, [{ id: job.id, attempt, outcome, continued }], {});
  }

  private async report(
    session: Session,
    finished: Finished[],
    options: { claim?: number; deferCallbacks?: boolean },
  ): Promise<void> {
    const worker = this.workers.get(session)!;
    const reply = await worker.complete(finished, options);
    this.called(
      session,
      () => worker.complete(finished, { ...options, n: session.n }),
      reply.answers,
    );
    for (const [i, one] of finished.entries()) {
      this.record(session, one, reply.answers[i]!.answer);
    }
    if (options.claim !== undefined) this.claimed(session, { max: options.claim }, reply.jobs);
    else this.model.renew(session, Date.now());
  }

  private record(session: Session, finished: Finished, answer: Answer["answer"]): void {
    const { model } = this;
    const { id, attempt } = finished;
    const job = model.find(id)!;
    const lease = session.leases.find((one) => one.id === id && one.attempt === attempt);
    session.leases = session.leases.filter((one) => one !== lease);
    if (lease === undefined || job.isDeleted) {
      const by = job.over.get(attempt);
      const about = { finished, answer, job };
      expect(answer !== "ok", "a stale word moves nothing", about);
      if (answer === "recorded") expect(by === session.session, "recorded is its own word", about);
      if (answer === "canceled") expect(job.status === "canceled", "canceled is canceled", about);
      return;
    }
    expect(answer === "ok", "a lease that stands may be reported", { finished, answer, job });
    // Put back, for the edge to take it out.
    session.leases.push(lease);
    this.end(session, job, finished);
  }

  private end(session: Session, job: Job, { outcome, continued = [] }: Finished): void {
    const { model } = this;
    const now = Date.now();
    const by = session.session;
    const isReplaced = job.cancelRequested && outcome.kind !== "succeeded";
    const isSame = !isReplaced || outcome.kind === "canceled";
    if (continued.length > 0 && isSame) {
      if (model.isDraining) return this.end(session, job, { ...job, outcome: REFUSED });
      const jobs = continued.flatMap((one) => one.jobs);
      for (const { payload, options = {} } of jobs) {
        this.awaited.push({ payload: payload as number, options });
      }
    }
    if (isReplaced) return model.stop(job, by);
    switch (outcome.kind) {
      case "succeeded":
        return model.succeed(job, by, now);
      case "failed":
        return model.fail(job, outcome, span(now), by);
      case "released":
        return model.release(job, by, now);
      case "snoozed":
        return model.snooze(job, by, now + outcome.runAfter);
      case "canceled":
        return model.stop(job, by);
    }
  }

  private async repeat(session: Session): Promise<void> {
    const call = this.calls.get(session);
    if (call === undefined) return;
    const { jobs, answers = [] } = await call.again();
    same(answers, call.answers);
    const standing = session.leases.filter(
      ({ n, id }) => n === session.n && !this.model.find(id)!.isDeleted,
    );
    const ids = (list: { id: string; attempt: number }[]) => list.map(leaseOf).sort(byId);
    same(ids(jobs), ids(standing));
  }

  private async stale(session: Session): Promise<void> {
    if (session.n < 2) return;
    const worker = this.workers.get(session)!;
    const { n } = worker;
    const { code } = await refusal(worker.claim(3, { n: session.n - 1 }));
    worker.n = n;
    expect(code === "staleCall", "a call that comes too late is refused", code);
  }

  /** `names`: as bits, which of its leases it speaks of. */
  private async beat(session: Session, names: number): Promise<void> {
    if (session.n === 0) return;
    const { model } = this;
    const now = Date.now();
    const named = session.leases.filter((_, i) => ((names >> (i % 4)) & 1) === 1);
    const foreign = model.there
      .filter(({ session: other }) => other !== session.session)
      .slice(0, 2);
    const leases = [...named, ...foreign];
    const answers = await this.workers.get(session)!.heartbeat(leases.map(leaseOf));
    same(answers, [
      ...named.map(({ isAsked }) => (isAsked ? "canceled" : "ok")),
      ...foreign.map(() => "leaseLost"),
    ]);
    if (named.some(({ n }) => n === session.n)) session.acknowledged = true;
    // What it was asked to end, and no longer speaks of, is renewed this once and then over.
    for (const lease of session.leases) {
      if (!lease.isAsked || named.includes(lease) || lease.n === session.n) continue;
      const until = now + lease.leaseMs + (model.config.graceMs ?? 0);
      lease.timeoutAt = Math.min(lease.timeoutAt ?? Infinity, until);
    }
    model.renew(session, now);
  }

  private async hasWork(wants: Omit<Wants, "max">): Promise<void> {
    const now = Date.now();
    const there = claimable(this.model, wants, now).length > 0;
    const has = await this.workers.get(this.current[0]!)!.hasWork(wants);
    expect(has === there, "who waits is told whether there is work", { wants, has, there });
  }

  // --- The end -----------------------------------------------------------------------------------------

  /** Lets everything come to rest. Returns what is seen then. */
  async rest(): Promise<Seen> {
    this.throws = 0;
    const last = this.begin("zoe");
    this.current.splice(0, Infinity, last);
    if (this.model.isDeclared) await this.step({ do: "resumeQueue" });
    for (const job of this.model.there) if (job.paused) await this.one("resumeJob", job);
    const wants = { max: 64, labels: ["a", "b"] };
    for (let turn = 0; turn < 3; turn += 1) {
      await this.step({ do: "claim", worker: 0, wants });
      const ends = last.leases.map((_, lease) => END(lease));
      if (ends.length > 0) {
        await this.step({ do: "complete", worker: 0, ends, deferCallbacks: false });
      }
      await this.step({ do: "pass", ms: 20_000 });
    }
    await this.step({ do: "many", action: "cancel", filter: {} });
    let seen: Seen | null = null;
    for (const ms of [10_000, 60_000, 120_000, 400_000]) {
      seen = await this.step({ do: "pass", ms });
    }
    return seen!;
  }
}

export const clock = { advance: (_ms: number): void => undefined };

const END = (lease: number) => ({ lease, kind: "succeeded" as const, ms: 0, continued: 0 });

const REFUSED: Outcome = { kind: "failed", error: "what it was to be continued with was refused" };

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

function outcomeOf(kind: Kind, ms: number): Outcome {
  switch (kind) {
    case "fatal":
      return { kind: "failed", error: "boom", retryable: false };
    case "after":
      return { kind: "failed", error: "boom", retryAfterMs: ms };
    case "failed":
      return { kind, error: "boom" };
    case "snoozed":
      return { kind, runAfter: ms };
    default:
      return { kind };
  }
}

function pick<T>(list: readonly T[], index: number): T;
function pick<T>(list: readonly T[], index: number): T | undefined {
  return list[index % list.length];
}

function byId(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : 1;
}

function same(got: unknown, wanted: unknown): void {
  const text = (value: unknown) => JSON.stringify(sorted(value));
  expect(text(got) === text(wanted), "the answer is the model's", { got, wanted });
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
