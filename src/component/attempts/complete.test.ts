import { describe, expect, test } from "vitest";
import { api } from "../_generated/api.js";
import {
  failed,
  leaseOf,
  newToldWorld,
  newWorld,
  refusal,
  released,
  succeeded,
  Worker,
  type World,
} from "../setup.test.js";

describe("each lease has an answer of its own", () => {
  // Shows WP-30, C8.
  test("64 outcomes go in one call, each with its answer", async () => {
    const world = await newWorld();
    await world.enqueueBatch(Array.from({ length: 64 }, (_, n) => n));
    const worker = world.worker("a");
    const jobs = await worker.claim(64);
    expect(jobs).toHaveLength(64);
    const { words } = await worker.complete(jobs.map((job) => succeeded(job)));
    expect(words).toEqual(jobs.map(() => "ok"));
    expect((await worker.session()).leases).toEqual([]);
  });

  // Shows SG-39.
  test("a stale lease is an answer, and the rest of the batch stands", async () => {
    const world = await newWorld({ maxResets: 3 });
    const [slow, quick] = await world.enqueueBatch(["slow", "quick"]);
    const late = world.worker("late");
    const [job] = await late.claim(1);
    await late.heartbeat([job!]);
    await world.advance(10_500);
    const other = world.worker("other");
    const [again] = await other.claim(1);
    expect(again).toMatchObject({ id: slow, attempt: 2 });
    const [fresh] = await late.claim(1);
    const { words } = await late.complete([succeeded(job!, "late"), succeeded(fresh!, "in time")]);
    expect(words).toEqual(["leaseLost", "ok"]);
    expect(await world.status(slow!)).toMatchObject({ status: "running", worker: "other" });
    expect(await world.status(quick!)).toMatchObject({ status: "succeeded", result: "in time" });
    await other.complete([succeeded(again!, "theirs")]);
    expect(await world.status(slow!)).toMatchObject({ status: "succeeded", result: "theirs" });
  });

  // Rules out D11.
  test("an outcome reported again with a later call is recorded already, and changes nothing", async () => {
    const world = await newWorld();
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.complete([succeeded(job!, 1)]);
    const { words } = await worker.complete([failed(job!)]);
    expect(words).toEqual(["recorded"]);
    expect(await world.status(job!.id)).toMatchObject({ status: "succeeded", result: 1 });
  });

  test("an outcome reported twice in one call is recorded once", async () => {
    const world = await newWorld();
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    const { words } = await worker.complete([succeeded(job!, 1), failed(job!)]);
    expect(words).toEqual(["ok", "recorded"]);
    expect(await world.status(job!.id)).toMatchObject({ status: "succeeded" });
  });

  // Shows LF-22, SG-39.
  test("another session's lease is lost to the caller, even with the right attempt", async () => {
    const world = await newWorld();
    await world.enqueue();
    const [job] = await world.worker("a").claim();
    const { words } = await world.worker("b").complete([succeeded(job!)]);
    expect(words).toEqual(["leaseLost"]);
    expect(await world.status(job!.id)).toMatchObject({ status: "running", worker: "a" });
  });

  test("nor may it call another's outcome its own", async () => {
    const world = await newWorld();
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.complete([succeeded(job!)]);
    expect((await world.worker("b").complete([succeeded(job!)])).words).toEqual(["leaseLost"]);
  });

  // Shows DE-18.
  test("a job that timed out is lost, not recorded: the worker's word never arrived", async () => {
    const world = await newWorld({ maxResets: 0 });
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.heartbeat([job!]);
    await world.advance(10_500);
    expect((await worker.complete([succeeded(job!)])).words).toEqual(["leaseLost"]);
    expect(await world.status(job!.id)).toMatchObject({ status: "timedOut" });
  });

  test("a job that was reset and then canceled is answered as canceled", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await world.advance(10_500);
    await world.t.mutation(api.operate.cancelJob, { id });
    expect((await worker.complete([succeeded(job!)])).words).toEqual(["canceled"]);
  });

  test("a wrong attempt, an id of another table and no id at all are leases lost", async () => {
    const world = await newWorld();
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    const session = await worker.session();
    const { words } = await worker.complete([
      succeeded({ ...job!, attempt: 2 }),
      succeeded({ id: session._id, attempt: 1 }),
      succeeded({ id: "nonsense", attempt: 1 }),
    ]);
    expect(words).toEqual(["leaseLost", "leaseLost", "leaseLost"]);
    expect(await worker.heartbeat([job!])).toEqual(["ok"]);
  });
});

describe("the fencing token", () => {
  // Shows WP-26.
  // Rules out D21, D22.
  test("is never set back: a worker of before the retry cannot report for the attempt of after", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    const worker = world.worker("a");
    const [first] = await worker.claim();
    await worker.complete([failed(first!)]);
    await world.t.mutation(api.operate.retryJob, { id });
    const [second] = await worker.claim();
    expect([first!.attempt, second!.attempt]).toEqual([1, 2]);
    expect((await worker.complete([succeeded(first!, "zombie")])).words).toEqual(["recorded"]);
    expect(await world.status(id)).toMatchObject({ status: "running", failures: 0 });
  });

  // Rules out D22, P11.
  test("also fences a session that released the job and claimed it again", async () => {
    const world = await newWorld();
    await world.enqueue();
    const worker = world.worker("a");
    const [first] = await worker.claim();
    await worker.complete([released(first!)]);
    const [second] = await worker.claim();
    expect((await worker.complete([succeeded(first!)])).words).toEqual(["recorded"]);
    expect(await world.status(second!.id)).toMatchObject({ status: "running", attempt: 2 });
  });
});

describe("a call that is repeated, since its reply was lost", () => {
  // Rules out D11.
  test("answers as the first did, and claims no more", async () => {
    const world = await newWorld();
    await world.enqueueBatch([1, 2, 3]);
    const worker = world.worker("a");
    const [job] = await worker.claim(1);
    const first = await worker.complete([succeeded(job!)], { claim: 1 });
    const again = await worker.complete([succeeded(job!)], { n: worker.n, claim: 1 });
    // The size of the fleet is not kept: it is a hint.
    expect(again).toEqual({ ...first, fleet: undefined, places: undefined });
    expect(first.words).toEqual(["ok"]);
    expect(first.jobs).toHaveLength(1);
    expect((await worker.session()).leases).toHaveLength(1);
  });
});

describe("complete and claim in one", () => {
  // Shows LF-25, SG-02, SG-12, WP-13, C9, C14.
  // Rules out P18.
  test("records, and hands out the next jobs, in one call", async () => {
    const world = await newWorld();
    await world.enqueueBatch([1, 2]);
    const worker = world.worker("a");
    const [job] = await worker.claim(1);
    const { words, jobs } = await worker.complete([succeeded(job!)], { claim: 1 });
    expect(words).toEqual(["ok"]);
    expect(jobs.map((next) => next.payload)).toEqual([2]);
  });

  test("a session without leases is idle, one with any is active", async () => {
    const world = await newWorld();
    await world.enqueueBatch([1, 2]);
    const worker = world.worker("a");
    const [one, two] = await worker.claim(2);
    await worker.complete([succeeded(one!)]);
    expect(await worker.session()).toMatchObject({ state: "active" });
    await worker.complete([succeeded(two!)]);
    expect(await worker.session()).toMatchObject({ state: "idle", leases: [] });
  });
});

describe("a call that claims", () => {
  const janitors = async (world: World) =>
    (await world.all("timers")).filter(({ kind }) => kind === "janitor").length;
  const dropTimers = async (world: World) => {
    await world.t.run(async (ctx) => {
      for (const { _id } of await ctx.db.query("timers").collect())
        await ctx.db.delete("timers", _id);
    });
  };

  test("ensures a sweep for its new leases", async () => {
    const world = await newWorld();
    await world.enqueueBatch([1, 2]);
    const worker = world.worker("a");
    const [one] = await worker.claim();
    await dropTimers(world);
    const { jobs } = await worker.complete([succeeded(one!)], { claim: 1 });
    expect(jobs).toHaveLength(1);
    expect(await janitors(world)).toBe(1);
  });

  test("and finds nothing ensures another janitor where its snapshot shows none, for the remaining leases", async () => {
    const world = await newWorld();
    await world.enqueueBatch([1, 2]);
    const worker = world.worker("a");
    const [one, two] = await worker.claim(2);
    await dropTimers(world);
    await worker.complete([succeeded(one!)], { claim: 1 });
    expect(await janitors(world)).toBe(1);
    await dropTimers(world);
    await worker.complete([succeeded(two!)], { claim: 1 });
    expect(await janitors(world), "nothing is leased").toBe(0);
  });

  test("ensures a sweep for a lease that is shorter than the present sweep expects", async () => {
    const world = await newWorld({ leaseMs: 600_000 });
    await world.enqueueBatch([1, 2]);
    const worker = world.worker("a");
    const [one] = await worker.claim(1);
    await world.t.run(async ({ db }) => {
      for (const { _id } of await db.query("timers").collect())
        await db.patch("timers", _id, { dueAt: Date.now() + 600_000 });
    });
    world.queue.name = "quick";
    world.queue.config = { ...world.queue.config, leaseMs: 10_000 };
    await world.enqueue();
    await worker.complete([succeeded(one!)], { claim: 1 });
    const { expiresAt } = await worker.session();
    expect(expiresAt).toBeLessThan(Date.now() + 11_000);
    const dues = (await world.all("timers")).filter(({ kind }) => kind === "janitor");
    expect(Math.min(...dues.map(({ dueAt }) => dueAt))).toBeLessThan(expiresAt + 1_500);
  });

  test("that claims nothing needs no right to any queue, and a repeat of it is no beat", async () => {
    const world = await newWorld();
    await world.enqueueBatch([1, 2]);
    const secret = { name: "one queue", queues: ["tiles"] };
    const { token } = await world.t.mutation(api.operate.createToken, secret);
    const worker = new Worker(world, "a", "session-a", token);
    const [one] = await worker.claim(2);
    expect((await worker.complete([succeeded(one!)])).words).toEqual(["ok"]);
    const { expiresAt } = await worker.session();
    await world.advance(2_000);
    expect((await worker.complete([succeeded(one!)], { n: worker.n })).words).toEqual(["ok"]);
    expect((await worker.session()).expiresAt).toBe(expiresAt);
  });

  test("names the queues that the session serves from then on; one that claims nothing leaves them", async () => {
    const world = await newWorld();
    await world.enqueueBatch([1, 2]);
    const worker = world.worker("a");
    const [one, two] = await worker.claim(2);
    await worker.complete([succeeded(one!)]);
    expect((await worker.session()).queues).toEqual(["tiles"]);
    world.queue.name = "others";
    await worker.complete([succeeded(two!)], { claim: 1 });
    expect((await worker.session()).queues).toEqual(["others"]);
  });
});

test("asked to put callbacks off, a call owes each, and runs none", async () => {
  const world = await newToldWorld();
  await world.enqueue();
  const worker = world.worker("a");
  const [job] = await worker.claim();
  await worker.complete([succeeded(job!)], { deferCallbacks: true });
  expect([await world.all("told"), (await world.all("callbacks")).length]).toEqual([[], 1]);
  await world.settle();
  expect(await world.all("told")).toMatchObject([{ id: job!.id, status: "succeeded" }]);
});

describe("results and errors", () => {
  // Shows D10.
  test.each([undefined, null, 0, "", false, [], { a: [1, { b: 2n }] }])(
    "%s is kept as it is, nothing as null",
    async (result) => {
      const world = await newWorld();
      await world.enqueue();
      const worker = world.worker("a");
      const [job] = await worker.claim();
      await worker.complete([succeeded(job!, result)]);
      const status = await world.status(job!.id);
      expect(status).toMatchObject({ status: "succeeded", result: result ?? null });
    },
  );

  // Shows DE-08.
  test("up to 512 bytes a result lies in the job's row, over that in a row of its own", async () => {
    const world = await newWorld();
    await world.enqueueBatch([1, 2]);
    const worker = world.worker("a");
    const [small, large] = await worker.claim(2);
    await worker.complete([succeeded(small!, "x".repeat(500)), succeeded(large!, "x".repeat(600))]);
    expect(await world.all("payloads")).toHaveLength(1);
    expect(await world.status(large!.id)).toMatchObject({ result: "x".repeat(600) });
  });

  // Rules out D10.
  test("a result too large to store fails its job, which says so, and no other of the batch", async () => {
    const world = await newWorld();
    await world.enqueueBatch([1, 2]);
    const worker = world.worker("a");
    const [large, small] = await worker.claim(2);
    const { words } = await worker.complete([
      succeeded(large!, "x".repeat(1_100_000)),
      succeeded(small!, 1),
    ]);
    expect(words).toEqual(["ok", "ok"]);
    const status = await world.status(large!.id);
    expect(status).toMatchObject({ status: "failed" });
    expect(status).toHaveProperty("error", expect.stringContaining("1100002 bytes"));
    expect(await world.status(small!.id)).toMatchObject({ status: "succeeded" });
  });

  test("a result nested too deep for a document fails its job too", async () => {
    const world = await newWorld();
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    let deep: any = 1;
    for (let i = 0; i < 15; i += 1) deep = [deep];
    await worker.complete([succeeded(job!, deep)]);
    expect(await world.status(job!.id)).toMatchObject({ status: "failed" });
  });

  test("an error is cut to 4 KiB, at a character's boundary, and says that it was", async () => {
    const world = await newWorld();
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.complete([failed(job!, "é".repeat(5_000))]);
    const { error } = await world.job(job!.id);
    expect(new TextEncoder().encode(error).length).toBeLessThanOrEqual(4_096);
    expect(error).toMatch(/^é+ … \(cut, 10000 bytes\)$/);
  });
});

describe("bad input", () => {
  // Shows WP-30, C8.
  test("no outcome, and more than 64, are refused", async () => {
    const world = await newWorld();
    const worker = world.worker("a");
    const many = Array.from({ length: 65 }, () => succeeded({ id: "x", attempt: 1 }));
    for (const finished of [[], many]) {
      expect(await refusal(worker.complete(finished))).toMatchObject({ code: "invalidArgument" });
    }
  });

  test("a session of another token is refused", async () => {
    const world = await newWorld();
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    const other = await world.t.mutation(api.operate.createToken, { name: "other", queues: null });
    const call = { token: other.token, sessionKey: worker.sessionKey, leases: [leaseOf(job!)] };
    const refused = await refusal(world.t.mutation(api.lib.heartbeat, call));
    expect(refused).toMatchObject({ code: "sessionForbidden" });
  });
});
