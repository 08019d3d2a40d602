/** The run status and spare capacity of the main loop, from its rows and the states of its scheduled functions. */
import { expect, test } from "vitest";
import { api, internal } from "../_generated/api.js";
import { newWorld, type World } from "../setup.test.js";

const shown = async ({ t }: World) => await t.query(api.observe.mainLoop, {});

/** A queue with a wake that has started a lane with all of its jobs: its process is scheduled, and has not begun. */
async function started(jobs: number): Promise<World> {
  const handler = {
    kind: "action" as const,
    handle: "function://;none:none",
    takes: "payload" as const,
  };
  const world = await newWorld({ push: true, shards: 1, maxParallelism: 5, handler });
  const [job] = await world.enqueueBatch(Array.from({ length: jobs }, (_, n) => n));
  await world.t.mutation(internal.push.wake.wake, { queue: world.queue.name, job: job! });
  return world;
}

test("before the first job it is idle, and all places are left", async () => {
  expect(await shown(await newWorld({ push: true }))).toEqual({
    ...{ status: "idle", generation: 0, slots: 4, places: { used: 0, left: 56 } },
    ...{ lanes: { awake: 0, jobs: 0, more: false }, queues: [], processes: [], waiting: [] },
  });
});

// Shows WP-12, WP-33.
test("while it runs it has its generation, its lanes, the places used and left, and the places by queue", async () => {
  const world = await started(3);
  const { next, processes, ...rest } = await shown(world);
  expect(rest).toEqual({
    ...{ status: "running", generation: 1, slots: 4, places: { used: 3, left: 53 } },
    ...{ lanes: { awake: 1, jobs: 3, more: false }, waiting: [] },
    queues: [{ queue: "tiles", lanes: 1, jobs: 3, isWaiting: false }],
  });
  expect(processes).toMatchObject([{ generation: 1, places: 3, hasEnded: false }]);
  // The sweep that checks the lane.
  expect(next).toMatchObject({ kind: "janitor", dueAt: expect.any(Number) });
});

test("a queue that finds no place is named as waiting, also where no lane of it is awake", async () => {
  const world = await started(2);
  await world.t.run(async (ctx) => {
    await ctx.db.insert("waitingQueues", { queue: "mails", isServed: true });
  });
  expect(await shown(world)).toMatchObject({
    ...{ status: "waiting", waiting: ["mails"] },
    queues: [
      { queue: "tiles", lanes: 1, jobs: 2, isWaiting: false },
      { queue: "mails", lanes: 0, jobs: 0, isWaiting: true },
    ],
  });
});

// Shows WP-12, F24.
test("a process with a scheduled function that has ended has stalled, until its slot is free", async () => {
  const world = await started(2);
  const process = (await world.all("processes")).find(({ state }) => state !== "free")!;
  await world.t.run((ctx) => ctx.scheduler.cancel(process.scheduledId!));
  expect(await shown(world)).toMatchObject({ status: "stalled", processes: [{ hasEnded: true }] });
  await world.advance(60_000);
  const { status, processes } = await shown(world);
  expect(processes.some(({ hasEnded }) => hasEnded)).toBe(false);
  expect(status).not.toBe("stalled");
});

test("the first alarm is shown with its queue, as of a scheduled job", async () => {
  const world = await newWorld({ push: true });
  await world.enqueue(1, { runAfter: 30_000 });
  const { next, status } = await shown(world);
  expect(status).toBe("idle");
  expect(next).toMatchObject({ kind: "dispatcher", queue: "tiles" });
  expect(next!.dueAt).toBeGreaterThan(Date.now());
});

test("with less of the scheduler it has fewer slots and places", async () => {
  const { t } = await newWorld({ push: true });
  const half = await t.query(api.observe.mainLoop, { share: 0.25 });
  expect(half).toMatchObject({ slots: 2, places: { used: 0, left: 28 } });
});
