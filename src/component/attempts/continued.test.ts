/** Outcomes with jobs that go on from them, and the last resort of an outcome that loses every conflict. */
import { describe, expect, test } from "vitest";
import { api } from "../_generated/api.js";
import { TOKEN_RULES_MAX, type Finished, type NewJob, type Outcome } from "../../shared/index.js";
import { failed, leaseOf, newToldWorld, succeeded, type World } from "../setup.test.js";

function continuing(
  world: World,
  job: { id: string; attempt: number },
  outcome: Outcome,
  jobs: NewJob[],
): Finished {
  return { ...leaseOf(job), outcome, continued: [{ queue: world.queue, jobs }] };
}

async function running(options = {}) {
  const world = await newToldWorld();
  const id = await world.enqueue("first", options);
  const worker = world.worker("a");
  const [job] = await worker.claim();
  return { world, id, worker, job: job! };
}

const next = { payload: "next" };

describe("the jobs to follow", () => {
  // Shows E10.
  test("is enqueued in the transaction that records its outcome", async () => {
    const { world, worker, job } = await running();
    const { words } = await worker.complete([
      continuing(world, job, { kind: "succeeded" }, [next]),
    ]);
    expect(words).toEqual(["ok"]);
    expect((await worker.claim()).map(({ payload }) => payload)).toEqual(["next"]);
  });

  test("may take the key of the very job that ends with it", async () => {
    const { world, worker, job } = await running({ key: { value: "k" } });
    const again = {
      payload: "next",
      options: { key: { value: "k", onConflict: "refuse" as const } },
    };
    await worker.complete([continuing(world, job, { kind: "succeeded" }, [again])]);
    expect(await world.status(job.id)).toMatchObject({ status: "succeeded" });
    expect((await worker.claim()).map(({ payload }) => payload)).toEqual(["next"]);
  });

  test("may bring new rules, as many as its token may, and any that are known", async () => {
    const { world, worker, job } = await running();
    const ruled = (timeoutMs: number) => ({ payload: "next", options: { rules: { timeoutMs } } });
    const go = async (of: typeof job, timeoutMs: number) => {
      const report = continuing(world, of, { kind: "succeeded" }, [ruled(timeoutMs)]);
      await worker.complete([report]);
      return await world.status(of.id);
    };
    expect(await go(job, 5_000)).toMatchObject({ status: "succeeded" });
    const [row] = await world.all("jobRules");
    expect(row).toMatchObject({ count: 1 });
    await world.t.run((ctx) => ctx.db.patch("jobRules", row!._id, { count: TOKEN_RULES_MAX }));
    const [second] = await worker.claim();
    expect(await go(second!, 5_000)).toMatchObject({ status: "succeeded" });
    const [third] = await worker.claim();
    expect(await go(third!, 6_000)).toMatchObject({
      status: "failed",
      error: expect.stringContaining(`${TOKEN_RULES_MAX} different rules of jobs`),
    });
    await world.enqueue("of the app", { rules: { timeoutMs: 7_000 } });
    expect(await world.all("jobRules")).toHaveLength(2);
  });

  test("is not enqueued again by a repeat, nor by a later word about the same attempt", async () => {
    const { world, worker, job } = await running();
    const report = continuing(world, job, { kind: "succeeded" }, [next]);
    await worker.complete([report]);
    await worker.complete([report], { n: worker.n });
    expect((await worker.complete([report])).words).toEqual(["recorded"]);
    expect(await world.all("jobs")).toHaveLength(2);
  });

  test("is not enqueued for a lease that was lost", async () => {
    const { world, job } = await running();
    const report = continuing(world, job, { kind: "succeeded" }, [next]);
    expect((await world.worker("b").complete([report])).words).toEqual(["leaseLost"]);
    expect(await world.all("jobs")).toHaveLength(1);
  });

  test("is not enqueued when the outcome is not the one that was reported", async () => {
    const { world, id, worker, job } = await running();
    await world.cancel(id);
    await worker.complete([continuing(world, job, { kind: "failed", error: "x" }, [next])]);
    expect(await world.status(id)).toMatchObject({ status: "canceled" });
    expect(await world.all("jobs")).toHaveLength(1);
  });

  test("that is refused fails the attempt, with all of it and nothing beside it", async () => {
    const { world, id, worker, job } = await running();
    const other = await world.enqueue("other");
    const [second] = await worker.claim();
    const report = continuing(world, job, { kind: "succeeded", result: "x".repeat(600) }, [
      next,
      { payload: "bad", options: { priority: 99 } },
    ]);
    const { words } = await worker.complete([report, succeeded(second!, 2)]);
    expect(words).toEqual(["ok", "ok"]);
    expect(await world.status(id)).toMatchObject({
      status: "failed",
      error: expect.stringMatching(
        /was to be continued with were refused.*\(succeeded\).*priority/s,
      ),
    });
    expect(await world.status(other)).toMatchObject({ status: "succeeded", result: 2 });
    expect(await world.all("jobs"), "not even the good one").toHaveLength(2);
    expect(await world.all("payloads"), "nor the result").toEqual([]);
    expect((await world.all("told")).map(({ status }) => status)).toEqual(["failed", "succeeded"]);
  });

  test("is of the job's own group, or of none other, where the app's query says a token's groups", async () => {
    const { world, worker, job } = await running({ group: "own" });
    await world.enqueue("second", { group: "own" });
    const [second] = await worker.claim();
    const [token] = await world.all("tokens");
    await world.t.run((ctx) => ctx.db.patch("tokens", token!._id, { groups: "byQuery" }));
    const of = (name: string, group?: string) => ({
      payload: name,
      ...(group !== undefined && { options: { group } }),
    });
    const allowed = [of("a"), of("b", "own")];
    const report = (n: typeof job, jobs: NewJob[]) =>
      continuing(world, n, { kind: "succeeded" }, jobs);
    await worker.complete([report(job, allowed)]);
    const groupsOf = async () => (await world.all("jobs")).map(({ group }) => group);
    expect(await groupsOf()).toEqual(["own", "own", "own", "own"]);
    await worker.complete([report(second!, [...allowed, of("c", "other")])]);
    expect(await world.status(second!.id)).toMatchObject({
      status: "failed",
      error: expect.stringContaining('"other"'),
    });
    expect(await groupsOf()).toHaveLength(4);
  });

  test("of a job without a group has none where the app's query says a token's groups", async () => {
    const { world, worker, job } = await running();
    const [token] = await world.all("tokens");
    await world.t.run((ctx) => ctx.db.patch("tokens", token!._id, { groups: "byQuery" }));
    await worker.complete([continuing(world, job, { kind: "succeeded" }, [next])]);
    expect(await world.status(job.id)).toMatchObject({ status: "failed" });
    expect(await world.all("jobs")).toHaveLength(1);
  });
});

describe("an outcome that is recorded later", () => {
  async function later(world: World, worker: { token: string; sessionKey: string }, one: Finished) {
    const { token, sessionKey } = worker;
    await world.t.mutation(api.lib.completeLater, { token, sessionKey, finished: one });
  }

  test("is recorded by a call of its own, delivered later, and answered as recorded from then on", async () => {
    const { world, id, worker, job } = await running();
    await later(world, worker, succeeded(job, 5));
    expect(await world.status(id)).toMatchObject({ status: "running" });
    await world.settle();
    expect(await world.status(id)).toMatchObject({ status: "succeeded", result: 5 });
    expect((await worker.complete([succeeded(job, 5)])).words).toEqual(["recorded"]);
    await world.settle();
    expect((await world.all("told")).map(({ status }) => status)).toEqual(["succeeded"]);
    expect(await worker.session()).toMatchObject({ state: "idle", leases: [] });
  });

  test("is no sign of life, and leaves the session's other leases and its counter alone", async () => {
    const { world, worker, job } = await running();
    await world.enqueue("second");
    const [second] = await worker.claim();
    const before = await worker.session();
    await world.advance(2_000);
    await later(world, worker, succeeded(job));
    await world.settle();
    const after = await worker.session();
    const { callSeq, expiresAt, lastSeenAt } = before;
    expect(after).toMatchObject({ callSeq, expiresAt, lastSeenAt, state: "active" });
    expect(after.leases.map(({ id }) => id)).toEqual([second!.id]);
  });

  test("comes too late for a lease that was lost or recorded meanwhile", async () => {
    const { world, id, worker, job } = await running();
    await later(world, worker, failed(job));
    await worker.complete([succeeded(job, 1)]);
    await world.settle();
    expect(await world.status(id)).toMatchObject({ status: "succeeded", result: 1 });
  });

  test("of a session of another token is refused", async () => {
    const { world, id, worker, job } = await running();
    const other = await world.t.mutation(api.operate.createToken, { name: "other", queues: null });
    await later(world, { token: other.token, sessionKey: worker.sessionKey }, succeeded(job));
    await world.settle();
    expect(await world.status(id)).toMatchObject({ status: "running" });
  });
});
