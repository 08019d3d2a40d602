import { describe, expect, test } from "vitest";
import { api, internal } from "../_generated/api.js";
import type { ClaimedJob } from "../../shared/index.js";
import { newWorld, refusal, released, succeeded, type Worker } from "../setup.test.js";

/** Claims until there is nothing left: one call takes only a part of another worker's jobs. */
async function claimAll(worker: Worker): Promise<ClaimedJob[]> {
  const jobs: ClaimedJob[] = [];
  for (;;) {
    const more = await worker.claim(64);
    if (more.length === 0) return jobs;
    jobs.push(...more);
  }
}

describe("a claim takes", () => {
  // Shows SG-02, G1.
  test("jobs in commit order, with their payloads, and no more than asked for", async () => {
    const world = await newWorld();
    for (const payload of ["a", "b", "c"]) await world.enqueue(payload);
    const jobs = await world.worker("w").claim(2);
    expect(jobs.map((job) => job.payload)).toEqual(["a", "b"]);
  });

  // Shows C31.
  test("no job twice: a job of one worker is not given to another", async () => {
    const world = await newWorld();
    await world.enqueueBatch([1, 2, 3]);
    const mine = await world.worker("a").claim(2);
    await world.advance(500);
    const theirs = await world.worker("b").claim(64);
    expect([...mine, ...theirs].map((job) => job.payload).sort()).toEqual([1, 2, 3]);
  });

  test("from every shard, when it is alone", async () => {
    const world = await newWorld({ shards: 8 });
    await world.enqueueBatch(Array.from({ length: 16 }, (_, i) => i));
    expect(await world.worker("a").claim(64)).toHaveLength(16);
  });

  // Shows LF-09, C12, C21.
  // Rules out D12.
  test("from another worker's shards only jobs that have waited, so that the owner has no conflicts", async () => {
    const world = await newWorld({ shards: 2 });
    const [a, b] = [world.worker("a"), world.worker("b")];
    await a.claim();
    await b.claim();
    await world.enqueueBatch(Array.from({ length: 40 }, (_, i) => i));
    const fresh = await b.claim(64);
    expect(fresh.length).toBeLessThan(40);
    await world.advance(250);
    const waited = await claimAll(b);
    expect(fresh.length + waited.length).toBe(40);
  });

  test("of another worker's shards a quarter, so that its next batch is seldom robbed", async () => {
    const world = await newWorld({ shards: 2 });
    const [a, b] = [world.worker("a"), world.worker("b")];
    await a.claim();
    await b.claim();
    await world.enqueueBatch(Array.from({ length: 40 }, (_, i) => i));
    const rest = 40 - (await b.claim(64)).length;
    await world.advance(250);
    const stolen = await b.claim(64);
    expect(stolen.length).toBeGreaterThan(0);
    expect(stolen.length).toBeLessThanOrEqual(Math.max(1, rest / 4));
  });

  // Shows WP-30, C7.
  test("at most 64 leases a session, however often it asks", async () => {
    const world = await newWorld();
    await world.enqueueBatch(Array.from({ length: 100 }, (_, i) => i));
    const worker = world.worker("a");
    expect(await worker.claim(60)).toHaveLength(60);
    expect(await worker.claim(60)).toHaveLength(4);
    expect(await worker.claim(60)).toEqual([]);
  });

  // Rules out D27.
  test("at most 4 MiB of payloads, but always one job, or a large one would never run", async () => {
    const world = await newWorld();
    const large = "x".repeat(1_000_000);
    for (let i = 0; i < 6; i += 1) await world.enqueue(large);
    const worker = world.worker("a");
    expect(await worker.claim(6)).toHaveLength(4);
    const [job, ...none] = await worker.claim(1);
    expect(job?.payload).toBe(large);
    expect(none).toEqual([]);
  });

  test("the jobs that a batch stopped by its bytes left behind, with the next claim", async () => {
    const world = await newWorld();
    for (let i = 0; i < 6; i += 1) await world.enqueue("x".repeat(1_000_000));
    const worker = world.worker("a");
    expect(await worker.claim(6)).toHaveLength(4);
    expect(await worker.claim(6)).toHaveLength(2);
  });

  test("also where its scan reached the end of the shard: the cursor stays before jobs that were not taken", async () => {
    const world = await newWorld();
    const ids: string[] = [];
    for (let i = 0; i < 6; i += 1) ids.push(await world.enqueue("x".repeat(900_000)));
    const worker = world.worker("a");
    const [first, second] = [await worker.claim(64), await worker.claim(64)];
    expect([...first, ...second].map((job) => job.id)).toEqual(ids);
  });

  test("jobs left in shards that the queue has no longer", async () => {
    const world = await newWorld({ shards: 8 });
    await world.enqueueBatch(Array.from({ length: 16 }, (_, i) => i));
    await world.advance(11_000);
    world.queue.config = { ...world.queue.config, shards: 1 };
    await world.enqueue();
    expect(await world.worker("a").claim(64)).toHaveLength(17);
  });
});

describe("a call that is repeated, since its reply was lost", () => {
  // Shows SG-45.
  // Rules out D11.
  test("returns the jobs of the first, and claims no more", async () => {
    const world = await newWorld();
    await world.enqueueBatch([1, 2, 3, 4]);
    const worker = world.worker("a");
    const first = await worker.claim(2);
    const again = await worker.claim(2, { n: 1 });
    expect(again).toEqual(first);
    expect((await worker.session()).leases).toHaveLength(2);
  });

  test("returns only its own jobs, not the jobs of calls before it", async () => {
    const world = await newWorld();
    await world.enqueueBatch([1, 2, 3]);
    const worker = world.worker("a");
    await worker.claim(1);
    const second = await worker.claim(1);
    expect(await worker.claim(1, { n: 2 })).toEqual(second);
  });

  test("leaves out a job after the end of its lease", async () => {
    const world = await newWorld();
    await world.enqueue();
    const worker = world.worker("a");
    await worker.claim();
    await world.advance(10_500);
    expect(await worker.claim(1, { n: 1 })).toEqual([]);
  });

  test("is refused when a later call has been made: its answer is no longer known", async () => {
    const world = await newWorld();
    const worker = world.worker("a");
    await worker.claim();
    await worker.claim();
    expect(await refusal(worker.claim(1, { n: 1 }))).toMatchObject({ code: "staleCall" });
  });
});

describe("the private cursor", () => {
  // Shows WP-06, G2.
  // Rules out D6c, P4.
  test("passes no row of a tie that was seen and not taken: a batch is drained one by one", async () => {
    const world = await newWorld();
    await world.enqueueBatch([0, 1, 2, 3, 4]);
    const worker = world.worker("a");
    const drained: unknown[] = [];
    for (let i = 0; i < 5; i += 1) drained.push((await worker.claim(1))[0]?.payload);
    expect(drained).toEqual([0, 1, 2, 3, 4]);
  });

  // Shows WP-05.
  // Rules out D6d.
  test("finds jobs enqueued after it reached the end, and in the same millisecond", async () => {
    const world = await newWorld();
    const worker = world.worker("a");
    await world.enqueue(1);
    expect(await worker.claim(5)).toHaveLength(1);
    await world.enqueue(2);
    expect(await worker.claim(5)).toHaveLength(1);
  });

  test("finds a job that was returned, although its first place lies below", async () => {
    const world = await newWorld();
    await world.enqueueBatch([1, 2]);
    const worker = world.worker("a");
    const [first] = await worker.claim(2);
    await worker.claim(2);
    await worker.complete([released(first!)]);
    expect((await worker.claim(2)).map((job) => job.id)).toEqual([first!.id]);
  });

  test("never passes a shard's young jobs that only their owner may take", async () => {
    const world = await newWorld({ shards: 2 });
    const [a, b] = [world.worker("a"), world.worker("b")];
    await a.claim();
    await b.claim();
    await world.enqueueBatch(Array.from({ length: 20 }, (_, i) => i));
    const first = await b.claim(64);
    await world.advance(250);
    const rest = await claimAll(b);
    expect(first.length + rest.length).toBe(20);
  });

  // Rules out D6e.
  test("is forgotten when the queue's epoch changes, as after an import of old rows", async () => {
    const world = await newWorld();
    const worker = world.worker("a");
    const { seq } = await world.job(await world.enqueue());
    const [job] = await worker.claim(2);
    await worker.complete([succeeded(job!)]);
    // As after an import: a row with an old `seq` appears below every cursor.
    const imported = await world.enqueue();
    await world.t.run((ctx) => ctx.db.patch("jobs", imported, { seq }));
    expect(await worker.claim(2)).toEqual([]);
    await world.t.mutation(internal.rows.queues.forgetCursors, { queue: "tiles" });
    expect(await worker.claim(2)).toHaveLength(1);
  });

  test("is refused when it is no cursor of ours", async () => {
    const world = await newWorld();
    const worker = world.worker("a");
    worker.cursor = "now";
    expect(await refusal(worker.claim())).toMatchObject({ code: "invalidArgument" });
  });
});

describe("a session that has gone silent", () => {
  test("a session that comes back after it was given up is as good as new", async () => {
    const world = await newWorld();
    await world.enqueue();
    const worker = world.worker("a");
    await worker.claim();
    await world.advance(10_500);
    expect(await worker.claim()).toHaveLength(1);
    expect((await worker.session()).state).toBe("active");
  });
});

describe("bad input", () => {
  test.each([0, -1, 65, 1.5, NaN, Infinity])("max %s is refused", async (max) => {
    const world = await newWorld();
    const refused = await refusal(world.worker("a").claim(max));
    expect(refused).toMatchObject({ code: "invalidArgument" });
    expect(refused.message).toContain("from 1 to 64");
  });

  test.each([0, -3, 2.5, NaN])("call counter %s is refused", async (n) => {
    const world = await newWorld();
    const refused = await refusal(world.worker("a").claim(1, { n }));
    expect(refused).toMatchObject({ code: "invalidArgument" });
  });

  test("no queue, and one queue twice, are refused", async () => {
    const world = await newWorld();
    const { token, queue } = world;
    const call = { token, sessionKey: "s", callSeq: 1, name: "a", max: 1 };
    for (const queues of [[], [queue, queue]]) {
      const refused = await refusal(world.t.mutation(api.lib.claim, { ...call, queues }));
      expect(refused).toMatchObject({ code: "invalidArgument" });
    }
  });
});
