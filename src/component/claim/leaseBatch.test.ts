import { describe, expect, test, vi } from "vitest";
import { CLAIM_MAX_BYTES, type JobOptions } from "../../shared/index.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import { describe as describeJob, newLeaseBatch, take, type LeaseBatch } from "./leaseBatch.js";
import { findQueue } from "../rows/queues.js";
import { newWorld, released, type World } from "../setup.test.js";

/** A session that has beaten, and no more. */
async function met(world: World): Promise<Doc<"sessions">> {
  const worker = world.worker("w");
  await worker.heartbeat([]);
  await worker.claim();
  return await worker.session();
}

/** The batch of a claim that takes these jobs, where they are seen now. Nothing of it stands. */
async function taking(
  world: World,
  ids: readonly Id<"jobs">[],
  by: Partial<LeaseBatch> & { session: Doc<"sessions"> },
  between: (batch: LeaseBatch) => void = () => undefined,
): Promise<LeaseBatch> {
  let made: LeaseBatch | undefined;
  const call = world.t.run(async (ctx) => {
    const queue = (await findQueue(ctx.db, "tiles"))!;
    const offer = { labels: [], maxCost: undefined, groups: [] };
    const batch = newLeaseBatch({
      ...{ callSeq: 9, queues: new Map([["tiles", queue]]), offer, max: 8, now: Date.now() },
      ...{ carries: Infinity, endsAt: Infinity, ...by },
    });
    for (const id of ids) {
      await take(ctx, batch, id, ((await ctx.db.get("jobs", id))?.seq ?? 0n) as bigint);
      between(batch);
    }
    made = batch;
    throw new Error("Nothing stands.");
  });
  await expect(call).rejects.toThrow("Nothing stands.");
  return made!;
}

/** The same session, as that of a lane. */
const asLane = (session: Doc<"sessions">) => ({ ...session, lane: "lane" as Id<"lanes"> });
const handler = { kind: "action", handle: "function://send", takes: "payload" } as const;
const payloadsOf = ({ jobs }: LeaseBatch) => jobs.map(({ payload }) => payload);

test("a job that has moved since it was seen is left at its present place, behind other jobs", async () => {
  const world = await newWorld();
  const id = await world.enqueue();
  const worker = world.worker("w");
  await worker.heartbeat([]);
  await worker.claim().then((jobs) => worker.complete(jobs.map((job) => released(job))));
  const seen = (await world.job(id)).seq as bigint;
  const session = await worker.session();
  const took = async (seq: bigint) =>
    await world.t.run(async (ctx) => {
      const queue = (await findQueue(ctx.db, "tiles"))!;
      const offer = { labels: [], maxCost: undefined, groups: [] };
      const by = {
        ...{ session, callSeq: 9, queues: new Map([["tiles", queue]]), offer },
        ...{ max: 1, now: Date.now(), carries: Infinity, endsAt: Infinity },
      };
      const batch = newLeaseBatch(by);
      await take(ctx, batch, id, seq);
      const leased = batch.leases.length;
      // Nothing of this is to stand: the session's row knows nothing of the lease.
      if (leased > 0) throw new Error("taken");
      return [leased, batch.dealtWith.has(id)];
    });
  expect(await took(seen - 1n)).toEqual([0, true]);
  await expect(took(seen)).rejects.toThrow("taken");
});

describe("a batch", () => {
  test("takes no job beyond its room, and of a job that is gone or is no longer to be had only says so", async () => {
    const world = await newWorld();
    const session = await met(world);
    const ids = await world.enqueueBatch(["a", "b", "c"]);
    expect(payloadsOf(await taking(world, ids, { session, max: 2 }))).toEqual(["a", "b"]);
    await world.cancel(ids[0]!);
    await world.t.run((ctx) => ctx.db.patch("jobs", ids[1]!, { paused: true, order: 1_000 }));
    await world.t.run((ctx) => ctx.db.delete("jobs", ids[0]!));
    const batch = await taking(world, ids, { session });
    expect(payloadsOf(batch)).toEqual(["c"]);
    expect([...batch.dealtWith].sort()).toEqual([...ids].sort());
  });

  test("takes its first job at any size, and another only while all of them fit one answer", async () => {
    const world = await newWorld();
    const session = await met(world);
    const ids = await world.enqueueBatch(["a", "b", "c"]);
    const sized = async (bytes: number) =>
      await taking(world, ids, { session }, (batch) => void (batch.bytes = bytes));
    const { bytes } = await taking(world, ids.slice(0, 1), { session });
    expect(bytes).toBeGreaterThan(0);
    expect((await taking(world, ids, { session })).bytes).toBe(3 * bytes);
    expect(payloadsOf(await sized(CLAIM_MAX_BYTES - bytes))).toEqual(["a", "b", "c"]);
    const cut = await sized(CLAIM_MAX_BYTES - bytes + 1);
    expect(payloadsOf(cut)).toEqual(["a"]);
    expect(cut.full).toBe(true);
    // A smaller one behind it would pass it.
    const full = await taking(world, ids, { session }, (batch) => void (batch.full = true));
    expect(payloadsOf(full)).toEqual(["a"]);
  });

  test("adds up what its jobs cost, and stays within the budget", async () => {
    const world = await newWorld();
    const session = await met(world);
    const ids = await world.enqueueBatch(["a", "b", "c"], { cost: 3 });
    const offer = { labels: [], maxCost: 7, groups: [] };
    const batch = await taking(world, ids, { session, offer });
    expect(payloadsOf(batch)).toEqual(["a", "b"]);
    expect(batch.cost).toBe(6);
  });

  test("leaves a job of a queue from which it does not take", async () => {
    const world = await newWorld();
    const session = await met(world);
    const batch = await taking(world, [await world.enqueue()], { session, queues: new Map() });
    expect([batch.jobs, [...batch.dealtWith]]).toEqual([[], []]);
  });
});

describe("a lease", () => {
  test("of a worker has its queue's duration, its grace and the end of its attempt, as far as there are any", async () => {
    const leaseBy = async (graceMs: number, options: JobOptions) => {
      const world = await newWorld({ leaseMs: 7_000, graceMs });
      const session = await met(world);
      const id = await world.enqueue({}, options);
      const { leases } = await taking(world, [id], { session });
      return { ...leases[0]!, id: undefined };
    };
    const plain = { id: undefined, attempt: 1, callSeq: 9, queue: "tiles", leaseMs: 7_000 };
    expect(await leaseBy(0, {})).toStrictEqual(plain);
    const timeoutAt = Date.now() + 2_000;
    expect(await leaseBy(500, { rules: { timeoutMs: 2_000 } })).toStrictEqual({
      ...{ ...plain, graceMs: 500, timeoutAt },
    });
    const soon = { deadlineMs: 1_000, rules: { timeoutMs: 2_000 } };
    expect(await leaseBy(0, soon)).toMatchObject({ timeoutAt: Date.now() + 1_000 });
  });

  test("of a lane has no duration, and always an end, within the time of its process", async () => {
    const world = await newWorld({ push: true, handler, graceMs: 500 });
    const session = asLane(await met(world));
    const now = Date.now();
    const timed = await world.enqueue({}, { rules: { timeoutMs: 2_000 } });
    const { leases, isTooLong, jobs } = await taking(world, [timed], { session });
    expect(leases).toEqual([{ id: timed, attempt: 1, callSeq: 9, timeoutAt: now + 2_000 }]);
    expect(isTooLong).toBe(false);
    expect(jobs[0]).not.toHaveProperty("claimableAt");
    expect((await taking(world, [timed], { session, endsAt: now + 2_000 })).jobs).toHaveLength(1);
    const late = await taking(world, [timed], { session, endsAt: now + 1_999 });
    expect([late.isTooLong, late.jobs]).toEqual([true, []]);
    const plain = await taking(world, [await world.enqueue()], { session });
    expect(plain.leases[0]!.timeoutAt).toBeGreaterThan(now);
  });

  test("of a job with a trace says since when it waited, and of a lane keeps that", async () => {
    const world = await newWorld({ push: true, handler });
    const session = await met(world);
    const traceparent = `00-${"ab".repeat(16)}-${"cd".repeat(8)}-01`;
    const id = await world.enqueue({}, { traceparent });
    const claimableAt = Date.now();
    vi.setSystemTime(Date.now() + 5_000);
    const worker = await taking(world, [id], { session });
    expect(worker.jobs[0]).toMatchObject({ claimableAt, traceparent });
    expect(worker.leases[0]).not.toHaveProperty("claimableAt");
    const lane = await taking(world, [id], { session: asLane(session) });
    expect(lane.leases[0]).toMatchObject({ claimableAt });
    expect(lane.jobs[0]).toMatchObject({ claimableAt });
  });

  test("of a job with rules of its own is known with these, and logs how long the job waited", async () => {
    const world = await newWorld({ logLevel: "debug" });
    const session = await met(world);
    const [plain, ruled] = [
      await world.enqueue(),
      await world.enqueue({}, { rules: { timeoutMs: 2_000 } }),
    ];
    vi.setSystemTime(Date.now() + 3_000);
    const lines: string[] = [];
    for (const level of ["debug", "log", "info"] as const)
      vi.spyOn(console, level).mockImplementation((line) => void lines.push(String(line)));
    const batch = await taking(world, [plain, ruled], { session });
    expect([...batch.ruled.keys()]).toEqual([ruled]);
    expect(lines.join()).toContain('"waitMs":3000');
  });
});

describe("a payload", () => {
  test("beyond what a lane carries is left for a later step, and one of a mutation handler for good", async () => {
    const world = await newWorld({ push: true, handler });
    const session = asLane(await met(world));
    const ids = await world.enqueueBatch(["a", "b"]);
    const { bytes } = await taking(world, ids.slice(0, 1), { session });
    const exact = await taking(world, ids, { session, carries: 2 * bytes });
    expect([payloadsOf(exact), exact.isHeavy]).toEqual([["a", "b"], false]);
    const heavy = await taking(world, ids, { session, carries: 2 * bytes - 1 });
    expect([payloadsOf(heavy), heavy.isHeavy, heavy.bytes]).toEqual([["a", null], true, 2 * bytes]);
    // A light job behind a heavy one changes nothing of that.
    const first = await taking(world, ids, { session, carries: bytes - 1 }, (batch) => {
      batch.bytes = 0;
      batch.carries = Infinity;
    });
    expect([payloadsOf(first), first.isHeavy]).toEqual([[null, "b"], true]);
  });

  test("of a job whose handler is a mutation goes with no lane, and that is not heavy", async () => {
    const kind = { kind: "mutation", handle: "function://send", takes: "payload" } as const;
    const world = await newWorld({ push: true, handler: kind });
    const session = await met(world);
    const ids = await world.enqueueBatch(["a"]);
    const lane = await taking(world, ids, { session: asLane(session), carries: 0 });
    expect([payloadsOf(lane), lane.isHeavy]).toEqual([[null], false]);
    const open = await taking(world, ids, { session: asLane(session) });
    expect([payloadsOf(open), open.isHeavy]).toEqual([[null], false]);
    expect(payloadsOf(await taking(world, ids, { session }))).toEqual(["a"]);
  });
});

test("a job as its worker receives it has only fields that are there, and no time left once it is over", async () => {
  const world = await newWorld();
  const id = await world.enqueue();
  const job = await world.job(id);
  const held = { id, attempt: 1, callSeq: 1, timeoutAt: 5_000 };
  const claimed = describeJob(job, null, held, 3_000);
  expect(claimed).toEqual({
    ...{ id, queue: "tiles", payload: null, attempt: 0, failures: 0, resets: 0 },
    ...{ leaseMs: 20_000, enqueuedAt: job.enqueuedAt, timeoutMs: 2_000 },
  });
  expect(Object.keys(claimed)).not.toContain("group");
  expect(describeJob(job, null, held, 6_000).timeoutMs).toBe(0);
  const { timeoutAt: _, ...endless } = held;
  expect(describeJob(job, null, endless, 3_000)).not.toHaveProperty("timeoutMs");
});
