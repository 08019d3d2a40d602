import type { FunctionArgs } from "convex/server";
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { JobFilter } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { failed, newToldWorld, newWorld, refusal, type World } from "../setup.test.js";

/** Jobs of which the end throws, as a bug of ours would. */
const broken = new Set<string>();

vi.mock(import("./cancel.js"), async (original) => {
  const real = await original();
  return {
    ...real,
    cancelJob: async (...args) => {
      if (broken.has(args[1]._id)) throw new Error("This job is broken.");
      return await real.cancelJob(...args);
    },
  };
});
vi.hoisted(() => vi.resetModules());

beforeEach(() => {
  broken.clear();
});

type Args = Partial<FunctionArgs<typeof api.operate.cancelMany>>;

async function change(world: World, action: "cancel" | "retry" | "delete", args: Args = {}) {
  return await world.t.mutation(api.operate[`${action}Many`], {
    ...{ queue: "tiles", filter: {} },
    ...args,
  });
}

async function statuses(world: World): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { status } of await world.all("jobs")) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const many = (count: number) => Array.from({ length: count }, (_, n) => n);

describe("canceling many", () => {
  // Shows WP-27, WP-34, F16.
  test("of more jobs than one step begins in the caller's transaction and goes on by itself to the end", async () => {
    const world = await newWorld({ shards: 4 });
    await world.enqueueBatch(many(180));
    await world.enqueueBatch(many(140), { runAfter: 60_000 });
    const { changed, isDone, task } = await change(world, "cancel");
    expect({ changed, isDone }).toEqual({ changed: 100, isDone: false });
    const state = async () =>
      await world.t.query(api.operate.taskState, { queue: "tiles", task: task! });
    expect(await state()).toMatchObject({ action: "cancel", state: "running", changed: 100 });
    await world.advance(500);
    expect(await statuses(world)).toEqual({ canceled: 320 });
    expect(await state()).toMatchObject({ state: "done", changed: 320, failed: 0 });
    expect((await world.all("timers")).filter(({ kind }) => kind === "bulk")).toEqual([]);
  });

  test("leaves jobs that are enqueued after it began", async () => {
    const world = await newWorld();
    await world.enqueueBatch(many(150));
    await change(world, "cancel");
    // Between its first step and the second.
    vi.setSystemTime(Date.now() + 5);
    await world.enqueueBatch(many(5));
    await world.advance(200);
    expect(await statuses(world)).toEqual({ canceled: 150, pending: 5 });
  });

  test("asks the workers of running jobs once each, and begins with the newest that wait", async () => {
    const world = await newWorld();
    const [oldest, , , newest] = await world.enqueueBatch(many(4));
    await world.worker("a").claim(1);
    const first = await change(world, "cancel", { goOn: false, limit: 1 });
    expect(first).toMatchObject({ changed: 1, isDone: false });
    expect(await world.status(newest!)).toMatchObject({ status: "canceled" });
    expect(await change(world, "cancel")).toMatchObject({ changed: 3, isDone: true });
    expect(await change(world, "cancel")).toMatchObject({ changed: 0, isDone: true });
    expect(await world.status(oldest!)).toMatchObject({ status: "running" });
    expect(await world.all("cancels")).toHaveLength(1);
  });

  test("delivers every callback alone, never within the step", async () => {
    const world = await newToldWorld();
    await world.enqueueBatch(many(120));
    await change(world, "cancel", { reason: "The customer left." });
    expect(await world.all("told")).toEqual([]);
    await world.advance(500);
    const told = await world.all("told");
    expect(told).toHaveLength(120);
    expect(told[0]).toMatchObject({ status: "canceled", error: "The customer left." });
  });
});

describe("a filter", () => {
  const cases: [string, JobFilter, number[]][] = [
    ["a priority", { priority: 5 }, [0]],
    ["the usual priority", { priority: 0 }, [1, 2, 3]],
    ["one of several tags", { tags: ["red", "none"] }, [0, 1]],
    ["a group", { group: "g" }, [1]],
    ["a name", { name: "n" }, [2]],
    ["all of its labels", { labels: ["gpu", "eu"] }, [3]],
    ["a label that no job has", { labels: ["gpu", "us"] }, []],
    ["its status", { statuses: ["scheduled"] }, [2]],
    ["several things at once", { tags: ["red"], group: "g" }, [1]],
    ["nothing", {}, [0, 1, 2, 3]],
  ];
  // Shows A19.
  // Rules out D30.
  test.each(cases)("means jobs by %s", async (_, filter, meant) => {
    const world = await newWorld();
    const options = [
      { priority: 5, tags: ["red"] },
      { group: "g", tags: ["blue", "red"] },
      { name: "n", runAfter: 60_000 },
      { labels: ["gpu", "eu"] },
    ];
    const jobs = await world.enqueueJobs(options.map((o, payload) => ({ payload, options: o })));
    await change(world, "cancel", { filter });
    const rows = await Promise.all(jobs.map(({ id }) => world.job(id)));
    const canceled = rows.flatMap(({ status }, i) => (status === "canceled" ? [i] : []));
    expect(canceled).toEqual(meant);
  });

  test("means jobs by when they came and ended", async () => {
    const world = await newWorld();
    const early = await world.enqueue();
    await world.advance(1_000);
    const late = await world.enqueue();
    const enqueuedBefore = Date.now();
    await change(world, "cancel", { filter: { enqueuedBefore } });
    await world.advance(1_000);
    await world.t.mutation(api.operate.cancelJob, { id: late });
    expect(await change(world, "delete", { filter: { finishedBefore: Date.now() } })).toMatchObject(
      {
        changed: 1,
      },
    );
    expect(await world.status(early)).toBeNull();
    expect(await world.status(late)).not.toBeNull();
  });

  test.each([
    [
      "a status that the action does not leave",
      "cancel",
      { statuses: ["failed"] },
      /one or more of "scheduled", "pending", "running" .*; got \["failed"\]\.$/,
    ],
    [
      "an active status to retry",
      "retry",
      { statuses: ["running"] },
      /or none for "failed", "timedOut"; got \["running"\]\.$/,
    ],
    ["no status", "delete", { statuses: [] }, /or none for .*"timedOut"; got \[\]\.$/],
    ["no tag", "delete", { tags: [] }, /must have 1 to 16 items; got 0\./],
    [
      "a name that fits in no job",
      "cancel",
      { name: "n".repeat(20_000) },
      /must be a whole number from 0 to 8192; got 20033\.$/,
    ],
  ] as const)("with %s is refused, and says what there is", async (_, action, filter, rule) => {
    const world = await newWorld();
    await world.enqueue();
    const call = change(world, action, { filter: filter as unknown as JobFilter });
    const { code, message } = await refusal(call);
    expect(code).toBe("invalidArgument");
    expect(message).toMatch(rule);
  });
});

describe("retrying many", () => {
  async function failMany(world: World, count: number): Promise<void> {
    await world.enqueueBatch(many(count));
    const worker = world.worker("first");
    for (let done = 0; done < count;) {
      const jobs = await worker.claim(64);
      await worker.complete(jobs.map((job) => failed(job)));
      done += jobs.length;
    }
  }

  // Shows E15.
  test("takes failed jobs only, oldest first, each once, also where they fail again at once", async () => {
    const world = await newWorld();
    await failMany(world, 130);
    const canceled = await world.enqueue();
    await world.t.mutation(api.operate.cancelJob, { id: canceled });
    const first = await change(world, "retry", { goOn: false, limit: 60 });
    expect(first).toMatchObject({ changed: 60, isDone: false });
    const worker = world.worker("again");
    const jobs = await worker.claim(60);
    await worker.complete(jobs.map((job) => failed(job)));
    let changed = 0;
    for (let cursor = first.cursor; cursor !== undefined;) {
      const reply = await change(world, "retry", { goOn: false, cursor });
      changed += reply.changed;
      cursor = reply.cursor;
    }
    expect(changed).toBe(70);
    expect(await statuses(world)).toEqual({ failed: 60, pending: 70, canceled: 1 });
  });

  test("passes over a job that has lost its key to another job", async () => {
    const world = await newWorld();
    const keyed = [{ payload: 1, options: { key: { value: "k" } } }];
    const [one] = await world.enqueueJobs(keyed);
    await world.t.mutation(api.operate.cancelJob, { id: one!.id });
    const [other] = await world.enqueueJobs(keyed);
    const filter: JobFilter = { statuses: ["canceled"] };
    expect(await change(world, "retry", { filter })).toMatchObject({ changed: 0, isDone: true });
    expect(await world.t.mutation(api.operate.retryJob, { id: one!.id })).toEqual({
      retried: false,
      status: "canceled",
      keyTakenBy: other!.id,
    });
    await world.t.mutation(api.operate.deleteJob, { id: other!.id });
    expect(await change(world, "retry", { filter })).toMatchObject({ changed: 1 });
  });
});

describe("deleting many", () => {
  // Shows WP-34.
  test("takes ended jobs, unless the filter names other statuses", async () => {
    const world = await newWorld();
    await world.enqueueBatch(many(3));
    await change(world, "cancel");
    await world.enqueueBatch(many(2));
    expect(await change(world, "delete")).toMatchObject({ changed: 3, isDone: true });
    expect(await statuses(world)).toEqual({ pending: 2 });
    await change(world, "delete", { filter: { statuses: ["pending"] } });
    expect(await world.all("jobs")).toEqual([]);
  });

  test("goes on within a job of which one transaction cannot delete all rows", async () => {
    const world = await newWorld();
    const [first] = await world.enqueueBatch(many(3));
    await change(world, "cancel");
    await world.t.run(async (ctx) => {
      for (let index = 0; index < 1_200; index += 1) {
        const row = { job: first!, attempt: 1 + (index % 2), index, text: "x", total: 1 };
        await ctx.db.insert("chunks", row);
      }
    });
    expect(await change(world, "delete")).toMatchObject({ changed: 0, isDone: false });
    expect(await world.all("chunks")).toHaveLength(200);
    await world.advance(100);
    expect([await world.all("chunks"), await world.all("jobs")]).toEqual([[], []]);
  });
});

describe("a change that goes on by itself", () => {
  // Rules out D14.
  test("passes over jobs that throw, records them, and changes all other jobs", async () => {
    const world = await newWorld();
    const ids = await world.enqueueBatch(many(160));
    for (const id of [ids[20]!, ids[21]!, ids[120]!]) broken.add(id);
    const { task } = await change(world, "cancel");
    await world.advance(1_500);
    expect(await statuses(world)).toEqual({ canceled: 157, pending: 3 });
    const state = { queue: "tiles", task: task! };
    expect(await world.t.query(api.operate.taskState, state)).toMatchObject({
      state: "done",
      changed: 157,
      failed: 3,
    });
    const events = await world.t.query(api.operate.events, { queue: "tiles" });
    const skipped = events.filter(({ kind }) => kind === "bulkSkipped");
    expect(new Set(skipped.map(({ details }) => details.job))).toEqual(broken);
    expect(skipped[0]!.message).toContain("This job is broken.");
  });

  test("can be stopped, and keeps the changes made so far", async () => {
    const world = await newWorld();
    await world.enqueueBatch(many(250));
    const { task } = await change(world, "cancel");
    const stop = { queue: "tiles", task: task! };
    expect(await world.t.mutation(api.operate.stopTask, stop)).toEqual({ stopped: true });
    await world.advance(200);
    expect(await statuses(world)).toEqual({ canceled: 100, pending: 150 });
    expect(await world.t.query(api.operate.taskState, stop)).toMatchObject({
      state: "stopped",
      changed: 100,
    });
    expect(await world.t.mutation(api.operate.stopTask, stop)).toEqual({ stopped: false });
  });

  test("is invisible to another queue", async () => {
    const world = await newWorld();
    await world.enqueueBatch(many(150));
    const { task } = await change(world, "cancel");
    const foreign = { queue: "others", task: task! };
    expect(await world.t.query(api.operate.taskState, foreign)).toBeNull();
    expect(await world.t.mutation(api.operate.stopTask, foreign)).toEqual({ stopped: false });
    await world.advance(200);
  });

  test("two of them in one queue at one time do not take each other's place", async () => {
    const world = await newWorld();
    await world.enqueueBatch(many(150), { group: "a" });
    await world.enqueueBatch(many(150), { group: "b" });
    await change(world, "cancel", { filter: { group: "a" } });
    await change(world, "cancel", { filter: { group: "b" } });
    await world.advance(300);
    expect(await statuses(world)).toEqual({ canceled: 300 });
  });
});

/** A cursor of the right form but for one part. */
const forged = (part: object) =>
  JSON.stringify({
    ...{ point: { status: 0, after: null }, passes: 0, hasChanged: false, upTo: null, place: null },
    ...part,
  });

/** A point behind a job, but for one part of its key. */
const behindOf = (part: object) => ({
  ...{ status: 0, after: { order: 0, shard: 0, seq: { $: "1" }, creationTime: 1, ...part } },
});

test.each([
  "nonsense",
  "{}",
  "null",
  '{"point":{}}',
  '{"point":{"status":0,"after":null}}',
  forged({ passes: "many" }),
  forged({ passes: -1 }),
  forged({ upTo: 5 }),
  forged({ point: { status: 0.5, after: null } }),
  forged({ point: { status: 0, after: { order: "x" } } }),
  forged({ place: { job: "x", table: "tokens", attempt: 0, within: null } }),
  forged({ upTo: { $: `${2n ** 64n}` } }),
  forged({ point: behindOf({ seq: { $: `${2n ** 63n}` } }) }),
  forged({ point: { ...behindOf({}), passed: ["x"] } }),
])("%s is no cursor", async (cursor) => {
  const world = await newWorld();
  await world.enqueue();
  expect(await refusal(change(world, "cancel", { cursor }))).toMatchObject({
    code: "invalidArgument",
  });
  expect(await world.all("timers")).toEqual([]);
});
