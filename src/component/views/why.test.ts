import { describe, expect, test, vi } from "vitest";
import type { Reason } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { failed, newWorld, succeeded, T0, type World } from "../setup.test.js";

async function reasons(world: World, id: string): Promise<Reason[]> {
  return (await world.t.query(api.observe.why, { id }))!.reasons;
}

const kinds = async (world: World, id: string) =>
  (await reasons(world, id)).map(({ kind }) => kind);

/** A session that has come by and found nothing: alive, and idle. */
async function idle(world: World, name: string, conditions = {}) {
  const worker = world.worker(name);
  await worker.claim(1, conditions);
  expect((await worker.session()).leases).toEqual([]);
  return worker;
}

describe("a job that has begun", () => {
  test("runs, and may have been asked to end, or be paused when it comes back", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    await world.worker("gpu-1").claim();
    const [runs] = await reasons(world, id);
    expect(runs).toMatchObject({
      kind: "running",
      text: "gpu-1 has run it since 2026-01-01 00:00:00 UTC, attempt 1.",
    });
    await world.t.mutation(api.operate.pauseJob, { id });
    await world.cancel(id);
    expect(await reasons(world, id)).toMatchObject([
      { kind: "cancelRequested", text: expect.stringContaining("gpu-1 has not ended it yet") },
      {
        kind: "running",
        text: expect.stringContaining("It is paused when it returns to the queue."),
      },
    ]);
  });

  test("has ended, and how", async () => {
    const world = await newWorld();
    const worker = world.worker("w");
    const ids = await world.enqueueBatch([1, 2, 3]);
    const [a, b] = await worker.claim(2);
    await worker.complete([succeeded(a!), failed(b!, "boom")]);
    await world.cancel(ids[2]!, "not needed");
    const told = await Promise.all(ids.map((id) => reasons(world, id)));
    expect(told.flat().map(({ text }) => text)).toEqual([
      "It succeeded at 2026-01-01 00:00:00 UTC.",
      "It failed at 2026-01-01 00:00:00 UTC: boom",
      "It was canceled at 2026-01-01 00:00:00 UTC: not needed",
    ]);
    expect(await world.t.query(api.observe.why, { id: ids[0]!, queue: "other" })).toBeNull();
    expect(await world.t.query(api.observe.why, { id: "nonsense" })).toBeNull();
  });
});

describe("a job that is due later", () => {
  test("was given a time, or its worker gave it back until then", async () => {
    const world = await newWorld();
    const id = await world.enqueue({}, { runAfter: 60_000 });
    expect(await reasons(world, id)).toMatchObject([
      { kind: "scheduled", text: "It is due at 2026-01-01 00:01:00 UTC.", until: T0 + 60_000 },
    ]);
    const other = await world.enqueue();
    const worker = world.worker("w");
    const [job] = await worker.claim();
    const outcome = { kind: "snoozed" as const, runAfter: 5_000 };
    await worker.complete([{ id: other, attempt: job!.attempt, outcome }]);
    expect(await reasons(world, other)).toMatchObject([
      { kind: "scheduled", text: "Its worker snoozed it until 2026-01-01 00:00:05 UTC." },
    ]);
  });

  test("backs off, after so many failures of so many", async () => {
    const retry = { maxAttempts: 3, initialBackoffMs: 60_000, base: 1, maxBackoffMs: 60_000 };
    const world = await newWorld({ retry, logLevel: "error" });
    const id = await world.enqueue();
    const worker = world.worker("w");
    const [job] = await worker.claim();
    await worker.complete([failed(job!, "no route to host")]);
    const { order } = await world.job(id);
    const [reason] = await reasons(world, id);
    expect(reason).toMatchObject({ kind: "backingOff", until: order });
    expect(reason!.text).toMatch(
      /^It failed once of up to 3 attempts, .* Last error: no route to host$/,
    );
  });

  test("rests between two rounds of a circular queue", async () => {
    const world = await newWorld({ circular: true, restMs: 30_000 });
    const id = await world.enqueue();
    const worker = world.worker("w");
    const [job] = await worker.claim();
    await worker.complete([succeeded(job!)]);
    expect(await reasons(world, id)).toMatchObject([
      { kind: "scheduled", text: "It rests between two rounds until 2026-01-01 00:00:30 UTC." },
    ]);
  });

  test("is paused besides, or its queue is", async () => {
    const world = await newWorld();
    const id = await world.enqueue({}, { runAfter: 60_000 });
    await world.t.mutation(api.operate.pauseJob, { id });
    await world.t.mutation(api.operate.pauseQueue, { queue: "tiles" });
    expect(await kinds(world, id)).toEqual(["scheduled", "paused", "queuePaused"]);
  });

  test("is stuck when it was due long ago and has not been made claimable", async () => {
    const world = await newWorld();
    const id = await world.enqueue({}, { runAfter: 1_000 });
    // No scheduled function runs.
    vi.setSystemTime(T0 + 60_000);
    expect(await kinds(world, id)).toEqual(["stuck"]);
  });
});

describe("a job that waits", () => {
  test("is paused, or its queue is, since when", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    await idle(world, "w", { groups: ["nobody's"] });
    await world.t.mutation(api.operate.pauseQueue, { queue: "tiles" });
    expect(await reasons(world, id)).toMatchObject([
      {
        kind: "queuePaused",
        text: 'The queue "tiles" has been paused since 2026-01-01 00:00:00 UTC: its jobs cannot be claimed.',
        remedy: "Resume the queue.",
      },
      { kind: "noWorkerWithLabels" },
    ]);
    await world.t.mutation(api.operate.pauseJob, { id });
    expect(await kinds(world, id)).toEqual(["paused", "queuePaused"]);
  });

  test("has expired, and will be ended", async () => {
    const world = await newWorld();
    const id = await world.enqueue({}, { expiresAfterMs: 1_000 });
    vi.setSystemTime(T0 + 1_500);
    expect(await reasons(world, id)).toMatchObject([
      { kind: "expired", text: expect.stringContaining("by 2026-01-01 00:00:01 UTC") },
    ]);
  });

  // Shows K17.
  test("finds no worker alive: none ever, none of its queue, none for a minute and a half", async () => {
    const world = await newWorld();
    const id = await world.enqueue({}, { labels: ["gpu"] });
    expect(await kinds(world, id)).toEqual(["noWorker", "next"]);
    world.queue.name = "others";
    await idle(world, "elsewhere", { labels: ["gpu"] });
    world.queue.name = "tiles";
    expect(await kinds(world, id)).toEqual(["noWorker", "next"]);
    await idle(world, "plain");
    expect(await reasons(world, id)).toMatchObject([
      {
        kind: "noWorkerWithLabels",
        text: '1 worker that serves "tiles" is alive, none of which may take it: it needs 1 label (gpu).',
      },
      { kind: "next" },
    ]);
    vi.setSystemTime(T0 + 101_000);
    expect(await kinds(world, id)).toEqual(["noWorker", "next"]);
  });

  test("finds only workers that are quiet or about to stop: they are alive, and given no job", async () => {
    const world = await newWorld();
    const worker = await idle(world, "w");
    const id = await world.enqueue();
    const [shown] = await world.t.query(api.lib.workers, {});
    await world.t.mutation(api.operate.quietWorker, { id: shown!.id });
    expect((await reasons(world, id))[0]).toMatchObject({
      kind: "noWorker",
      text: '1 worker that serves "tiles" is alive, and given no job: quiet or about to stop.',
      remedy: expect.stringContaining("resume a quiet one"),
    });
    const { _id } = await worker.session();
    await world.t.run((ctx) =>
      ctx.db.patch("sessions", _id, { isQuiet: undefined, mode: "draining" }),
    );
    expect((await reasons(world, id))[0]!.text).toContain("is alive, and given no job");
  });

  test("finds workers that may not take it: by labels, group and budget, as their last claims said", async () => {
    const world = await newWorld();
    const one = (options: object) => world.enqueue({}, options);
    const gpu = await one({ labels: ["gpu"], cost: 8 });
    const ofA = await one({ group: "a", labels: ["none"] });
    const first = await idle(world, "w", { labels: ["ssd"], maxCost: 4, groups: ["b"] });
    expect((await first.session()).labels).toEqual(["ssd"]);
    const told = async (id: string) => (await reasons(world, id))[0]!;
    expect((await told(gpu)).text).toMatch(/it needs 1 label \(gpu\) and a budget of 8\.$/);
    expect((await told(ofA)).text).toMatch(/it needs 1 label \(none\) and the group a\.$/);
    await first.claim(1, { labels: ["gpu", "none"], maxCost: 4 });
    // It has taken the other one, and so is at work.
    expect((await world.job(ofA)).status).toBe("running");
    expect(await kinds(world, gpu)).toEqual(["atCapacity", "next"]);
    await first.complete([succeeded({ id: ofA, attempt: 1 })], { claim: 1 });
    // A worker offers the labels of its last claim, and that one named none.
    expect(await first.session()).not.toHaveProperty("labels");
    expect((await told(gpu)).kind).toBe("noWorkerWithLabels");
    await first.claim(1, { labels: ["gpu"], maxCost: 7 });
    expect((await told(gpu)).kind).toBe("noWorkerWithLabels");
    expect((await world.job(gpu)).status).toBe("pending");
  });

  test("finds all workers that could take it busy, and counts the jobs ahead of it", async () => {
    const world = await newWorld();
    const ids = await world.enqueueBatch(Array.from({ length: 8 }, (_, n) => n));
    await world.worker("a").claim(2);
    await world.worker("b").claim(1);
    expect(await reasons(world, ids[7]!)).toMatchObject([
      {
        kind: "atCapacity",
        text: "All 2 workers that could take it (b, a) hold 3 jobs: only the workers know their free slots.",
      },
      { kind: "behind", text: "4 jobs are ahead of it." },
    ]);
    expect(await kinds(world, ids[3]!)).toEqual(["atCapacity", "next"]);
  });

  test("is next, or stuck when for a minute no eligible worker has taken it", async () => {
    const world = await newWorld();
    const id = await world.enqueue({}, { labels: ["gpu"] });
    const worker = await idle(world, "w");
    const { _id } = await worker.session();
    // As if it had claimed with that label, and been given nothing.
    await world.t.run((ctx) => ctx.db.patch("sessions", _id, { labels: ["gpu"] }));
    expect(await kinds(world, id)).toEqual(["next"]);
    await world.t.mutation(api.operate.drainQueue, { queue: "tiles" });
    expect((await reasons(world, id))[0]!.text).toContain("its backlog still runs");
    vi.setSystemTime(T0 + 61_000);
    expect(await reasons(world, id)).toMatchObject([
      { kind: "stuck", text: expect.stringContaining("since 2026-01-01 00:00:00 UTC") },
    ]);
  });
});

const HANDLER = { handle: "function://;app:work", kind: "action", takes: "payload" } as const;

test("where more jobs run inside Convex than are read, a job that waits is not said to be stuck", async () => {
  const world = await newWorld({ push: true, maxParallelism: 400, handler: HANDLER });
  const id = await world.enqueue();
  const job = await world.job(id);
  await world.t.run(async (ctx) => {
    const { _id, _creationTime, wake: _wake, ...fields } = job;
    const running = { status: "running" as const, order: 0, shard: 0, startedAt: T0, attempt: 1 };
    for (let n = 0; n < 400; n += 1) {
      const seq = ctx.db.vars.commitTs;
      await ctx.db.insert("jobs", { ...fields, ...running, seq, worker: "tiles#1" });
    }
  });
  vi.setSystemTime(T0 + 5 * 60_000);
  expect(await kinds(world, id)).toEqual(["next"]);
  await world.t.run(async (ctx) => {
    for (const { _id, status } of await ctx.db.query("jobs").collect())
      if (status === "running") await ctx.db.delete("jobs", _id);
  });
});

test("where the rows of workers are too large to be read, none is said to be missing", async () => {
  const world = await newWorld();
  const worker = await idle(world, "a");
  const { _id, _creationTime, ...row } = await worker.session();
  const id = await world.enqueue();
  await world.t.run(async (ctx) => {
    for (let n = 0; n < 90; n += 1) {
      const other = {
        ...row,
        sessionKey: `other-${n}`,
        queues: ["other"],
        expiresAt: row.expiresAt + 1,
      };
      await ctx.db.insert("sessions", {
        ...other,
        reply: { answers: [], cursor: "c".repeat(27_000) },
      });
    }
  });
  expect(await kinds(world, id)).toEqual(["next"]);
});
