import { describe, expect, test } from "vitest";
import { newWorld, refusal } from "../setup.test.js";

describe("a batch", () => {
  test("has its ids in the order of its payloads", async () => {
    const world = await newWorld({ shards: 8 });
    const ids = await world.enqueueBatch(["a", "b", "c"]);
    const payloads = await Promise.all(ids.map(async (id) => (await world.job(id)).payload));
    expect(payloads).toEqual([{ inline: "a" }, { inline: "b" }, { inline: "c" }]);
  });

  test("is all or nothing: one payload too large, and none is enqueued", async () => {
    const world = await newWorld();
    const refused = await refusal(world.enqueueBatch(["small", "x".repeat(1_100_000)]));
    expect(refused).toMatchObject({ code: "payloadTooLarge", got: 1_100_002 });
    expect(await world.all("jobs")).toEqual([]);
  });

  test.each([0, 1_001])("of %s payloads is refused", async (length) => {
    const world = await newWorld();
    const batch = world.enqueueBatch(Array.from({ length }, () => null));
    expect(await refusal(batch)).toMatchObject({ code: "invalidArgument", got: length });
  });

  // Rules out D27.
  test("of too many bytes together is refused, so that the app's own writes have room", async () => {
    const world = await newWorld();
    const batch = world.enqueueBatch(Array.from({ length: 9 }, () => "x".repeat(1_000_000)));
    expect(await refusal(batch)).toMatchObject({ code: "payloadTooLarge" });
  });

  test("is spread over the queue's shards", async () => {
    const world = await newWorld({ shards: 4 });
    await world.enqueueBatch(Array.from({ length: 200 }, () => null));
    const shards = new Set((await world.all("jobs")).map((job) => job.shard));
    expect([...shards].sort()).toEqual([0, 1, 2, 3]);
  });
});

describe("a payload", () => {
  // Shows WP-18, A9.
  test("of up to 512 bytes lies in the job's row, over that in a row of its own", async () => {
    const world = await newWorld();
    const small = await world.enqueue("x".repeat(510));
    const large = await world.enqueue("x".repeat(511));
    expect((await world.job(small)).payload).toHaveProperty("inline");
    expect((await world.job(large)).payload).toHaveProperty("row");
    const jobs = await world.worker("a").claim(2);
    expect(jobs.map((job) => job.payload.length)).toEqual([510, 511]);
  });

  test("nested deeper than a document may be is refused before the platform would", async () => {
    const world = await newWorld();
    let payload: any = 1;
    for (let i = 0; i < 15; i += 1) payload = { payload };
    expect(await refusal(world.enqueue(payload))).toMatchObject({ code: "invalidPayload" });
  });
});

describe("a queue's declaration", () => {
  // Shows WP-12.
  // Rules out D25.
  test("is written by the first call, and left alone by calls that repeat it", async () => {
    const world = await newWorld();
    await world.enqueue();
    const [row] = await world.all("queues");
    const { onComplete: _, ...config } = { ...world.queue.config, onComplete: undefined };
    world.queue.config = Object.fromEntries(Object.entries(config).reverse()) as typeof config;
    await world.advance(60_000);
    await world.enqueue();
    expect(await world.all("queues")).toEqual([row]);
  });

  test("that has changed is applied by the next call", async () => {
    const world = await newWorld();
    await world.enqueue();
    await world.advance(10_000);
    world.queue.config = { ...world.queue.config, leaseMs: 5_000 };
    await world.enqueue();
    expect((await world.all("queues"))[0]?.config.leaseMs).toBe(5_000);
  });

  // Rules out D25, P19.
  test("that two deployed versions turn to and fro is written once a second, not with every call", async () => {
    const world = await newWorld();
    const writes = new Set<number>();
    for (let i = 0; i < 40; i += 1) {
      world.queue.config = { ...world.queue.config, leaseMs: i % 2 === 0 ? 5_000 : 6_000 };
      await world.enqueue();
      writes.add((await world.all("queues"))[0]!.configuredAt);
      await world.advance(50);
    }
    expect(writes.size).toBeLessThanOrEqual(3);
  });

  test("that has Convex run its jobs holds at once, for the job that came with it; and ends when a second is over", async () => {
    const world = await newWorld();
    await world.enqueue();
    const { config } = world.queue;
    const isPushed = async () => (await world.all("queues"))[0]!.config.push === true;
    await world.advance(100);
    world.queue.config = { ...config, push: true };
    await world.enqueue();
    const calls = await world.t.run((ctx) => ctx.db.system.query("_scheduled_functions").collect());
    expect(calls.map(({ name }) => name)).toContain("push/wake:wake");
    for (let i = 0; i < 9; i += 1) {
      await world.advance(100);
      world.queue.config = i % 2 === 0 ? config : { ...config, push: true };
      await world.enqueue();
      expect(await isPushed()).toBe(true);
    }
    await world.advance(100);
    world.queue.config = config;
    await world.enqueue();
    expect(await isPushed()).toBe(false);
  });

  test.each([
    ["name", { name: "no spaces" }],
    ["name", { name: "" }],
    ["name", { name: "x".repeat(65) }],
    ["leaseMs", { leaseMs: 0 }],
    ["leaseMs", { leaseMs: -1_000 }],
    ["leaseMs", { leaseMs: 1e12 }],
    ["leaseMs", { leaseMs: NaN }],
    ["maxResets", { maxResets: -1 }],
    ["maxResets", { maxResets: 1.5 }],
    ["shards", { shards: 0 }],
    ["shards", { shards: 65 }],
  ])("with an absurd %s is refused: %o", async (_what, wrong) => {
    const world = await newWorld();
    const { name, ...config } = { name: "tiles", ...world.queue.config, ...wrong };
    world.queue.name = name;
    world.queue.config = config;
    expect(await refusal(world.enqueue())).toMatchObject({ code: "invalidArgument" });
  });
});
