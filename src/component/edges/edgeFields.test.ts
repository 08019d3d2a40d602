/** The fields that an edge counts, keeps and clears in the job's row, and the job's place after it. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { bandsOf, FAILED_BY_MAX, ORDER_PAUSED, type QueueConfig } from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { EdgeCtx, PendingCallback } from "../rows/effects.js";
import { store } from "../rows/payloads.js";
import { queueOf, type Queue } from "../rows/queues.js";
import { newToldWorld, newWorld } from "../setup.test.js";
import * as transitions from "./transitions.js";

type Job = Doc<"jobs">;
type Fields = { [Field in keyof Omit<Job, "_id" | "_creationTime">]?: Job[Field] | undefined };

/** The job as it is after the edge, from a row with these fields. The transaction is rolled back. */
async function moved(
  edge: (ctx: EdgeCtx, job: Job, queue: Queue) => Promise<Job>,
  fields: Fields,
  config: Partial<QueueConfig> = {},
): Promise<Job> {
  const world = await newWorld(config);
  const id = await world.enqueue();
  const walked = world.step(async (ctx) => {
    const queue = queueOf((await ctx.db.query("queues").first())!);
    await ctx.db.patch("jobs", id, fields as Partial<Job>);
    await edge(ctx, (await ctx.db.get("jobs", id))!, queue);
    throw new Moved((await ctx.db.get("jobs", id))!);
  });
  const thrown: unknown = await walked.catch((error: unknown) => error);
  if (!(thrown instanceof Moved)) throw thrown;
  return thrown.job;
}

class Moved extends Error {
  constructor(readonly job: Job) {
    super("moved");
  }
}

const NOW = Date.UTC(2026, 0, 2);
const [BACK, NEW] = bandsOf(0);
const running = { status: "running", attempt: 2 } as const;
const due = { status: "scheduled", order: NOW } as const;

afterEach(() => void vi.restoreAllMocks());

describe("counts", () => {
  test.each([undefined, 2])("a release, a snooze and a reset count one more than %s", async (n) => {
    const expected = (n ?? 0) + 1;
    const release = await moved(
      (ctx, job, queue) => transitions.release(ctx, job, queue, { unacknowledged: true }),
      { ...running, releases: n, unacknowledged: n },
    );
    expect(release).toMatchObject({ releases: expected, unacknowledged: expected });
    const snooze = await moved((ctx, job) => transitions.snooze(ctx, job, NOW), {
      ...running,
      releases: n,
    });
    expect(snooze).toMatchObject({ releases: expected, order: NOW });
    const reset = await moved(transitions.reset, { ...running, resets: n });
    expect(reset).toMatchObject({ resets: expected });
  });

  test("a release of an attempt that its session knew counts nothing unacknowledged", async () => {
    const job = await moved(
      (ctx, one, queue) => transitions.release(ctx, one, queue, { unacknowledged: false }),
      { ...running, unacknowledged: 1 },
    );
    expect(job).toMatchObject({ releases: 1, unacknowledged: 1 });
  });

  test("a failure keeps the last workers that it failed at, each once, the latest last", async () => {
    const before = ["a", "b", "c", "d"];
    expect(before).toHaveLength(FAILED_BY_MAX);
    const fail = (worker: string | undefined, failedBy: string[] | undefined) =>
      moved((ctx, job, queue) => transitions.fail(ctx, job, queue, "boom"), {
        ...running,
        worker,
        failedBy,
      });
    expect((await fail("e", before)).failedBy).toEqual(["b", "c", "d", "e"]);
    expect((await fail("b", before)).failedBy).toEqual(["a", "c", "d", "b"]);
    expect((await fail("a", undefined)).failedBy).toEqual(["a"]);
    expect((await fail(undefined, ["a"])).failedBy).toEqual(["a"]);
    expect((await fail(undefined, undefined)).failedBy).toBeUndefined();
  });
});

describe("ends", () => {
  test("a job that runs out of time has the code that was given, or none", async () => {
    const end = (code?: "deadlineExceeded") =>
      moved(
        (ctx, job, queue) =>
          transitions.timeOut(ctx, job, queue, "late", code === undefined ? {} : { code }),
        running,
      );
    expect(await end("deadlineExceeded")).toMatchObject({
      code: "deadlineExceeded",
      error: "late",
    });
    expect(await end()).not.toHaveProperty("code");
  });

  test("a job that runs out of time has failed once more only where it is said to have", async () => {
    const outOfTime = (options?: { failed: boolean }) =>
      moved((ctx, job, queue) => transitions.timeOut(ctx, job, queue, "late", options), {
        ...running,
        worker: "a",
        failures: 1,
      });
    expect(await outOfTime()).toMatchObject({ failures: 1, error: "late" });
    expect((await outOfTime()).failedBy).toBeUndefined();
    const failed = { failures: 2, failedBy: ["a"], error: "late" };
    expect(await outOfTime({ failed: true })).toMatchObject(failed);
  });

  test("a cancel keeps its reason, and one without a reason has none", async () => {
    const cancel = (reason?: string) =>
      moved((ctx, job, queue) => transitions.cancel(ctx, job, queue, reason), {});
    expect(await cancel("no longer needed")).toMatchObject({ cancelReason: "no longer needed" });
    expect(await cancel()).not.toHaveProperty("cancelReason");
  });

  test("a retry keeps the deadline that the row has, or takes the one that it is given", async () => {
    const before = { ms: 1_000, at: NOW };
    const retry = (deadline?: Job["deadline"]) =>
      moved(
        (ctx, job, queue) =>
          transitions.retry(ctx, job, queue, {
            keepResult: false,
            ...(deadline === undefined ? {} : { deadline }),
          }),
        { status: "failed", failures: 3, failedBy: ["a"], deadline: before, finishedAt: NOW },
      );
    expect(await retry()).toMatchObject({ deadline: before, retried: true });
    expect(await retry({ ...before, at: NOW + 5 })).toMatchObject({ deadline: { at: NOW + 5 } });
    expect(await retry()).not.toHaveProperty("failures");
  });

  test.each([
    ["replaces the result that lies apart", false, 0],
    ["keeps it where a callback still needs it", true, 1],
  ] as const)("a round %s", async (_, isOwed, left) => {
    let results: number | undefined;
    const edge = async (ctx: EdgeCtx, job: Job, queue: Queue) => {
      const row = await ctx.db.insert("payloads", { value: "large" });
      const result = { row, bytes: 5 };
      const outcome = { status: "succeeded" as const, result };
      const owed = { job: job._id, handle: "", attempt: 1, outcome, tries: 0, dueAt: NOW };
      if (isOwed) await ctx.db.insert("callbacks", { ...owed, state: "owed" });
      const round = { result: { inline: 1 } };
      await transitions.comeRound(ctx, { ...job, result }, queue, round);
      results = (await ctx.db.query("payloads").collect()).filter(({ _id }) => _id === row).length;
      return job;
    };
    await moved(edge, running, { circular: true });
    expect(results).toBe(left);
  });
});

describe("places", () => {
  test.each([
    ["a job that has begun goes before new ones", { attempt: 1 }, {}, BACK],
    ["a job that has not begun goes among new ones", { attempt: 0 }, {}, NEW],
    [
      "an item of a ring that has rested goes behind",
      { attempt: 1, rounds: 1 },
      { circular: true },
      NEW,
    ],
    [
      "an item of a ring whose attempt is made again goes first",
      { attempt: 1, rounds: 1, failures: 1 },
      { circular: true, retry: retryOf(2) },
      BACK,
    ],
    [
      "an item of a ring whose only attempt has failed has had its turn",
      { attempt: 1, rounds: 1, failures: 1 },
      { circular: true, retry: retryOf(1) },
      NEW,
    ],
    ["an item of a ring without a turn goes first", { attempt: 0 }, { circular: true }, BACK],
  ] as const)("that falls due: %s", async (_, fields, config, order) => {
    const job = await moved(transitions.promote, { ...due, ...fields }, config);
    expect(job).toMatchObject({ status: "pending", order });
  });

  test.each([
    ["a job that has begun goes before new ones", { attempt: 1 }, {}, BACK],
    ["a job that has not begun goes among new ones", { attempt: 0 }, {}, NEW],
    ["an item of a ring goes behind", { attempt: 1, rounds: 1 }, { circular: true }, NEW],
  ] as const)("that is resumed: %s", async (_, fields, config, order) => {
    const paused = { paused: true, order: ORDER_PAUSED };
    const job = await moved(transitions.resume, { ...paused, ...fields }, config);
    expect(job).toMatchObject({ status: "pending", order });
    expect(job).not.toHaveProperty("paused");
  });

  test("a paused job that falls due stays out of the range that claims read", async () => {
    const job = await moved(transitions.promote, { ...due, paused: true });
    expect(job).toMatchObject({ status: "pending", order: ORDER_PAUSED, shard: 0, paused: true });
  });

  test("a job goes to the band of its priority, and to any shard of its queue", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0.99);
    const job = await moved(transitions.promote, { ...due, priority: 3 }, { shards: 8 });
    expect(job).toMatchObject({ order: bandsOf(3)[1], shard: 7 });
  });
});

function retryOf(maxAttempts: number): NonNullable<QueueConfig["retry"]> {
  return { maxAttempts, initialBackoffMs: 1_000, base: 2, maxBackoffMs: 60_000 };
}

describe("the end of an attempt", () => {
  test.each(["a", undefined])("of a ring's item tells the app its worker: %s", async (worker) => {
    const world = await newToldWorld({ circular: true });
    const id = await world.enqueue();
    const round = world.step(async (ctx) => {
      const queue = queueOf((await ctx.db.query("queues").first())!);
      await ctx.db.patch("jobs", id, { ...running, ...(worker === undefined ? {} : { worker }) });
      await transitions.comeRound(ctx, (await ctx.db.get("jobs", id))!, queue, { error: "x" });
      throw new Told(ctx.effects.callbacks);
    });
    const thrown: unknown = await round.catch((error: unknown) => error);
    if (!(thrown instanceof Told)) throw thrown;
    const [told] = thrown.callbacks;
    expect([told!.worker, "worker" in told!]).toEqual([worker, worker !== undefined]);
  });

  test.each([true, false])(
    "leaves the result before this one to a callback that is owed it: %s",
    async (isOwed) => {
      const world = await newWorld();
      const id = await world.enqueue();
      await world.step(async (ctx) => {
        const queue = queueOf((await ctx.db.query("queues").first())!);
        const result = await store(ctx.db, "x".repeat(600));
        await ctx.db.patch("jobs", id, { ...running, result });
        const call = { job: id, handle: "app:done", attempt: 1, tries: 0, dueAt: Infinity };
        const outcome = { status: "succeeded" as const, result };
        if (isOwed) await ctx.db.insert("callbacks", { ...call, outcome, state: "owed" });
        await transitions.succeed(ctx, (await ctx.db.get("jobs", id))!, queue, "new");
      });
      expect(await world.all("payloads")).toHaveLength(isOwed ? 1 : 0);
      const [job] = await world.all("jobs");
      expect(job).toMatchObject({ status: "succeeded", result: { inline: "new" } });
      // Nothing else is to deliver it.
      await world.t.run(async ({ db }) => {
        for (const { _id } of await db.query("callbacks").collect())
          await db.delete("callbacks", _id);
      });
    },
  );
});

class Told extends Error {
  constructor(readonly callbacks: readonly PendingCallback[]) {
    super("told");
  }
}
