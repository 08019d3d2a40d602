import { describe, expect, test, vi } from "vitest";
import { api } from "../_generated/api.js";
import type { Doc } from "../_generated/dataModel.js";
import { app, failed, newToldWorld, released, succeeded, type World } from "../setup.test.js";

async function owed(world: World): Promise<Doc<"callbacks">[]> {
  return await world.all("callbacks");
}

/** The outcomes that the app received, in order: `succeeded`, `failed`, … */
async function told(world: World): Promise<string[]> {
  return (await world.all("told")).map((row) => row.status);
}

describe("in the transaction that finishes the job", () => {
  // Shows WP-25.
  test("the app receives the outcome, with payload, result, attempt and worker", async () => {
    const world = await newToldWorld();
    const heard = vi.fn();
    app.onComplete = (_ctx, args) => heard(args);
    const id = await world.enqueue({ x: 1 });
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.complete([succeeded(job!, "y".repeat(600))]);
    expect(heard).toHaveBeenCalledExactlyOnceWith({
      id,
      queue: "tiles",
      payload: { x: 1 },
      outcome: { status: "succeeded", result: "y".repeat(600) },
      attempt: 1,
      worker: "a",
    });
    expect(await owed(world)).toEqual([]);
  });

  test("of a failure, of a cancellation, and not of a release", async () => {
    const world = await newToldWorld();
    await world.enqueueBatch([1, 2, 3]);
    const worker = world.worker("a");
    const [one, two] = await worker.claim(2);
    await worker.complete([failed(one!), released(two!)]);
    expect(await told(world)).toEqual(["failed"]);
    await world.t.mutation(api.operate.cancelJob, { id: two!.id });
    expect(await told(world)).toEqual(["failed", "canceled"]);
  });

  // Rules out D8, P8.
  test("a job the callback enqueues can be claimed by the very call that ran it", async () => {
    const world = await newToldWorld();
    app.onComplete = async (ctx, { payload }) => {
      if (payload !== "first") return;
      await ctx.runMutation(api.lib.enqueue, { queue: world.queue, jobs: [{ payload: "second" }] });
    };
    await world.enqueue("first");
    const worker = world.worker("a");
    const [job] = await worker.claim();
    const { words } = await worker.complete([succeeded(job!)], { claim: 1 });
    expect(words).toEqual(["ok"]);
    // No snapshot shows a transaction its own writes, so the next claim at the latest finds the job.
    expect((await worker.claim()).map((next) => next.payload)).toEqual(["second"]);
  });

  // Rules out D26.
  test("a callback may retry the very job: it is pending afterwards, and of no session", async () => {
    const world = await newToldWorld();
    app.onComplete = async (ctx, { id, attempt }) => {
      if (attempt === 1) await ctx.runMutation(api.operate.retryJob, { id });
    };
    const id = await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.complete([succeeded(job!)]);
    expect(await world.status(id)).toMatchObject({ status: "pending", attempt: 1 });
    expect((await worker.claim())[0]).toMatchObject({ id, attempt: 2 });
  });

  // Rules out D8.
  test("a callback may cancel a job that the same call would have claimed", async () => {
    const world = await newToldWorld();
    const [, second] = await world.enqueueBatch([1, 2]);
    app.onComplete = async (ctx, { id }) => {
      if (id !== second) await ctx.runMutation(api.operate.cancelJob, { id: second });
    };
    const worker = world.worker("a");
    const [job] = await worker.claim(1);
    const { jobs } = await worker.complete([succeeded(job!)], { claim: 5 });
    expect(jobs).toEqual([]);
    expect(await world.status(second!)).toMatchObject({ status: "canceled" });
  });

  // Rules out D8, P9.
  test("a callback's changes of the very session are kept: its row is read again before it is written", async () => {
    const world = await newToldWorld();
    await world.enqueueBatch([1, 2]);
    const worker = world.worker("a");
    const [one, two] = await worker.claim(2);
    const session = await worker.session();
    app.onComplete = async (ctx) => {
      const leases = session.leases.filter(({ id }) => id === two!.id);
      const longer = leases.map((lease) => ({ ...lease, leaseMs: 99_000 }));
      await ctx.db.patch("sessions", session._id, { leases: longer });
    };
    await worker.complete([succeeded(one!)]);
    expect((await worker.session()).leases).toMatchObject([{ id: two!.id, leaseMs: 99_000 }]);
  });

  test("when asked to defer, none runs inline: the outcomes stand, and each is delivered alone and at once", async () => {
    const world = await newToldWorld();
    const ids = await world.enqueueBatch([1, 2, 3]);
    const worker = world.worker("a");
    const [one, two] = await worker.claim(2);
    const reply = await worker.complete([succeeded(one!), failed(two!)], {
      claim: 1,
      deferCallbacks: true,
    });
    expect(reply.words).toEqual(["ok", "ok"]);
    expect(reply.jobs.map((job) => job.id)).toEqual([ids[2]]);
    expect(await world.status(one!.id)).toMatchObject({ status: "succeeded" });
    expect(await told(world)).toEqual([]);
    expect((await owed(world)).map((row) => row.tries)).toEqual([0, 0]);
    await world.settle();
    expect((await told(world)).sort()).toEqual(["failed", "succeeded"]);
    expect(await owed(world)).toEqual([]);
    await world.advance(120_000);
    expect(await told(world)).toHaveLength(2);
  });

  test("a call repeated with deferral after its first copy delivered inline delivers nothing twice", async () => {
    const world = await newToldWorld();
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.complete([succeeded(job!)]);
    const again = await worker.complete([succeeded(job!)], { n: worker.n, deferCallbacks: true });
    expect(again.words).toEqual(["ok"]);
    await world.settle();
    expect(await told(world)).toEqual(["succeeded"]);
    expect(await owed(world)).toEqual([]);
  });

  test("at most eight run inline, and the rest alone and at once", async () => {
    const world = await newToldWorld();
    await world.enqueueBatch(Array.from({ length: 11 }, (_, i) => i));
    const worker = world.worker("a");
    const jobs = await worker.claim(11);
    await worker.complete(jobs.map((job) => succeeded(job)));
    expect(await told(world)).toHaveLength(8);
    expect(await owed(world)).toHaveLength(3);
    await world.settle();
    expect(await told(world)).toHaveLength(11);
    expect(await owed(world)).toEqual([]);
  });
});

describe("a callback that fails", () => {
  // Shows WP-25, D15.
  test("leaves the outcome, none of its own writes, and every other job of the batch", async () => {
    const world = await newToldWorld();
    app.onComplete = (_ctx, { payload }) => {
      if (payload === "bad") throw new Error("no row for this tile");
    };
    await world.enqueueBatch(["bad", "good"]);
    const worker = world.worker("a");
    const [bad, good] = await worker.claim(2);
    const { words } = await worker.complete([succeeded(bad!, 1), succeeded(good!, 2)]);
    expect(words).toEqual(["ok", "ok"]);
    expect(await world.status(bad!.id)).toMatchObject({ status: "succeeded", result: 1 });
    expect((await world.all("told")).map((row) => row.id)).toEqual([good!.id]);
    const [debt] = await owed(world);
    expect(debt).toMatchObject({ job: bad!.id, state: "owed", tries: 0 });
    expect(debt?.error).toContain("no row for this tile");
  });

  // Rules out D9.
  test("by returning a value that its validator refuses leaves none of its writes either", async () => {
    const world = await newToldWorld({}, "refused");
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    const { words } = await worker.complete([succeeded(job!)]);
    expect(words).toEqual(["ok"]);
    expect(await told(world)).toEqual([]);
    expect(await owed(world)).toHaveLength(1);
  });

  // Rules out D9.
  test("by needing more than its tenth of a transaction is delivered alone, with a whole one", async () => {
    const world = await newToldWorld();
    app.onComplete = async (ctx) => {
      const row = { id: "", status: "extra", attempt: 0, error: null };
      for (let i = 0; i < 1_700; i += 1) await ctx.db.insert("told", row);
    };
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    expect((await worker.complete([succeeded(job!)])).words).toEqual(["ok"]);
    expect(await told(world)).toEqual([]);
    expect(await owed(world)).toHaveLength(1);
    await world.advance(1_500);
    expect(await told(world)).toHaveLength(1_701);
    expect(await owed(world)).toEqual([]);
  });

  // Shows WP-23, D13.
  // Rules out D9.
  test("is delivered again a second later, exactly once", async () => {
    const world = await newToldWorld();
    let broken = true;
    app.onComplete = () => {
      if (broken) throw new Error("not yet");
    };
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.complete([succeeded(job!)]);
    broken = false;
    await world.advance(900);
    expect(await told(world)).toEqual([]);
    await world.advance(60_000);
    expect(await told(world)).toEqual(["succeeded"]);
    expect(await owed(world)).toEqual([]);
  });

  // Shows D15.
  test("is tried ten times, each time later, and then left with its error for people to see", async () => {
    const world = await newToldWorld();
    const tries: number[] = [];
    app.onComplete = () => {
      tries.push(Date.now());
      throw new Error("never");
    };
    const complaints = vi.spyOn(console, "error").mockImplementation(() => undefined);
    await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.complete([succeeded(job!)]);
    await world.advance(1_100_000);
    complaints.mockRestore();
    expect(tries).toHaveLength(11);
    const waits = tries.slice(1).map((at, i) => Math.round((at - tries[i]!) / 1_000));
    expect(waits).toEqual([1, 1, 2, 4, 8, 16, 32, 64, 128, 256]);
    const [dead] = await owed(world);
    // The mock's scheduler keeps no message; the platform's does.
    expect(dead).toMatchObject({ state: "dead", tries: 10, error: expect.any(String) });
    expect(await told(world)).toEqual([]);
  });

  test("that was given up is forgotten when a later one of the job is: one is kept, and the purge sees the owed one", async () => {
    const world = await newToldWorld();
    const broken = () => {
      throw new Error("never");
    };
    const complaints = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const id = await world.enqueue();
    const worker = world.worker("a");
    for (let round = 0; round < 2; round += 1) {
      app.onComplete = broken;
      const [job] = await worker.claim();
      await worker.complete([succeeded(job!, "x".repeat(600 + round))]);
      await world.advance(1_100_000);
      await world.t.mutation(api.operate.retryJob, { id });
    }
    complaints.mockRestore();
    expect(await owed(world)).toMatchObject([{ state: "dead", attempt: 2 }]);
    expect((await world.all("payloads")).map(({ value }) => value.length)).toEqual([601]);
  });

  test("receives the result of its own attempt, though more of the job was owed since", async () => {
    const world = await newToldWorld({ circular: true });
    let broken = true;
    const heard: unknown[] = [];
    app.onComplete = (_ctx, { outcome }) => {
      if (broken) throw new Error("not yet");
      heard.push(outcome);
    };
    const id = await world.enqueue();
    const worker = world.worker("a");
    const result = "x".repeat(600);
    const complaints = vi.spyOn(console, "error").mockImplementation(() => undefined);
    for (let round = 0; round < 72; round += 1) {
      const [job] = await worker.claim();
      const isEdge = round === 0 || round === 71;
      await worker.complete([isEdge ? succeeded(job!, result) : failed(job!)]);
    }
    complaints.mockRestore();
    broken = false;
    await world.cancel(id);
    await world.advance(10_000);
    const whole = heard.filter((outcome) => JSON.stringify(outcome).includes(result));
    expect([heard.length, whole.length]).toEqual([73, 2]);
    expect(await world.all("payloads"), "the last result is the job's").toHaveLength(1);
  });

  test("receives the result of its own attempt, though the job was retried meanwhile", async () => {
    const world = await newToldWorld();
    let broken = true;
    const heard = vi.fn();
    app.onComplete = (_ctx, { outcome }) => {
      if (broken) throw new Error("not yet");
      heard(outcome);
    };
    const id = await world.enqueue();
    const worker = world.worker("a");
    const [job] = await worker.claim();
    const result = "x".repeat(600);
    await worker.complete([succeeded(job!, result)]);
    await world.t.mutation(api.operate.retryJob, { id });
    broken = false;
    await world.advance(2_000);
    expect(heard).toHaveBeenCalledExactlyOnceWith({ status: "succeeded", result });
    expect(await world.all("payloads"), "nobody else needs it").toEqual([]);
  });

  test("with a plan that was born canceled is planned again by the janitor", async () => {
    const world = await newToldWorld();
    let broken = true;
    app.onComplete = () => {
      if (broken) throw new Error("not yet");
    };
    await world.enqueueBatch([1, 2]);
    const worker = world.worker("a");
    const [job, long] = await worker.claim(2);
    await worker.complete([succeeded(job!)]);
    const [debt] = await owed(world);
    await world.t.run((ctx) => ctx.scheduler.cancel(debt!.planned!));
    broken = false;
    for (let i = 0; i < 12; i += 1) {
      await world.advance(8_000);
      await worker.heartbeat([long!]);
    }
    expect(await told(world)).toEqual(["succeeded"]);
  });
});

describe("the janitor", () => {
  // Rules out D9.
  test("never runs a callback: the end of a job it gives up is delivered alone, and a poisonous one stops nothing", async () => {
    const world = await newToldWorld({ maxResets: 0 });
    app.onComplete = (_ctx, { payload }) => {
      if (payload === "poison") throw new Error("poison");
    };
    await world.enqueueBatch(["poison", "fine"]);
    const worker = world.worker("a");
    const jobs = await worker.claim(2);
    await worker.heartbeat(jobs);
    const complaints = vi.spyOn(console, "error").mockImplementation(() => undefined);
    await world.advance(10_500);
    complaints.mockRestore();
    expect((await world.all("jobs")).map((job) => job.status)).toEqual(["timedOut", "timedOut"]);
    expect(await told(world)).toEqual(["timedOut"]);
    expect((await owed(world)).map((row) => row.job)).toEqual([jobs[0]!.id]);
  });
});
