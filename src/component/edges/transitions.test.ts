import { describe, expect, test } from "vitest";
import {
  EDGES,
  isFinished,
  mayMove,
  STATUSES,
  type Edge,
  type Status,
} from "../../shared/index.js";
import { api } from "../_generated/api.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import type { MutationCtx } from "../_generated/server.js";
import type { EdgeCtx, Effects } from "../rows/effects.js";
import { queueOf, type Queue } from "../rows/queues.js";
import {
  failed,
  newToldWorld,
  newWorld,
  released,
  succeeded,
  T0,
  type World,
} from "../setup.test.js";
import * as transitions from "./transitions.js";

describe("a job's life, by the calls that move it", () => {
  // Shows LF-03.
  test("enqueue → pending, of attempt 0", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    expect(await world.status(id)).toMatchObject({ status: "pending", attempt: 0, failures: 0 });
  });

  // Shows LF-03, DE-05.
  test("pending → running, with one more attempt, its worker and its start", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    await world.advance(1_000);
    const [job] = await world.worker("a").claim();
    expect(job).toMatchObject({ id, attempt: 1, queue: "tiles", leaseMs: 10_000 });
    expect(await world.status(id)).toMatchObject({
      ...{ status: "running", worker: "a", enqueuedAt: T0, startedAt: T0 + 1_000 },
    });
  });

  // Shows LF-03, DE-25, SG-15.
  test("running → succeeded, with the result", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await world.advance(1_000);
    await worker.complete([succeeded(job!, { sum: 3 })]);
    const times = { enqueuedAt: T0, startedAt: T0, finishedAt: T0 + 1_000 };
    expect(await world.status(id)).toMatchObject({
      ...{ status: "succeeded", result: { sum: 3 }, ...times },
    });
  });

  // Shows LF-03, SG-14, SG-17.
  test("running → failed, with the error and one more failure", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.complete([failed(job!, "no such file")]);
    expect(await world.status(id)).toMatchObject({
      status: "failed",
      error: "no such file",
      failures: 1,
    });
  });

  test("running → pending by release: its attempt is kept, so that the next is another", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.complete([released(job!)]);
    expect(await world.job(id)).toMatchObject({ status: "pending", attempt: 1, releases: 1 });
    expect((await worker.claim())[0]).toMatchObject({ id, attempt: 2 });
  });

  // Shows SG-17, E11.
  test("running → pending by reset, then → timedOut once no reset is left", async () => {
    const world = await newWorld({ maxResets: 1 });
    const id = await world.enqueue();
    for (const resets of [1, 1]) {
      const worker = world.worker(`w${resets}-${Date.now()}`);
      const [job] = await worker.claim();
      await worker.heartbeat([job!]);
      await world.advance(10_500);
      expect(await world.job(id)).toMatchObject({ resets });
    }
    expect(await world.status(id)).toMatchObject({ status: "timedOut", attempt: 2 });
  });

  // Shows LF-03, DE-14.
  test("pending → canceled, and a canceled job is not claimed", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    const canceled = await world.t.mutation(api.operate.cancelJob, { id });
    expect(canceled).toEqual({ canceled: true, requested: false, status: "canceled" });
    expect(await world.worker("a").claim()).toEqual([]);
  });
});

describe("edges that a status does not have", () => {
  const edges = Object.keys(EDGES) as Edge[];

  // Shows DE-16, WP-08.
  test.each(edges.flatMap((edge) => STATUSES.map((status) => [edge, status] as const)))(
    "%s leaves a %s job as the state machine says",
    async (edge, status) => {
      const world = await newWorld();
      const id = await world.enqueue();
      const walked = world.step(async (ctx) => {
        const queue = queueOf((await ctx.db.query("queues").first())!);
        await ctx.db.patch("jobs", id, { status });
        await walk(ctx, edge, (await ctx.db.get("jobs", id))!, queue);
        const moved = (await ctx.db.get("jobs", id))!.status;
        // Only the verdict is wanted: nothing of this may be left for the invariants to find.
        throw new Verdict(moved);
      });
      const verdict = await walked.catch((error: unknown) => error);
      if (mayMove(edge, status)) expect((verdict as Verdict).moved).toBe(EDGES[edge].to);
      else expect(String(verdict)).toContain(`A ${status} job cannot ${edge}`);
    },
  );
});

describe("the effects of an edge", () => {
  test.each(Object.keys(EDGES) as Edge[])("%s", async (edge) => {
    const world = await newToldWorld({ push: true });
    const id = await world.enqueue();
    const status = STATUSES.find((one) => mayMove(edge, one))!;
    let effects: Effects | undefined;
    const walked = world.step(async (ctx) => {
      effects = ctx.effects;
      const queue = queueOf((await ctx.db.query("queues").first())!);
      await ctx.db.patch("jobs", id, { status });
      await walk(ctx, edge, (await ctx.db.get("jobs", id))!, queue);
      throw new Verdict(status);
    });
    await expect(walked).rejects.toThrow(Verdict);
    const { to } = EDGES[edge];
    const isRound = edge === "comeRound" || edge === "rest";
    const { wakes, dueTimes, callbacks, toCount } = effects!;
    expect([...wakes.values()].flatMap(({ ofJobs }) => ofJobs.map(({ job }) => job))).toEqual(
      to === "pending" && edge !== "pause" ? [id] : [],
    );
    expect(dueTimes.map(({ kind, queue }) => `${kind} of ${queue}`)).toEqual(
      to === "scheduled" ? ["dispatcher of tiles"] : [],
    );
    expect(callbacks.map(({ job }) => job)).toEqual(isFinished(to) || isRound ? [id] : []);
    expect([...toCount]).toEqual(isFinished(to) ? ["tiles"] : []);
  });
});

class Verdict extends Error {
  constructor(readonly moved: Status) {
    super(moved);
  }
}

const FOLLOWING = { ofWorker: true, labels: ["gone"] };

async function walk(ctx: EdgeCtx, edge: Edge, job: Doc<"jobs">, queue: Queue) {
  const session = { _id: (await anySession(ctx))._id, name: "a" };
  const { db, now } = ctx;
  const dueAt = now + 1_000;
  const resting = { ...queue, config: { ...queue.config, restMs: 1_000 } };
  switch (edge) {
    case "promote":
      return await transitions.promote(ctx, job, queue);
    case "postpone":
      return await transitions.postpone(ctx, job, dueAt);
    case "pause":
      return await transitions.pause(db, job);
    case "resume":
      return await transitions.resume(ctx, job, queue);
    case "comeRound":
      return await transitions.comeRound(ctx, job, queue, { error: "x" });
    case "rest":
      return await transitions.comeRound(ctx, job, resting, { error: "x" });
    case "backOff":
      return await transitions.backOff(ctx, job, "boom", dueAt);
    case "snooze":
      return await transitions.snooze(ctx, job, dueAt);
    case "stop":
      return await transitions.stop(ctx, job, queue);
    case "expire":
      return await transitions.expire(ctx, job, queue, "too late");
    case "claim":
      return await transitions.lease(db, job, session, now);
    case "succeed":
      return await transitions.succeed(ctx, job, queue, null);
    case "fail":
      return await transitions.fail(ctx, job, queue, "boom");
    case "release":
      return await transitions.release(ctx, job, queue, { unacknowledged: false });
    case "reset":
      return await transitions.reset(ctx, job, queue);
    // A worker's job, whose place has been forgotten.
    case "releaseLater":
      return await transitions.release(ctx, { ...job, ...FOLLOWING }, queue, {
        unacknowledged: false,
      });
    case "resetLater":
      return await transitions.reset(ctx, { ...job, ...FOLLOWING }, queue);
    case "timeOut":
      return await transitions.timeOut(ctx, job, queue, "lost");
    case "cancel":
      return await transitions.cancel(ctx, job, queue);
    case "retry":
      return await transitions.retry(ctx, job, queue, { keepResult: false });
  }
}

async function anySession(ctx: MutationCtx): Promise<{ _id: Id<"sessions"> }> {
  const token = (await ctx.db.query("tokens").first())!._id;
  const id = await ctx.db.insert("sessions", {
    ...{
      sessionKey: "s",
      token,
      name: "a",
      state: "idle",
      expiresAt: 0,
      lastSeenAt: 0,
      queues: [],
    },
    ...{ leases: [], callSeq: 0, acknowledged: true, reply: { answers: [] } },
  });
  return { _id: id };
}

describe("every edge's writes", () => {
  // Rules out D6b, P2.
  test("a job that comes back has a new seq, above all that were seen, and the band before new jobs", async () => {
    const world = await newWorld();
    const id = await world.enqueue("first");
    const first = await world.job(id);
    const worker = world.worker("a");
    const [job] = await worker.claim();
    const second = await world.enqueue("second");
    await worker.complete([released(job!)]);
    const back = await world.job(id);
    expect(back.seq > (await world.job(second)).seq).toBe(true);
    expect(back.order).toBeLessThan(first.order);
    expect((await worker.claim())[0]?.payload).toBe("first");
  });

  // Rules out D5.
  test("order is 0 and never -0, which would be another index key", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.complete([succeeded(job!)]);
    expect(Object.is((await world.job(id)).order, 0)).toBe(true);
    expect(await countByIndex(world, "succeeded", 0)).toBe(1);
  });
});

async function countByIndex(world: World, status: Status, order: number): Promise<number> {
  const rows = await world.t.run((ctx) =>
    ctx.db
      .query("jobs")
      .withIndex("status", (q) => q.eq("queue", "tiles").eq("status", status).eq("order", order))
      .collect(),
  );
  return rows.length;
}
