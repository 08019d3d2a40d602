/** What a claim answers besides its jobs, which queues and which part of them it reads, and what it leaves behind. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { JANITOR_SLACK_MS, LEASES_MAX, TEND_LATE_MS } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { ACTION } from "../push/laneRows.test.js";
import { FIRST_PLACE, FULL, WATCHING } from "../rows/duties.js";
import { newWorld, succeeded, type Worker } from "../setup.test.js";

afterEach(() => void vi.restoreAllMocks());

/** The whole answer of a claim; `callSeq`: of a call that is repeated. */
async function claims(worker: Worker, args: object = {}, callSeq = worker.n + 1) {
  const { world, token, sessionKey, name } = worker;
  worker.n = callSeq;
  return await world.t.mutation(api.lib.claim, {
    ...{ token, sessionKey, callSeq, name, queues: [world.queue], max: 1 },
    ...args,
  });
}

const payloads = ({ jobs }: { jobs: { payload?: unknown }[] }) => jobs.map((job) => job.payload);

/** The cursor of a worker that has found the queue's jobs so far to be taken. */
const CURSOR = JSON.stringify({ tiles: [0, ["5", 1, [20, 0]]] });
const SILENT = ["cursor", "jobs", "session"];

describe("the answer of a claim", () => {
  test("has its jobs, cursor, session and places, and no field that says nothing", async () => {
    const world = await newWorld();
    await world.enqueue("a");
    const worker = world.worker("w");
    const { jobs, cursor, session, ...others } = await claims(worker);
    expect(payloads({ jobs })).toEqual(["a"]);
    expect([typeof cursor, session]).toEqual(["string", (await worker.session())._id]);
    const place = { size: 1, rank: 0 };
    expect(others).toEqual({ fleet: place, places: [{ ...place, queues: ["tiles"] }] });
  });

  test("has no places, and the cursor that it was given, where the worker is full or its queue is paused", async () => {
    const world = await newWorld();
    await world.enqueueBatch(Array.from({ length: LEASES_MAX }, (_, n) => n));
    const worker = world.worker("w");
    await claims(worker, { max: LEASES_MAX });
    const full = await claims(worker, { cursor: CURSOR });
    await world.t.mutation(api.operate.pauseQueue, { queue: "tiles" });
    const paused = await claims(world.worker("v"), { cursor: CURSOR });
    for (const reply of [full, paused]) {
      expect(Object.keys(reply).sort()).toEqual(SILENT);
      expect(JSON.parse(reply.cursor)).toEqual(JSON.parse(CURSOR));
    }
  });

  test("is the same when the claim is repeated, but for the places", async () => {
    const world = await newWorld();
    await world.enqueue("a");
    const worker = world.worker("w");
    const { jobs, cursor, session } = await claims(worker);
    expect(cursor).not.toBe("{}");
    expect(await claims(worker, {}, 1)).toEqual({ jobs, cursor, session });
  });

  test("leaves out a job that has been deleted when the claim is repeated", async () => {
    const world = await newWorld();
    const [gone] = await world.enqueueBatch(["gone", "left"]);
    const worker = world.worker("w");
    expect(payloads(await claims(worker, { max: 2 }))).toEqual(["gone", "left"]);
    await world.t.run((ctx) => ctx.db.delete("jobs", gone!));
    expect(payloads(await claims(worker, { max: 2 }, 1))).toEqual(["left"]);
  });

  test("says that a sweep is late, for as long as it is", async () => {
    const world = await newWorld();
    await world.enqueue("lost");
    await claims(world.worker("dead"));
    await world.stopAlarms();
    const worker = world.worker("w");
    expect(await claims(worker)).not.toHaveProperty("isLate");
    await world.advance(10_000 + JANITOR_SLACK_MS + TEND_LATE_MS + 5_000);
    expect(await claims(worker)).toMatchObject({ isLate: true });
    worker.isLate = true;
    await worker.tend();
    expect(await claims(worker)).not.toHaveProperty("isLate");
  });

  test("says that an operator has the worker claim nothing: it has no job, whether found or named", async () => {
    const world = await newWorld({ shards: 8 });
    const worker = world.worker("w");
    await claims(worker);
    const { _id: id } = await worker.session();
    await world.t.mutation(api.operate.quietWorker, { id });
    const named = [await world.enqueue("a")];
    for (const args of [{}, { named }])
      expect(await claims(worker, args)).toMatchObject({ jobs: [], isQuiet: true });
    expect(await claims(world.worker("v"), { named })).not.toHaveProperty("isQuiet");
  });
});

describe("a claim reads", () => {
  test("new jobs, which are left to workers outside for a while", async () => {
    const world = await newWorld({ push: true, handler: ACTION, fallbackAfterMs: 10_000 });
    const worker = world.worker("w");
    await claims(worker);
    await world.enqueue("new");
    expect(payloads(await claims(worker))).toEqual(["new"]);
  });

  test("its queue from the start without a cursor, however far the session's last claim has come", async () => {
    const world = await newWorld();
    const worker = world.worker("w");
    const { seq } = await world.job(await world.enqueue("first"));
    const { jobs, cursor } = await claims(worker, { max: 2 });
    await worker.complete([succeeded(jobs[0]!)]);
    // As after an import: it lies below the cursor.
    const old = await world.enqueue("old");
    await world.t.run((ctx) => ctx.db.patch("jobs", old, { seq }));
    expect(payloads(await claims(worker, { cursor }))).toEqual([]);
    expect(payloads(await claims(worker))).toEqual(["old"]);
  });

  test("no queue besides the ones of its named jobs and the ones that it searches: another is not even declared", async () => {
    const world = await newWorld({ shards: 8 });
    const { config } = world.queue;
    const queues = ["tiles", "searched", "other"].map((name) => ({ name, config }));
    const named = [await world.enqueue("a")];
    const declared = async () => (await world.all("queues")).map(({ name }) => name);
    const worker = world.worker("w");
    expect(payloads(await claims(worker, { queues, named, lookIn: [] }))).toEqual(["a"]);
    expect(await declared()).toEqual(["tiles"]);
    await claims(worker, { queues, named: [], lookIn: ["searched"] });
    expect(await declared()).toEqual(["tiles", "searched"]);
    await claims(worker, { queues });
    expect(await declared()).toEqual(["tiles", "searched", "other"]);
  });

  test("no offered row of a paused queue, and takes the ones of another", async () => {
    const world = await newWorld();
    const other = { name: "other", config: world.queue.config };
    await world.t.mutation(api.lib.declare, { queues: [world.queue, other] });
    await world.t.mutation(api.operate.pauseQueue, { queue: "tiles" });
    const rows = ["tiles", "other"].map((queue) => ({ queue, ids: [`of ${queue}`] }));
    const worker = world.worker("w");
    expect(payloads(await claims(worker, { rows, max: 9 }))).toEqual([]);
    const both = { queues: [world.queue, other], rows, max: 9 };
    expect(payloads(await claims(worker, both))).toEqual(["of other"]);
  });
});

test("a claim without a job leaves no timer: a sweep comes for leases alone", async () => {
  const world = await newWorld();
  await claims(world.worker("w"));
  expect(await world.all("timers")).toEqual([]);
  await world.enqueue();
  await claims(world.worker("v"));
  expect(await world.all("timers")).toMatchObject([{ kind: "janitor" }]);
});

test("a claim of a worker that has stood by, or watches, takes a new job in another's shard, as one that answers a wake, and as no other does", async () => {
  vi.spyOn(Math, "random").mockReturnValue(0.99);
  for (const [standbySince, woken, taken] of [
    [undefined, false, 0],
    [FULL, false, 0],
    [WATCHING, false, 1],
    [FIRST_PLACE, false, 1],
    [undefined, true, 1],
  ] as const) {
    const world = await newWorld({ shards: 8 });
    const workers = ["a", "b", "c", "d"].map((name) => world.worker(name));
    for (const worker of workers) await claims(worker);
    const [worker] = workers;
    const { _id } = await worker!.session();
    await world.t.run((ctx) => ctx.db.patch("sessions", _id, { standbySince }));
    await world.enqueue();
    expect((await claims(worker!, { woken })).jobs).toHaveLength(taken);
  }
});
