/**
 * The world in which the component's tests live: the component on the official mock, a clock that only tests move, an
 * app with an `onComplete` that tests can replace, workers, and the invariants that hold after every test.
 */
import { convexTest, type TestConvex } from "convex-test";
import {
  createFunctionHandle,
  defineSchema,
  defineTable,
  internalMutationGeneric,
  makeFunctionReference,
} from "convex/server";
import { v, type Value } from "convex/values";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  bandsOf,
  isFinished,
  ORDER_PAUSED,
  vOnCompleteArgs,
  type ClaimedJob,
  type Conditions,
  type Enqueued,
  type Finished,
  type JobOptions,
  type JobStatus,
  type NewJob,
  type OnCompleteArgs,
  type PeekedJob,
  type ProgressUpdate,
  type QueueConfig,
  type QueueDeclaration,
  type ReportAnswer,
  type Waiting,
} from "../shared/index.js";
import { api, internal } from "./_generated/api.js";
import type { Doc, Id } from "./_generated/dataModel.js";
import type { Report } from "./attempts/report.js";
import type { MutationCtx } from "./_generated/server.js";
import { refuseWritesBesideNested } from "./besideNested.test.js";
import { declaring } from "./declaring.test.js";
import { withEffects } from "./edges/applyEffects.js";
import type { EdgeCtx } from "./rows/effects.js";
import componentSchema from "./schema.js";

/** The app lives in the component's own tables here, so that tests can read all of them; it adds one. */
const schema = defineSchema({
  ...componentSchema.tables,
  told: defineTable({ id: v.string(), status: v.string(), attempt: v.number(), error: v.any() }),
});

const modules = {
  ...import.meta.glob(["./**/*.ts", "!./**/*.test.ts"]),
  "./app.ts": async () => ({ done, refused }),
};

/** Whole seconds, so that times in failures can be read. */
export const T0 = Date.UTC(2026, 0, 1);

// --- The app ------------------------------------------------------------------------------------

/** The work of the app's `onComplete`, besides recording its arguments. */
export const app: { onComplete: (ctx: any, args: OnCompleteArgs) => Promise<void> | void } = {
  onComplete: () => undefined,
};

async function write(ctx: any, { id, outcome, attempt }: OnCompleteArgs): Promise<void> {
  const error = outcome.status === "succeeded" ? null : outcome.error;
  await ctx.db.insert("told", { id, status: outcome.status, attempt, error });
}

const done = internalMutationGeneric({
  args: vOnCompleteArgs,
  returns: v.null(),
  handler: async (ctx, args) => {
    await write(ctx, args);
    await app.onComplete(ctx, args);
    return null;
  },
});

/** Writes, and then returns a value that its own validator refuses. */
const refused = internalMutationGeneric({
  args: vOnCompleteArgs,
  returns: v.null(),
  handler: async (ctx, args) => {
    await write(ctx, args);
    return 5 as unknown as null;
  },
});

let current: World | null = null;

beforeEach(() => {
  vi.useFakeTimers({ now: T0 });
  app.onComplete = () => undefined;
});

afterEach(async () => {
  await current?.checkInvariants();
  // A call that is under way would go on in the next file of its thread.
  await current?.t.finishInProgressScheduledFunctions();
  current = null;
  vi.useRealTimers();
  vi.restoreAllMocks();
});

export async function newWorld(config: Partial<QueueConfig> = {}): Promise<World> {
  const t = declaring(convexTest(schema, modules));
  refuseWritesBesideNested();
  const { token } = await t.mutation(api.operate.createToken, { name: "test token", queues: null });
  current = new World(t, token, {
    name: "tiles",
    config: { leaseMs: 10_000, maxResets: 1, shards: 1, ...config },
  });
  return current;
}

/** A world with a queue that calls the app's `done` (or `refused`). */
export async function newToldWorld(
  config: Partial<QueueConfig> = {},
  callback: "done" | "refused" = "done",
): Promise<World> {
  const world = await newWorld(config);
  const reference = makeFunctionReference<"mutation">(`app:${callback}`);
  const onComplete: string = await world.t.run(() => createFunctionHandle(reference as never));
  world.queue.config = { ...world.queue.config, onComplete };
  return world;
}

export class World {
  constructor(
    readonly t: TestConvex<typeof schema>,
    readonly token: string,
    readonly queue: QueueDeclaration,
  ) {}

  async enqueue(payload: Value = {}, options: JobOptions = {}): Promise<Id<"jobs">> {
    const [one] = await this.enqueueJobs([{ payload, options }]);
    return one!.id as Id<"jobs">;
  }

  async enqueueBatch(payloads: Value[], options: JobOptions = {}): Promise<Id<"jobs">[]> {
    const enqueued = await this.enqueueJobs(payloads.map((payload) => ({ payload, options })));
    return enqueued.map(({ id }) => id as Id<"jobs">);
  }

  async enqueueJobs(jobs: NewJob[]): Promise<Enqueued[]> {
    return await this.t.mutation(api.lib.enqueue, { queue: this.queue, jobs });
  }

  async cancel(id: string, reason?: string) {
    const args = { id, ...(reason === undefined ? {} : { reason }) };
    return await this.t.mutation(api.operate.cancelJob, args);
  }

  worker(name: string): Worker {
    return new Worker(this, name, `session-${name}`);
  }

  async job(id: string): Promise<Doc<"jobs">> {
    const row = (await this.t.run((ctx) => ctx.db.get("jobs", id as Id<"jobs">)))!;
    // Counts that are 0 have no field.
    return { ...{ failures: 0, resets: 0, releases: 0 }, ...row };
  }

  async status(id: string): Promise<JobStatus | null> {
    return await this.t.query(api.lib.status, { id });
  }

  /** The statistics by minute. */
  async minutes() {
    return (await this.all("periods")).filter(({ per }) => per === "minute");
  }

  async all<Table extends keyof typeof schema.tables>(table: Table) {
    return await this.t.run((ctx) => ctx.db.query(table).collect());
  }

  /** A step that moves jobs by edges, with their effects. */
  async step<Result>(
    run: (ctx: EdgeCtx) => Promise<Result>,
    step: Parameters<typeof withEffects>[1] = {},
  ): Promise<Result> {
    return await this.t.run((ctx) => withEffects(ctx as unknown as MutationCtx, step, run));
  }

  /** Moves the clock, and lets everything that falls due run at its time. */
  async advance(ms: number): Promise<void> {
    let isOver = ms <= 0;
    setTimeout(() => (isOver = true), ms);
    await this.settle();
    while (!isOver) {
      vi.advanceTimersToNextTimer();
      await this.settle();
    }
  }

  /** Moves the clock to that time at once: functions that fall due on the way run then. */
  async skipTo(time: number): Promise<void> {
    vi.advanceTimersByTime(Math.max(0, time - Date.now()));
    await this.settle();
  }

  /** Runs due functions, and functions that they schedule for now. */
  async settle(): Promise<void> {
    for (let i = 0; i < 4; i += 1) {
      vi.advanceTimersByTime(0);
      await this.t.finishInProgressScheduledFunctions();
    }
  }

  /** As where the scheduler has a backlog, or has lost them: no alarm that is armed rings. */
  async stopAlarms(): Promise<void> {
    await this.t.run(async (ctx) => {
      for (const { scheduledId } of await ctx.db.query("timers").collect())
        if (scheduledId !== undefined) await ctx.scheduler.cancel(scheduledId);
    });
  }

  /** The janitor's next sweep, as if its time had come. */
  async sweep(): Promise<void> {
    const [timer] = await this.all("timers");
    const { _id, generation = 0 } = timer!;
    await this.t.mutation(internal.tend.janitor.sweep, { timer: _id, generation });
  }

  /** Invariants that hold whenever no transaction runs. */
  async checkInvariants(): Promise<void> {
    const sessions = await this.all("sessions");
    const leased = new Map<string, number>();
    for (const session of sessions) {
      expect(session.state === "active").toBe(session.leases.length > 0);
      for (const lease of session.leases) {
        expect(leased.has(lease.id), "a job is leased once").toBe(false);
        leased.set(lease.id, lease.attempt);
      }
    }
    for (const job of await this.all("jobs")) {
      const { status, order, shard, attempt } = job;
      expect(leased.get(job._id), `a ${status} job is leased iff it runs`).toBe(
        status === "running" ? attempt : undefined,
      );
      expect(typeof job.seq).toBe("bigint");
      expect(Object.is(order, Math.abs(order)), "order is never -0").toBe(true);
      const bands = job.paused === true ? [ORDER_PAUSED] : bandsOf(job.priority ?? 0);
      if (status === "pending") expect(bands).toContain(order);
      else if (status === "scheduled") expect({ order, shard }).toEqual({ order, shard: 0 });
      else expect({ order, shard }).toEqual({ order: 0, shard: 0 });
    }
    await this.checkKeys();
    if (leased.size > 0) expect(await this.all("timers")).not.toEqual([]);
  }

  /** A key that is taken for as long as its job is active has a row exactly as long. */
  private async checkKeys(): Promise<void> {
    const rows = (await this.all("keys")).filter((row) => row.until === undefined);
    const active = (await this.all("jobs")).filter(
      (job) => job.key !== undefined && job.keyUntil === undefined && !isFinished(job.status),
    );
    expect(rows.map((row) => `${row.key} ${row.job}`).sort()).toEqual(
      active.map((job) => `${job.key} ${job._id}`).sort(),
    );
  }
}

/** A worker's session: it counts its calls, and keeps the last cursor. */
export class Worker {
  n = 0;
  cursor: string | undefined;
  /** What its last answer said. */
  isLate = false;

  constructor(
    readonly world: World,
    readonly name: string,
    readonly sessionKey: string,
    readonly token = world.token,
  ) {}

  async claim(
    max = 1,
    { n: number, ...conditions }: { n?: number } & Conditions = {},
  ): Promise<ClaimedJob[]> {
    this.n = number ?? this.n + 1;
    const { sessionKey, token, n, name } = this;
    const claimed = await this.world.t.mutation(api.lib.claim, {
      ...{ token, sessionKey, callSeq: n, name },
      ...this.request(max),
      ...conditions,
    });
    this.cursor = claimed.cursor;
    this.isLate = claimed.isLate === true;
    return claimed.jobs;
  }

  async complete(
    finished: Finished[],
    options: { n?: number; claim?: number; deferCallbacks?: boolean } = {},
  ) {
    this.n = options.n ?? this.n + 1;
    const { sessionKey, token, n } = this;
    const reply = await this.world.t.mutation(api.lib.complete, {
      ...{ token, sessionKey, callSeq: n, finished },
      ...(options.claim === undefined ? {} : { claim: this.request(options.claim) }),
      ...(options.deferCallbacks === undefined ? {} : { deferCallbacks: options.deferCallbacks }),
    });
    this.cursor = reply.cursor ?? this.cursor;
    return { ...reply, words: reply.answers.map((answer) => answer.answer) };
  }

  async heartbeat(leases: { id: string; attempt: number }[]): Promise<string[]> {
    const args = { token: this.token, sessionKey: this.sessionKey, leases: leases.map(leaseOf) };
    const { answers, isLate } = await this.world.t.mutation(api.lib.heartbeat, args);
    this.isLate = isLate === true;
    return answers.map((answer) => answer.answer);
  }

  /** As a worker does whose last answer said that work is late. */
  async tend(): Promise<void> {
    const queues = [this.world.queue.name];
    while (this.isLate)
      this.isLate = (await this.world.t.mutation(api.lib.tend, { queues })).isLate;
  }

  async progress(updates: ProgressUpdate[]): Promise<string[]> {
    return (await this.report({ updates })).map((answer) => answer.answer);
  }

  async report(said: Report): Promise<ReportAnswer[]> {
    const args = { token: this.token, sessionKey: this.sessionKey, ...said };
    return (await this.world.t.mutation(api.lib.report, args)).answers;
  }

  /** As this worker asks, from its last cursor on if it says so. */
  async hasWork(
    conditions: Conditions & { worker?: string } = {},
    { on = false } = {},
  ): Promise<boolean> {
    const cursor = on && this.cursor !== undefined ? { cursor: this.cursor } : {};
    const args = { token: this.token, queues: [this.world.queue.name], ...conditions, ...cursor };
    return (await this.world.t.query(api.lib.hasWork, args)) as boolean;
  }

  /** As a worker asks that wants to know which jobs wait. */
  async waiting(conditions: Conditions = {}): Promise<Waiting> {
    const args = { token: this.token, queues: [this.world.queue.name], ...conditions };
    return (await this.world.t.query(api.lib.hasWork, { ...args, naming: true })) as Waiting;
  }

  async peek(options: Conditions & { limit?: number; worker?: string } = {}): Promise<PeekedJob[]> {
    const args = { token: this.token, queues: [this.world.queue.name], ...options };
    return await this.world.t.query(api.lib.peek, args);
  }

  async session(): Promise<Doc<"sessions">> {
    const sessions = await this.world.all("sessions");
    return sessions.find((session) => session.sessionKey === this.sessionKey)!;
  }

  private request(max: number) {
    const cursor = this.cursor === undefined ? {} : { cursor: this.cursor };
    return { queues: [this.world.queue], max, ...cursor };
  }
}

export function leaseOf({ id, attempt }: { id: string; attempt: number }) {
  return { id, attempt };
}

export function succeeded(job: { id: string; attempt: number }, result?: Value): Finished {
  const outcome = { kind: "succeeded" as const, ...(result === undefined ? {} : { result }) };
  return { ...leaseOf(job), outcome };
}

export function failed(job: { id: string; attempt: number }, error = "boom"): Finished {
  return { ...leaseOf(job), outcome: { kind: "failed", error } };
}

export function released(job: { id: string; attempt: number }): Finished {
  return { ...leaseOf(job), outcome: { kind: "released" } };
}

/** The code of the Conveyor error that a call is refused with, and its message. */
export async function refusal(call: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error: any = await call.then(
    () => {
      throw new Error("The call was not refused.");
    },
    (thrown: unknown) => thrown,
  );
  if (typeof error.data?.code !== "string") throw error;
  return error.data;
}

test("an empty world has no jobs, no sessions and no timer", async () => {
  const world = await newWorld();
  expect(await world.all("jobs")).toEqual([]);
  expect(await world.all("sessions")).toEqual([]);
  expect(await world.all("timers")).toEqual([]);
});
