/** The rows that a wake finds, as its tests prepare them: lanes, processes, a gate; and the functions that it schedules. */
import { afterEach, expect, test } from "vitest";
import type { QueueConfig } from "../../shared/index.js";
import { api, internal } from "../_generated/api.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import type { MutationCtx } from "../_generated/server.js";
import { findQueue } from "../rows/queues.js";
import { newWorld, type World } from "../setup.test.js";
import { ACTION, asleep, awake, enter, inOne, type Under } from "./laneRows.test.js";

export { ACTION, inOne, MUTATION } from "./laneRows.test.js";

export const QUEUE = "tiles";
let current: World | undefined;

/** Lanes that tests have awake without a job would not be what the world expects. */
afterEach(async () => {
  if (current === undefined) return;
  await inOne(current, async ({ db }) => {
    for (const { _id, state, leases } of await db.query("sessions").collect())
      if (state === "active" && leases.length === 0) await db.delete("sessions", _id);
  });
});

/** A world with a queue of an action, which is declared. */
export async function pushedWorld(
  config: Partial<QueueConfig> = {},
  make: (config: Partial<QueueConfig>) => Promise<World> = newWorld,
): Promise<World> {
  const world = await make({ push: true, maxParallelism: 5, handler: ACTION, ...config });
  await world.t.mutation(api.lib.declare, { queues: [world.queue] });
  return (current = world);
}

/** So many jobs, each by a call of its own. */
export async function jobsOf(world: World, count: number): Promise<Id<"jobs">[]> {
  const ids: Id<"jobs">[] = [];
  for (let n = 0; n < count; n += 1) ids.push(await world.enqueue(n));
  return ids;
}

/** Lanes with these caps. The ones that sleep have theirs under the `maxParallelism` of today. */
export async function lanesOf(
  world: World,
  state: "awake" | "asleep",
  ...caps: number[]
): Promise<Id<"lanes">[]> {
  return await inOne(world, async (ctx) => {
    const queue = (await findQueue(ctx.db, QUEUE))!;
    const ids: Id<"lanes">[] = [];
    for (const cap of caps) {
      const of: Under = cap === 0 ? { under: "none" } : {};
      const { lane } = await enter(
        ctx,
        queue,
        state === "awake" ? awake(cap, of) : asleep(cap, of),
      );
      ids.push(lane._id);
    }
    return ids;
  });
}

export async function gateOf(
  world: World,
  state: Doc<"gates">["state"],
  fields: Partial<Doc<"gates">> = {},
): Promise<void> {
  await inOne(world, async ({ db }) => {
    await db.insert("gates", { queue: QUEUE, state, ...fields });
    await db.insert("doors", { queue: QUEUE, open: state !== "quiet" });
  });
}

type Slot = Pick<Doc<"processes">, "state"> & { ageMs?: number; extra?: number };

/** The slots of the mount. A process in one of them runs, and has so many places above its own. */
export async function slotsOf(world: World, ...slots: Slot[]): Promise<Id<"processes">[]> {
  return await inOne(world, async ({ db, system = db.system, scheduler }: any) => {
    const scheduledId = await scheduler.runAfter(3_600_000, internal.push.mainLoop.rouseQueues, {});
    expect(await system.get("_scheduled_functions", scheduledId)).not.toBeNull();
    const ids: Id<"processes">[] = [];
    for (const [number, { state, ageMs = 0, extra = 0 }] of slots.entries()) {
      const runs = state === "free" ? {} : { scheduledId };
      const row = { number, state, generation: 0, openedAt: Date.now() - ageMs, ...runs };
      const process = await db.insert("processes", row);
      if (extra > 0) await db.insert("grants", { process, extra });
      ids.push(process);
    }
    return ids;
  });
}

export interface Planned {
  name: string;
  args: any;
  afterMs: number;
}

export async function planned(world: World): Promise<Planned[]> {
  const rows = await world.t.query(({ db }) => db.system.query("_scheduled_functions").collect());
  return rows.map(({ name, args, scheduledTime }) => ({
    ...{ name, args: args[0], afterMs: scheduledTime - Date.now() },
  }));
}

type Asked = Partial<(typeof internal.push.wake.wake)["_args"]>;

/** A wake of the queue. Returns the functions that it has scheduled. */
export async function wakeBy(world: World, args: Asked = {}): Promise<Planned[]> {
  const before = (await planned(world)).length;
  await world.t.mutation(internal.push.wake.wake, { queue: QUEUE, ...args });
  return (await planned(world)).slice(before);
}

/** The same where rows have changed since the snapshot that it sees. */
export async function wakeAfter(
  world: World,
  change: (ctx: MutationCtx) => Promise<void>,
  args: Asked = {},
): Promise<Planned[]> {
  const before = (await planned(world)).length;
  await inOne(world, async (ctx) => {
    await change(ctx);
    await ctx.runMutation(internal.push.wake.wake, { queue: QUEUE, ...args });
  });
  return (await planned(world)).slice(before);
}

/** The wakes among the functions that a wake has scheduled: their arguments, and after how long they run. */
export function wakesAmong(functions: readonly Planned[]): object[] {
  return functions
    .filter(({ name }) => name === "push/wake:wake")
    .map(({ args: { queue, ...args }, afterMs }) => {
      expect(queue).toBe(QUEUE);
      return { ...args, afterMs };
    });
}

export const namesOf = (functions: readonly Planned[]) => functions.map(({ name }) => name);

/** The jobs that run, by their order; the gate; the caps of the lanes; the queue among the ones that wait. */
export async function standingOf(world: World) {
  const [gate] = await world.all("gates");
  const [waiting] = await world.all("waitingQueues");
  return {
    running: (await world.all("jobs")).flatMap((job, n) => (job.status === "running" ? [n] : [])),
    gate: gate?.state ?? null,
    caps: (await world.all("lanes")).map(({ cap }) => cap),
    ...(waiting === undefined ? {} : { waits: waiting.isServed ? "served" : "unserved" }),
  };
}

/** The last commit, up to which a snapshot of now shows everything. */
export async function lastCommit(world: World): Promise<bigint> {
  return await world.t.query(async ({ meta }) => meta.getSnapshotTs());
}

test("a wake of a queue without jobs leaves a lane without room for the next, no gate and no function", async () => {
  const world = await pushedWorld();
  for (let n = 0; n < 2; n += 1) {
    expect(await wakeBy(world)).toEqual([]);
    expect(await standingOf(world)).toEqual({ running: [], gate: null, caps: [0] });
  }
});
