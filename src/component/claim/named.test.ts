/** Jobs by name: the names in a subscription's answer, and a claim's treatment of every kind of name. */
import { describe, expect, test } from "vitest";
import { LEASES_MAX, NAMED_MAX, NAMED_WAITED_MS } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import type { Id } from "../_generated/dataModel.js";
import { failed, newWorld, refusal, released, type Worker, type World } from "../setup.test.js";

const SHARDS = { shards: 8 };
const RETRY = { maxAttempts: 3, initialBackoffMs: 1_000, base: 2, maxBackoffMs: 60_000 };
const NOTHING = { jobs: [], more: false };
const MORE = { jobs: [], more: true };

/** A claim that names jobs, and searches these queues besides. */
async function claimNamed(
  worker: Worker,
  named: string[],
  options: { max?: number; lookIn?: string[]; waited?: boolean; placed?: boolean } = {},
) {
  worker.n += 1;
  const { world, token, sessionKey, n, name } = worker;
  const { max = 64, lookIn = [], ...rest } = options;
  const args = {
    token,
    sessionKey,
    callSeq: n,
    name,
    queues: [world.queue],
    max,
    named,
    lookIn,
    ...rest,
  };
  return await world.t.mutation(api.lib.claim, args);
}

async function idsOf(claimed: ReturnType<typeof claimNamed>): Promise<string[]> {
  return (await claimed).jobs.map(({ id }) => id);
}

describe("a subscription names", () => {
  test("the jobs that wait, in commit order, and nothing where none does", async () => {
    const world = await newWorld(SHARDS);
    const worker = world.worker("a");
    expect(await worker.waiting()).toEqual(NOTHING);
    const ids = [await world.enqueue(1), await world.enqueue(2), await world.enqueue(3)];
    expect(await worker.waiting()).toEqual({ jobs: ids.map((id) => ({ id })), more: false });
    await claimNamed(worker, [ids[1]!]);
    expect(await worker.waiting()).toEqual({
      jobs: [{ id: ids[0] }, { id: ids[2] }],
      more: false,
    });
  });

  test("none of more than are named", async () => {
    const world = await newWorld(SHARDS);
    await world.enqueueBatch(Array.from({ length: 4 * NAMED_MAX }, (_, n) => n));
    expect(await world.worker("a").waiting()).toEqual(MORE);
  });

  /** Moves waiting jobs: the jobs of one transaction are spread at random. */
  async function lie(world: World, shards: number[], ids: string[]): Promise<void> {
    await world.t.run(async ({ db }) => {
      for (const [i, id] of ids.entries())
        await db.patch("jobs", id as Id<"jobs">, { shard: shards[i % shards.length]! });
    });
  }

  test("as many as may be named, wherever they lie, in commit order, and none of one more", async () => {
    const world = await newWorld(SHARDS);
    const ids: string[] = [];
    for (let n = 0; n < NAMED_MAX; n += 1) ids.push(await world.enqueue(n));
    for (const shards of [[0], [7, 2, 5, 0]]) {
      await lie(world, shards, ids);
      const jobs = ids.map((id) => ({ id }));
      expect(await world.worker("a").waiting()).toEqual({ jobs, more: false });
    }
    await lie(world, [0], [...ids, await world.enqueue(0)]);
    expect(await world.worker("a").waiting()).toEqual(MORE);
  });

  test("none where more may lie in one place than it reads, so that no job is left unnamed", async () => {
    const world = await newWorld(SHARDS);
    await lie(world, [3], await world.enqueueBatch([1, 2, 3, 4, 5]));
    expect(await world.worker("a").waiting()).toEqual(MORE);
  });

  test.each([
    ["of different priorities", [{ priority: 1 }, {}]],
    ["of the lowest and the highest", [{ priority: -10 }, { priority: 10 }]],
  ])("none of jobs %s: a claim looks which goes first", async (_what, options) => {
    const world = await newWorld(SHARDS);
    for (const option of options) await world.enqueue(0, option);
    expect(await world.worker("a").waiting()).toEqual(MORE);
  });

  test("none where one has come back, and goes before another; alone, with the workers that failed it", async () => {
    const world = await newWorld({ ...SHARDS, retry: RETRY });
    const worker = world.worker("a");
    const id = await world.enqueue(0);
    const [job] = await worker.claim();
    await worker.complete([failed(job!)]);
    await world.advance(2_000);
    expect(await worker.waiting()).toEqual({ jobs: [{ id, failedBy: ["a"] }], more: false });
    await world.enqueue(1);
    expect(await worker.waiting()).toEqual(MORE);
  });

  test.each([{ shards: 1 }, { ...SHARDS, circular: true }])(
    "none of a queue that keeps an order: %o",
    async (config) => {
      const world = await newWorld(config);
      expect(await world.worker("a").waiting()).toEqual(NOTHING);
      await world.enqueue(0);
      expect(await world.worker("a").waiting()).toEqual(MORE);
    },
  );

  test("only the jobs that the worker may have", async () => {
    const world = await newWorld(SHARDS);
    const plain = await world.enqueue(0);
    await world.enqueue(1, { labels: ["gpu"] });
    await world.enqueue(2, { cost: 9 });
    const worker = world.worker("a");
    expect(await worker.waiting({ maxCost: 4 })).toEqual({ jobs: [{ id: plain }], more: false });
  });

  test("one queue's at a time", async () => {
    const world = await newWorld();
    const args = { token: world.token, queues: ["tiles", "others"], naming: true };
    expect(await refusal(world.t.query(api.lib.hasWork, args))).toMatchObject({
      code: "invalidArgument",
    });
  });
});

describe("a claim that names jobs", () => {
  test("takes these, in any session's shard, and no other", async () => {
    const world = await newWorld(SHARDS);
    const [, second, , fourth] = await world.enqueueBatch([1, 2, 3, 4]);
    expect(await idsOf(claimNamed(world.worker("a"), [fourth!, second!]))).toEqual([
      fourth,
      second,
    ]);
  });

  test("takes no more than it has room for", async () => {
    const world = await newWorld(SHARDS);
    const ids = await world.enqueueBatch([1, 2, 3]);
    expect(await idsOf(claimNamed(world.worker("a"), ids, { max: 2 }))).toHaveLength(2);
  });

  test("passes over a job that is taken, paused, ended, too dear, of no queue of its, named twice, or no id at all", async () => {
    const world = await newWorld(SHARDS);
    const [mine, taken, canceled] = await world.enqueueBatch([1, 2, 3]);
    const gpu = await world.enqueue(4, { labels: ["gpu"] });
    await claimNamed(world.worker("b"), [taken!]);
    await world.cancel(canceled!);
    const other = { name: "other", config: world.queue.config };
    const [foreign] = await world.t.mutation(api.lib.enqueue, {
      queue: other,
      jobs: [{ payload: 5, options: {} }],
    });
    const named = ["no id", taken!, canceled!, gpu, foreign!.id, mine!, mine!];
    expect(await idsOf(claimNamed(world.worker("a"), named))).toEqual([mine]);
  });

  test("passes over a job whose queue was paused after it was named, and takes the jobs of other queues", async () => {
    const world = await newWorld(SHARDS);
    const other = { name: "other", config: world.queue.config };
    const jobs = [{ payload: 2, options: {} }];
    const [paused] = await world.t.mutation(api.lib.enqueue, { queue: other, jobs });
    const mine = await world.enqueue(1);
    await world.t.run(async ({ db }) => {
      const rows = await db.query("queues").collect();
      await db.patch("queues", rows.find(({ name }) => name === "other")!._id, { pausedAt: 1 });
    });
    const { token, queue } = world;
    const claimed = world.t.mutation(api.lib.claim, {
      ...{ token, sessionKey: "s", callSeq: 1, name: "a", queues: [queue, other], max: 9 },
      ...{ named: [paused!.id, mine], lookIn: [] },
    });
    expect(await idsOf(claimed)).toEqual([mine]);
  });

  test("takes nothing by its name from a queue that keeps an order, but searches it if the claim says so", async () => {
    const world = await newWorld();
    const [first, second] = await world.enqueueBatch([1, 2]);
    const worker = world.worker("a");
    expect(await idsOf(claimNamed(worker, [second!]))).toEqual([]);
    expect(await idsOf(claimNamed(worker, [second!], { max: 1, lookIn: ["tiles"] }))).toEqual([
      first,
    ]);
  });

  test("names no more than it could hold", async () => {
    const world = await newWorld();
    const named = Array.from({ length: LEASES_MAX + 1 }, () => "x");
    expect(await refusal(claimNamed(world.worker("a"), named))).toMatchObject({
      code: "invalidArgument",
    });
  });

  test("finds, in the queues searched besides, jobs that have waited, and leaves new ones alone", async () => {
    const world = await newWorld(SHARDS);
    const worker = world.worker("a");
    const old = await world.enqueue(1);
    await world.advance(NAMED_WAITED_MS + 100);
    await world.enqueue(2);
    const look = { lookIn: ["tiles"], waited: true };
    expect(await idsOf(claimNamed(worker, ["gone"], look))).toEqual([old]);
  });

  test("returns its places, unless it knows them", async () => {
    const world = await newWorld(SHARDS);
    await world.worker("b").claim();
    const worker = world.worker("a");
    const [first, second] = await world.enqueueBatch([1, 2]);
    const told = await claimNamed(worker, [first!]);
    expect(told.places).toEqual([{ size: 2, rank: 0, queues: ["tiles"] }]);
    const known = await claimNamed(worker, [second!], { placed: true });
    expect({ jobs: known.jobs.length, places: known.places, fleet: known.fleet }).toEqual({
      jobs: 1,
    });
  });

  test("makes sure of a sweep, as any claim", async () => {
    const world = await newWorld(SHARDS);
    const id = await world.enqueue(1);
    const worker = world.worker("a");
    const [job] = (await claimNamed(worker, [id], { placed: true })).jobs;
    expect(await world.all("timers")).not.toEqual([]);
    await worker.complete([released(job!)]);
  });
});
