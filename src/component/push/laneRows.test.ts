/** Rows of lanes, asleep and awake, for tests of the functions that read and write them. */
import { expect, test, vi } from "vitest";
import type { QueueConfig } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import type { MutationCtx } from "../_generated/server.js";
import { findQueue, type Queue } from "../rows/queues.js";
import type { Session } from "../rows/sessions.js";
import { newWorld, type World } from "../setup.test.js";
import { lanesOf, newLane, type Lane, type LaneAndSession, type Sleeper } from "./lanes.js";

/** The bound of the queue if a test says nothing. */
export const MAX = 10;

/** No test calls it. */
export const ACTION = { handle: "function://;app:work", kind: "action", takes: "payload" } as const;
export const MUTATION = { ...ACTION, kind: "mutation" } as const;

export interface Planned {
  cap: number;
  state: Session["state"];
  /** The `maxParallelism` of its cap: that of today if nothing is said. */
  under?: number | "none";
}
export type Under = Pick<Planned, "under">;
export const asleep = (cap: number, of: Under = {}): Planned => ({ cap, state: "idle", ...of });
export const awake = (cap: number, of: Under = {}): Planned => ({ cap, state: "active", ...of });

/** One transaction in a queue with lanes that are committed. */
export interface Scene {
  ctx: MutationCtx;
  queue: Queue;
  lanes: Lane[];
  /** All lanes, as a snapshot would show them if each were asleep. */
  seen: Sleeper[];
}

export async function inOne<T>(
  world: World,
  run: (ctx: MutationCtx) => Promise<T>,
): Promise<Awaited<T>> {
  return await world.t.run((ctx) => run(ctx as unknown as MutationCtx));
}

export function sleeperOf({ _id: lane, session, cap }: Lane): Sleeper {
  return { lane, session, cap };
}

/** Runs a test's transaction in a queue that has these lanes; afterwards all lanes are gone. */
export async function withLanes(
  config: Partial<QueueConfig>,
  plan: readonly Planned[],
  run: (scene: Scene) => Promise<void>,
): Promise<void> {
  const world = await newWorld({ push: true, maxParallelism: MAX, handler: ACTION, ...config });
  await world.t.mutation(api.lib.declare, { queues: [world.queue] });
  await inOne(world, async (ctx) => {
    const queue = (await findQueue(ctx.db, "tiles"))!;
    for (const one of plan) await enter(ctx, queue, one);
  });
  try {
    await inOne(world, async (ctx) => {
      const lanes = await lanesOf(ctx.db, "tiles");
      const queue = (await findQueue(ctx.db, "tiles"))!;
      await run({ ctx, queue, lanes, seen: lanes.map(sleeperOf) });
    });
  } finally {
    // A session that is active without a lease is no state in which a test may leave it.
    await inOne(world, async (ctx) => {
      for (const { _id } of await ctx.db.query("lanes").collect())
        await ctx.db.delete("lanes", _id);
      for (const { _id } of await ctx.db.query("sessions").collect())
        await ctx.db.delete("sessions", _id);
    });
  }
}

/** Another lane, of this queue or one with another name. */
export async function enter(
  ctx: MutationCtx,
  queue: Queue,
  { cap, state, under }: Planned,
): Promise<LaneAndSession> {
  const bound = under === "none" ? undefined : (under ?? queue.config.maxParallelism);
  const fields = { cap, ...(bound === undefined ? {} : { under: bound }) };
  const { lane, session } = await newLane(ctx, queue, 0, Date.now(), fields);
  await ctx.db.patch("sessions", session._id, { state });
  return { lane, session: { ...session, state } };
}

/** A lane's session gets up, or lies down, in this transaction. */
export async function turn(ctx: MutationCtx, { session }: Lane, state: Session["state"]) {
  await ctx.db.patch("sessions", session, { state });
}

/** Caps of the queue's lanes, and the bounds under which they were given, in the order of the plan. */
export async function capsIn({ ctx }: Pick<Scene, "ctx">): Promise<number[]> {
  return (await lanesOf(ctx.db, "tiles")).map(({ cap }) => cap);
}
export async function boundsIn({ ctx }: Pick<Scene, "ctx">): Promise<(number | undefined)[]> {
  return (await lanesOf(ctx.db, "tiles")).map(({ under }) => under);
}

/** How many rows a step writes over. */
export async function patchesOf({ ctx }: Pick<Scene, "ctx">, step: () => Promise<unknown>) {
  const patch = vi.spyOn(ctx.db, "patch");
  await step();
  const count = patch.mock.calls.length;
  patch.mockRestore();
  return count;
}

test("a new lane sleeps without room, and is named by its session", async () => {
  await withLanes({}, [], async (scene) => {
    const { ctx, queue } = scene;
    const { lane, session } = await newLane(ctx, queue, 3, Date.now());
    expect(lane).toMatchObject({ queue: "tiles", cap: 0, session: session._id });
    expect(lane.under).toBeUndefined();
    expect(session).toMatchObject({ state: "idle", lane: lane._id, sessionKey: "lane:tiles:3" });
    const other = await newLane(ctx, queue, 3, Date.now(), { cap: 1, under: 7 });
    expect(other.session.sessionKey).toBe("lane:tiles:4");
    expect(await capsIn(scene)).toEqual([0, 1]);
    expect(await boundsIn(scene)).toEqual([undefined, 7]);
  });
});
