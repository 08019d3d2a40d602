/** The arguments and the time of `onComplete`, and that no call of it is forgotten or left behind. */
import { describe, expect, test, vi } from "vitest";
import { api } from "../_generated/api.js";
import { app, failed, newToldWorld, succeeded, type World } from "../setup.test.js";

/** The outcomes that the app received, in order: `succeeded`, `failed`, … */
async function statuses(world: World): Promise<string[]> {
  return (await world.all("told")).map(({ status }) => status);
}

async function running(options = {}) {
  const world = await newToldWorld();
  const id = await world.enqueue("first", options);
  const worker = world.worker("a");
  const [job] = await worker.claim();
  return { world, id, worker, job: job! };
}

describe("further arguments of onComplete", () => {
  test("the job's name and its context, however large", async () => {
    const heard = vi.fn();
    const context = { note: "x".repeat(2_000) };
    const { worker, job } = await running({ name: "tile 7", context });
    app.onComplete = (_ctx, args) => heard(args);
    await worker.complete([succeeded(job)]);
    expect(heard.mock.calls[0]![0]).toMatchObject({ name: "tile 7", context });
  });

  test("nothing, of outcomes that the queue or the job leaves out", async () => {
    const world = await newToldWorld({ onCompleteExclude: ["succeeded"] });
    const own = { rules: { onCompleteExclude: ["failed" as const] } };
    await world.enqueueJobs([
      { payload: 1 },
      { payload: 2, options: own },
      { payload: 3, options: own },
    ]);
    const worker = world.worker("a");
    const [one, two, three] = await worker.claim(3);
    await worker.complete([succeeded(one!), failed(two!), succeeded(three!)]);
    expect((await world.all("told")).map(({ id }) => id)).toEqual([three!.id]);
  });

  test("every outcome of a job that leaves out none, whatever its queue leaves out", async () => {
    const world = await newToldWorld({ onCompleteExclude: ["succeeded"] });
    await world.enqueue(1, { rules: { onCompleteExclude: [] } });
    const worker = world.worker("a");
    const [job] = await worker.claim();
    await worker.complete([succeeded(job!)]);
    expect(await statuses(world)).toEqual(["succeeded"]);
  });
});

describe("owed callbacks", () => {
  test("large payloads and results are delivered inline as far as a transaction may read, and the rest alone", async () => {
    const world = await newToldWorld();
    const large = "x".repeat(900_000);
    for (let i = 0; i < 8; i += 1) await world.enqueue(large);
    const worker = world.worker("a");
    const jobs = [...(await worker.claim(8)), ...(await worker.claim(8))];
    expect(jobs).toHaveLength(8);
    const result = large.slice(0, 700_000);
    const { words } = await worker.complete(jobs.map((job) => succeeded(job, result)));
    expect(words).toEqual(Array(8).fill("ok"));
    const now = (await world.all("told")).length;
    expect(now).toBeGreaterThan(2);
    expect(now).toBeLessThan(8);
    await world.settle();
    expect(await world.all("told")).toHaveLength(8);
  });

  test("has a sweep that would notice if its plan had died, though nothing is leased", async () => {
    const world = await newToldWorld();
    let broken = true;
    app.onComplete = () => {
      if (broken) throw new Error("not yet");
    };
    const id = await world.enqueue();
    await world.cancel(id);
    const [debt] = await world.all("callbacks");
    await world.t.run((ctx) => ctx.scheduler.cancel(debt!.planned!));
    broken = false;
    await world.advance(70_000);
    expect((await world.all("told")).map(({ status }) => status)).toEqual(["canceled"]);
    await world.advance(70_000);
    const left = (await world.all("timers")).filter(({ kind }) => kind === "janitor");
    expect(left, "and then nobody looks any more").toEqual([]);
  });

  // Rules out D26.
  test("of a job that is retried by another's callback in the same call receives its result, and no row is left", async () => {
    for (const first of [true, false]) {
      const world = await newToldWorld();
      const heard: unknown[] = [];
      await world.enqueueBatch(["retried", "retries"]);
      const worker = world.worker("a");
      const [retried, retries] = await worker.claim(2);
      app.onComplete = async (ctx, { payload, outcome }) => {
        if (payload === "retries") await ctx.runMutation(api.operate.retryJob, { id: retried!.id });
        else heard.push(outcome);
      };
      const large = "x".repeat(600);
      const batch = [succeeded(retried!, large), succeeded(retries!)];
      await worker.complete(first ? batch : batch.reverse());
      expect(heard).toEqual([{ status: "succeeded", result: large }]);
      expect(await world.status(retried!.id)).toMatchObject({ status: "pending" });
      expect(await world.all("payloads")).toEqual([]);
    }
  });

  test("a job that is retried in the very millisecond in which it ended leaves no result behind", async () => {
    const { world, id, worker, job } = await running();
    await worker.complete([succeeded(job, "x".repeat(600))]);
    await world.t.mutation(api.operate.retryJob, { id });
    expect(await world.all("payloads")).toEqual([]);
  });
});

describe("ends of one job", () => {
  /** Ends a job, retries it, and ends it again. */
  async function endedTwice(world: World): Promise<string> {
    const id = await world.enqueue();
    const worker = world.worker("a");
    const [first] = await worker.claim();
    await worker.complete([failed(first!)]);
    await world.t.mutation(api.operate.retryJob, { id });
    const [second] = await worker.claim();
    await worker.complete([succeeded(second!)]);
    return id;
  }

  // Rules out D9.
  test("are delivered in their order: a later one waits while an earlier one is owed", async () => {
    const world = await newToldWorld();
    let broken = true;
    app.onComplete = (_ctx, { attempt }) => {
      if (broken && attempt === 1) throw new Error("not yet");
    };
    await endedTwice(world);
    expect(await statuses(world)).toEqual([]);
    await world.advance(3_500);
    expect(await statuses(world), "though it would succeed").toEqual([]);
    broken = false;
    await world.advance(4_000);
    expect(await statuses(world)).toEqual(["failed", "succeeded"]);
    expect(await world.all("callbacks")).toEqual([]);
  });

  test("are delivered one right after the other, for any kind of end", async () => {
    const world = await newToldWorld();
    let broken = true;
    app.onComplete = () => {
      if (broken) throw new Error("not yet");
    };
    const id = await endedTwice(world);
    for (const reason of ["third", "fourth"]) {
      await world.t.mutation(api.operate.retryJob, { id });
      await world.cancel(id, reason);
    }
    broken = false;
    await world.advance(1_200);
    const errors = (await world.all("told")).map(({ error }) => error);
    expect(errors).toEqual(["boom", null, "third", "fourth"]);
    expect(await world.all("callbacks")).toEqual([]);
  });

  test("wait no longer for one that was given up", async () => {
    const world = await newToldWorld();
    app.onComplete = (_ctx, { attempt }) => {
      if (attempt === 1) throw new Error("never");
    };
    const complaints = vi.spyOn(console, "error").mockImplementation(() => undefined);
    await endedTwice(world);
    await world.advance(1_000_000);
    expect(await statuses(world)).toEqual([]);
    await world.advance(100_000);
    complaints.mockRestore();
    expect(await statuses(world)).toEqual(["succeeded"]);
    expect(await world.all("callbacks")).toMatchObject([{ state: "dead", attempt: 1 }]);
  });

  test("that come faster than they can be given up have one try each in the end", async () => {
    const world = await newToldWorld({ circular: true });
    const tries: number[] = [];
    app.onComplete = (_ctx, { attempt }) => {
      tries.push(attempt);
      throw new Error("never");
    };
    const complaints = vi.spyOn(console, "error").mockImplementation(() => undefined);
    await world.enqueue();
    const worker = world.worker("a");
    for (let round = 0; round < 5; round += 1) {
      const [job] = await worker.claim();
      await worker.complete([succeeded(job!)]);
    }
    await world.advance(1_100_000);
    complaints.mockRestore();
    expect(tries).toEqual([...Array<number>(11).fill(1), 2, 3, 4, 5]);
    expect(await world.all("callbacks")).toMatchObject([{ state: "dead", attempt: 5, tries: 1 }]);
  });

  // Rules out D9.
  test.each([
    ["of which the first is delivered at once", 0, false],
    ["of which the first was one too many", 9, false],
    ["of which the first fails", 0, true],
  ])(
    "are delivered in their order, though another's callback in the same call brings the second: %s",
    async (_, others, fails) => {
      const world = await newToldWorld();
      await world.enqueueBatch(["moves", ...Array<string>(others).fill("other"), "moved"]);
      const worker = world.worker("a");
      const jobs = await worker.claim(2 + others);
      const { id } = jobs.at(-1)!;
      let isBroken = fails;
      const again = async (reason: string, ctx = world.t) => {
        await ctx.mutation(api.operate.retryJob, { id });
        await ctx.mutation(api.operate.cancelJob, { id, reason });
      };
      app.onComplete = async (ctx, { payload, outcome }) => {
        if (payload === "moves") await again("second", { mutation: ctx.runMutation } as World["t"]);
        if (isBroken && payload === "moved" && outcome.status === "succeeded")
          throw new Error("not yet");
      };
      await worker.complete(jobs.map((job) => succeeded(job, "x".repeat(600))));
      if (fails) await again("third");
      await world.advance(500);
      isBroken = false;
      await world.advance(5_000);
      const ends = (await world.all("told")).filter((one) => one.id === id);
      const third = fails ? ["third"] : [];
      expect(ends.map(({ error }) => error)).toEqual([null, "second", ...third]);
      expect(await world.all("told")).toHaveLength(2 + others + ends.length - 1);
      expect(await world.all("callbacks")).toEqual([]);
      expect(await world.all("payloads")).toHaveLength(1 + others);
    },
  );

  test("of an item are delivered in their order, though another's callback takes it out of its ring", async () => {
    const world = await newToldWorld({ circular: true });
    await world.enqueueBatch(["takes", "taken"]);
    const worker = world.worker("a");
    const jobs = await worker.claim(2);
    const { id } = jobs[1]!;
    app.onComplete = async (ctx, { payload }) => {
      if (payload === "takes") await ctx.runMutation(api.operate.cancelJob, { id });
    };
    await worker.complete(jobs.map((job) => succeeded(job)));
    await world.advance(2_000);
    const ends = (await world.all("told")).filter((one) => one.id === id);
    expect(ends.map(({ status }) => status)).toEqual(["succeeded", "canceled"]);
  });

  test("of which the first is still owed are in no other job's way", async () => {
    const world = await newToldWorld();
    app.onComplete = (_ctx, { payload }) => {
      if (payload !== "other") throw new Error("not yet");
    };
    await endedTwice(world);
    const other = await world.enqueue("other");
    await world.cancel(other);
    expect(await statuses(world)).toEqual(["canceled"]);
  });
});
