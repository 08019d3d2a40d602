import { describe, expect, test } from "vitest";
import { api } from "../_generated/api.js";
import { failed, leaseOf, newWorld, refusal, succeeded } from "../setup.test.js";

describe("cancel", () => {
  test("ends a job that waits, says so, and has it counted; of one that runs nothing has ended", async () => {
    const world = await newWorld();
    const rollUps = async () => (await world.all("timers")).filter(({ kind }) => kind === "rollUp");
    const [runs] = await world.enqueueBatch([1, 2]);
    await world.worker("a").claim();
    await world.cancel(runs!);
    expect(await rollUps()).toEqual([]);
    const answer = await world.cancel(await world.enqueue());
    expect(answer).toEqual({ canceled: true, requested: false, status: "canceled" });
    expect(await rollUps()).toHaveLength(1);
  });

  // Shows WP-27, F15.
  test("leaves a running job to its session, which is asked to end it, and says so", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    const answer = await world.t.mutation(api.operate.cancelJob, { id });
    expect(answer).toEqual({ canceled: false, requested: true, status: "running" });
    expect((await worker.complete([succeeded(job!)])).words).toEqual(["ok"]);
  });

  test("of a job that runs leaves its status with its worker and when it began; of one that waits there are none", async () => {
    const world = await newWorld();
    const [id, waits, released] = await world.enqueueBatch([1, 2, 3]);
    const worker = world.worker("a");
    const jobs = await worker.claim(3);
    const startedAt = Date.now();
    const given = jobs.filter((job) => job.id !== id);
    await worker.complete(given.map((job) => ({ ...leaseOf(job), outcome: { kind: "released" } })));
    for (const one of [id!, waits!, released!]) await world.cancel(one);
    await world.advance(2_000);
    const outcome = { kind: "canceled" as const };
    await worker.complete([{ ...leaseOf(jobs.find((job) => job.id === id)!), outcome }]);
    const finishedAt = Date.now();
    const status = await world.status(id!);
    expect(status).toMatchObject({ status: "canceled", worker: "a", startedAt, finishedAt });
    for (const one of [waits!, released!]) {
      const other = await world.status(one);
      expect(other).toMatchObject({ status: "canceled" });
      for (const field of ["worker", "startedAt"]) expect(other).not.toHaveProperty(field);
    }
  });

  test("with a reason puts it in place of the last error, which the attempt has: the row has room for one of them", async () => {
    const world = await newWorld({
      retry: { maxAttempts: 9, initialBackoffMs: 1_000, base: 2, maxBackoffMs: 1_000 },
    });
    const [waits, runs] = await world.enqueueBatch([1, 2]);
    const fail = async () => {
      const worker = world.worker("a");
      const jobs = await worker.claim(2);
      await worker.complete(jobs.map((job) => failed(job, "e".repeat(4_000))));
    };
    await fail();
    await world.advance(60_000);
    const [held] = await world.worker("b").claim(1);
    for (const id of [waits!, runs!])
      await world.t.mutation(api.operate.cancelJob, { id, reason: "r".repeat(3_000) });
    for (const id of [waits!, runs!]) {
      const { error, cancelReason, ...row } = await world.job(id);
      expect(row.status).toBe(id === held!.id ? "running" : "canceled");
      expect(cancelReason).toBe("r".repeat(3_000));
      expect(error).toBeUndefined();
    }
    const attempts = await world.all("attempts");
    expect(attempts.map(({ error }) => error)).toEqual(Array(2).fill("e".repeat(4_000)));
  });

  test("twice is canceled once", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    await world.t.mutation(api.operate.cancelJob, { id });
    const { finishedAt } = await world.job(id);
    await world.advance(1_000);
    const again = await world.t.mutation(api.operate.cancelJob, { id });
    expect(again).toEqual({ canceled: false, requested: false, status: "canceled" });
    expect((await world.job(id)).finishedAt).toBe(finishedAt);
  });
});

describe("retry", () => {
  // Rules out D22, P12.
  test("begins the counts anew and keeps the attempt; result, error and worker are gone", async () => {
    const world = await newWorld({ maxResets: 3 });
    const id = await world.enqueue();
    const gone = world.worker("gone");
    const [lost] = await gone.claim();
    await gone.heartbeat([lost!]);
    await world.advance(10_500);
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.complete([failed(job!)]);
    expect(await world.status(id)).toMatchObject({ failures: 1, resets: 1, attempt: 2 });
    const answer = await world.t.mutation(api.operate.retryJob, { id });
    expect(answer).toEqual({ retried: true, status: "pending" });
    const row = await world.job(id);
    expect(row).toMatchObject({ attempt: 2, failures: 0, resets: 0, releases: 0 });
    for (const field of ["error", "result", "session", "worker", "startedAt", "finishedAt"]) {
      expect(row).not.toHaveProperty(field);
    }
  });

  test("deletes a large result, which nothing names any more", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.complete([succeeded(job!, "x".repeat(600))]);
    await world.t.mutation(api.operate.retryJob, { id });
    expect(await world.all("payloads")).toEqual([]);
  });

  test("deletes it, too, in the transaction that ended the job, where no callback is to be delivered", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    const worker = world.worker("a");
    const { token, sessionKey } = worker;
    const [job] = await worker.claim();
    const finished = [succeeded(job!, "x".repeat(600))];
    await world.t.run(async (ctx) => {
      await ctx.runMutation(api.lib.complete, { token, sessionKey, callSeq: 2, finished });
      await ctx.runMutation(api.operate.retryJob, { id });
    });
    expect(await world.status(id)).toMatchObject({ status: "pending" });
    expect(await world.all("payloads")).toEqual([]);
  });

  test("leaves a job that is not finished", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    const pending = await world.t.mutation(api.operate.retryJob, { id });
    expect(pending).toEqual({ retried: false, status: "pending" });
    await world.worker("a").claim();
    const running = await world.t.mutation(api.operate.retryJob, { id });
    expect(running).toEqual({ retried: false, status: "running" });
  });

  test("of a canceled job makes it claimable again", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    await world.t.mutation(api.operate.cancelJob, { id });
    await world.t.mutation(api.operate.retryJob, { id });
    expect(await world.worker("a").claim()).toHaveLength(1);
  });
});

describe("bad input", () => {
  test.each(["", "nonsense", "k".repeat(32)])(
    "an id that names no job, %j, is refused",
    async (id) => {
      const world = await newWorld();
      for (const call of [api.operate.cancelJob, api.operate.retryJob]) {
        const refused = await refusal(world.t.mutation(call, { id }));
        expect(refused).toMatchObject({ code: "unknownJob" });
      }
      expect(await world.status(id)).toBeNull();
    },
  );

  test("a job of another queue than the one named is refused like one that does not exist, and left as it is", async () => {
    const world = await newWorld();
    const [pending, finished] = await world.enqueueBatch([1, 2]);
    await world.t.mutation(api.operate.cancelJob, { id: finished!, queue: "tiles" });
    const calls = [
      world.t.mutation(api.operate.cancelJob, { id: pending!, queue: "others" }),
      world.t.mutation(api.operate.retryJob, { id: finished!, queue: "others" }),
      world.t.mutation(api.operate.cancelJob, { id: "nonsense", queue: "others" }),
    ];
    const refusals = await Promise.all(calls.map(refusal));
    expect(refusals.map(({ code }) => code)).toEqual(Array(3).fill("unknownJob"));
    const [foreign, , nonsense] = refusals;
    expect(foreign!.message.replace(pending!, "…")).toBe(
      nonsense!.message.replace("nonsense", "…"),
    );
    expect(await world.status(pending!)).toMatchObject({ status: "pending" });
    expect(await world.status(finished!)).toMatchObject({ status: "canceled" });
    const own = { id: finished!, queue: "tiles" };
    expect(await world.t.mutation(api.operate.retryJob, own)).toMatchObject({ retried: true });
  });

  // Shows O8.
  test("an id of another table is no job either", async () => {
    const world = await newWorld();
    const worker = world.worker("a");
    await worker.claim();
    const id = (await worker.session())._id;
    expect(await refusal(world.t.mutation(api.operate.cancelJob, { id }))).toMatchObject({
      code: "unknownJob",
    });
    expect(await world.status(id)).toBeNull();
  });
});
