/** Canceling a job that runs: its worker is asked, and how its attempt ends decides. */
import { describe, expect, test } from "vitest";
import { api } from "../_generated/api.js";
import {
  failed,
  leaseOf,
  newToldWorld,
  newWorld,
  released,
  succeeded,
  type Worker,
  type World,
} from "../setup.test.js";

async function running(config: { maxResets?: number } = {}) {
  const world = await newToldWorld(config);
  const id = await world.enqueue();
  const worker = world.worker("a");
  const [job] = await worker.claim();
  return { world, id, worker, job: job! };
}

async function asked(world: World, { token, sessionKey }: Worker) {
  return await world.t.query(api.lib.cancellations, { token, sessionKey });
}

describe("a running job that is canceled", () => {
  // Shows SG-34, SG-36, F3, F12.
  test("runs on, and its worker is asked at once by its subscription, and with its next beat", async () => {
    const { world, id, worker, job } = await running();
    expect(await asked(world, worker)).toEqual([]);
    const answer = await world.cancel(id);
    expect(answer).toEqual({ canceled: false, requested: true, status: "running" });
    expect(await asked(world, worker)).toEqual([leaseOf(job)]);
    expect(await worker.heartbeat([job])).toEqual(["canceled"]);
    await world.advance(9_000);
    expect(await worker.heartbeat([job]), "the lease stands until the attempt ends").toEqual([
      "canceled",
    ]);
    await world.advance(9_000);
    expect(await world.status(id)).toMatchObject({ status: "running" });
  });

  test.each([
    [
      "stopped",
      (job: { id: string; attempt: number }) => ({
        ...leaseOf(job),
        outcome: { kind: "canceled" as const },
      }),
    ],
    ["failed", (job: { id: string; attempt: number }) => failed(job)],
    ["gave it back", released],
  ])("is canceled when its worker %s, and the reason is told", async (_how, report) => {
    const { world, id, worker, job } = await running();
    await world.cancel(id, "not wanted");
    expect((await worker.complete([report(job)])).words).toEqual(["ok"]);
    expect(await world.status(id)).toMatchObject({ status: "canceled" });
    expect(await world.all("told")).toMatchObject([
      { id, status: "canceled", error: "not wanted" },
    ]);
    expect(await world.all("cancels")).toEqual([]);
    expect(await asked(world, worker)).toEqual([]);
  });

  // Shows WP-10.
  test("has succeeded when its worker returns a result all the same: the work is done", async () => {
    const { world, id, worker, job } = await running();
    await world.cancel(id, "too late");
    expect((await worker.complete([succeeded(job, 7)])).words).toEqual(["ok"]);
    expect(await world.status(id)).toMatchObject({ status: "succeeded", result: 7 });
    expect(await world.all("cancels")).toEqual([]);
    expect(await world.job(id)).not.toHaveProperty("cancelRequestedAt");
    expect(await world.job(id)).not.toHaveProperty("cancelReason");
  });

  // Shows SG-36.
  test("is canceled, and not reset, when its worker vanishes", async () => {
    const { world, id, worker, job } = await running({ maxResets: 3 });
    await worker.heartbeat([job]);
    await world.cancel(id);
    await world.advance(10_500);
    expect(await world.status(id)).toMatchObject({ status: "canceled", resets: 0 });
    expect(await world.all("cancels")).toEqual([]);
    expect((await world.all("told")).map(({ status }) => status)).toEqual(["canceled"]);
  });

  test("twice is asked once", async () => {
    const { world, id } = await running();
    await world.cancel(id, "first");
    expect(await world.cancel(id, "second")).toMatchObject({ requested: true });
    expect(await world.all("cancels")).toMatchObject([{ job: id }]);
    expect(await world.job(id)).toMatchObject({ cancelReason: "first" });
  });

  test("that its worker dropped without a word ends with one more lease, though the worker lives", async () => {
    const { world, id, worker, job } = await running();
    await worker.claim();
    await world.cancel(id);
    expect(await worker.heartbeat([job])).toEqual(["canceled"]);
    for (let i = 0; i < 4; i += 1) {
      await worker.heartbeat([]);
      await world.advance(3_300);
    }
    expect(await world.status(id)).toMatchObject({ status: "canceled" });
  });

  test("may be retried, and the next attempt is asked nothing", async () => {
    const { world, id, worker, job } = await running();
    await world.cancel(id, "oops");
    await worker.complete([failed(job)]);
    await world.t.mutation(api.operate.retryJob, { id });
    const [again] = await worker.claim();
    expect(await worker.heartbeat([again!])).toEqual(["ok"]);
    await worker.complete([failed(again!)]);
    expect(await world.status(id)).toMatchObject({ status: "failed" });
  });
});

describe("a request to stop", () => {
  test("a session, of each of its jobs that is to end, and of no other", async () => {
    const world = await newWorld();
    await world.enqueueBatch([1, 2, 3]);
    const worker = world.worker("a");
    const [one, two, three] = await worker.claim(3);
    await world.cancel(one!.id);
    await world.cancel(three!.id);
    expect(await asked(world, worker)).toEqual([leaseOf(one!), leaseOf(three!)]);
    expect(await worker.heartbeat([one!, two!, three!])).toEqual(["canceled", "ok", "canceled"]);
  });

  test("a session with its first claim in the same transaction, which no snapshot shows", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    const { token, sessionKey, name } = world.worker("a");
    const request = { token, sessionKey, callSeq: 1, name, queues: [world.queue], max: 1 };
    await world.t.run(async (ctx) => {
      await ctx.runMutation(api.lib.claim, request);
      await ctx.runMutation(api.operate.cancelJob, { id });
    });
    expect(await world.all("cancels")).toMatchObject([{ job: id, sessionKey, attempt: 1 }]);
  });

  test("another session, or another token that knows the session's name, learns nothing", async () => {
    const { world, id, worker } = await running();
    await world.cancel(id);
    const other = await world.t.mutation(api.operate.createToken, { name: "other", queues: null });
    expect(await asked(world, world.worker("b"))).toEqual([]);
    const { sessionKey } = worker;
    const stolen = { token: other.token, sessionKey };
    expect(await world.t.query(api.lib.cancellations, stolen)).toEqual([]);
  });

  // Shows SG-35.
  test("a lease of a deleted job is given up by its session's next word", async () => {
    const { world, id, worker, job } = await running();
    await world.cancel(id);
    await world.t.run((ctx) => ctx.db.delete("jobs", id));
    expect(await worker.heartbeat([job])).toEqual(["canceled"]);
    expect((await worker.complete([succeeded(job)])).words).toEqual(["leaseLost"]);
    expect(await worker.session()).toMatchObject({ state: "idle", leases: [] });
    expect(await world.all("cancels")).toEqual([]);
  });
});

test("a reason is cut to the size that a job's row may carry", async () => {
  const world = await newWorld();
  const id = await world.enqueue();
  await world.cancel(id, "x".repeat(10_000));
  expect((await world.job(id)).cancelReason?.length).toBeLessThanOrEqual(4_096);
});

test("a reason of any length is in no row that beats and the ends of leases read", async () => {
  const world = await newWorld();
  const [one, two] = await world.enqueueBatch([1, 2]);
  await world.worker("a").claim(2);
  const reason = "x".repeat(900_000);
  await world.cancel(one!, reason);
  await world.t.mutation(api.operate.deleteJob, { queue: "tiles", id: two! });
  const asked = await world.all("cancels");
  expect(asked.map(({ job }) => job).sort()).toEqual([one, two].sort());
  for (const row of asked) expect(row).not.toHaveProperty("reason");
  await world.advance(11_000);
  expect(await world.status(one!)).toMatchObject({ status: "canceled" });
});

test("a late success of an attempt that was canceled without its word is not called recorded, also once the job was retried", async () => {
  const { world, id, worker, job } = await running();
  await worker.heartbeat([job]);
  await world.cancel(id);
  await world.advance(12_000);
  expect((await worker.complete([succeeded(job)])).words).toEqual(["canceled"]);
  await world.t.mutation(api.operate.retryJob, { id });
  expect((await worker.complete([succeeded(job)])).words).toEqual(["canceled"]);
  expect(await world.status(id)).toMatchObject({ status: "pending" });
});
