/** The search of a claim as its own function: what it picks where, beside which sessions. */
import { afterEach, expect, test, vi } from "vitest";
import type { JobOptions } from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc } from "../_generated/dataModel.js";
import { newWorld, type World } from "../setup.test.js";

let planted: World | undefined;

/** Planted sessions hold no leases as others do. */
afterEach(async () => {
  vi.restoreAllMocks();
  await planted?.t.run(async (ctx) => {
    for (const { _id } of await ctx.db.query("sessions").collect())
      await ctx.db.delete("sessions", _id);
  });
  planted = undefined;
});

export const TILES = { name: "tiles", shards: 1, epoch: 0, leaseMs: 10_000 };
export const LANE = { isLane: true, everywhere: true };
const WHOLE = 1_000;

/** A search of the queue `tiles`. */
export async function look(world: World, args: object = {}) {
  return await world.t.query(internal.claim.choose.chooseJobs, {
    ...{ sessionKey: "me", name: "me", queues: [TILES], conditions: {}, max: 8 },
    ...{ now: Date.now(), ranges: WHOLE, ...args },
  });
}

/** The names of the jobs that it picks. */
export async function picked(world: World, args: object = {}) {
  const { picks } = await look(world, args);
  return await Promise.all(picks.map(async ({ id }) => (await world.job(id)).name));
}

/** Jobs of these names, a millisecond apart, in these shards. */
export async function enqueue(
  world: World,
  shards: Record<string, number>,
  options: JobOptions = {},
) {
  for (const [name, shard] of Object.entries(shards)) {
    vi.setSystemTime(Date.now() + 1);
    const id = await world.enqueue({}, { ...options, name });
    await world.t.run((ctx) => ctx.db.patch("jobs", id, { shard }));
  }
}

/** A session that has called a moment ago. */
export async function meet(world: World, sessionKey: string, more: Partial<Doc<"sessions">> = {}) {
  planted = world;
  const now = Date.now();
  const calls = { callSeq: 1, acknowledged: true, reply: { answers: [] } };
  const seen = { expiresAt: now + 10_000, lastSeenAt: now, leases: [] };
  const row = { sessionKey, name: sessionKey, state: "idle" as const, queues: ["tiles"] };
  return await world.t.run((ctx) =>
    ctx.db.insert("sessions", { ...row, ...calls, ...seen, ...more }),
  );
}

export const wait = (ms: number) => void vi.setSystemTime(Date.now() + ms);
export const chance = (value: number) => vi.spyOn(Math, "random").mockReturnValue(value);

test("a search of an empty queue picks nothing, and knows no other worker", async () => {
  const world = await newWorld();
  expect(await picked(world)).toEqual([]);
  expect((await look(world)).fleet).toEqual({ size: 1, rank: 0 });
});
