/** Shared by tests of places that workers fill: their jobs go on with new ones, are held, and come back. */
import { expect, test } from "vitest";
import { PLACES_MAX, type ClaimedJob, type JobOptions } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { newWorld, released, succeeded, type Worker, type World } from "../setup.test.js";

const MINUTE = 60_000;

export const labels = (n: number) => ({ labels: [`l${n}`] });

/** Jobs of ever new routes and places, by their number. */
export const CONTINUED: [string, (n: number) => JobOptions][] = [
  ["labels", labels],
  ["labels, due later", (n) => ({ ...labels(n), runAfter: 1_000 })],
  ["labels and priorities", (n) => ({ ...labels(n % 15), priority: (n % 21) - 10 })],
];

/** A worker continues with so many jobs, and then the app enqueues some of as many labels. */
export async function leavesHalf(
  options: (n: number) => JobOptions,
  { shards, jobs: count, apps }: { shards: number; jobs: number; apps: number },
): Promise<void> {
  const world = await newWorld({ shards });
  const worker = world.worker("w");
  for (let n = 0; n < count; n += 1) {
    await world.enqueue(n);
    const [job] = await worker.claim();
    const jobs = [{ payload: n, options: options(n) }];
    const continued = [{ queue: world.queue, jobs }];
    await worker.complete([{ ...succeeded(job!), continued }]);
  }
  await world.advance(2_000);
  for (let n = 0; n < apps; n += 1) await world.enqueue("app", { labels: [`a${n}`] });
  const jobs = await world.all("jobs");
  const refused = jobs.filter(({ status }) => status === "failed");
  const placed = jobs.filter(({ ofWorker, status }) => ofWorker === true && status === "pending");
  expect(placed.length, "others are refused, or put off").toBeLessThan(count);
  for (const { error } of refused) expect(error).toMatch(/the rest is the app's/);
  expect(jobs.filter(({ ofWorker }) => ofWorker === true)).toHaveLength(count - refused.length);
}

export const WAYS_TO_GIVE_UP: [string, (worker: Worker, jobs: ClaimedJob[]) => Promise<unknown>][] =
  [
    ["hand back", async (worker, jobs) => await worker.complete(jobs.map((job) => released(job)))],
    ["lose", async (worker) => await worker.world.advance(11_000)],
    [
      "snooze",
      async (worker, jobs) => {
        const outcome = { kind: "snoozed" as const, runAfter: 1_000 };
        await worker.complete(jobs.map(({ id, attempt }) => ({ id, attempt, outcome })));
        await worker.world.advance(2_000);
      },
    ],
  ];

/** How many jobs of how many routes workers hold, and the labels of the app's own. */
export interface Size {
  shards: number;
  held: number;
  routes: number;
  apps: number;
}

export async function keptForApp(
  giveUp: (worker: Worker, jobs: ClaimedJob[]) => Promise<unknown>,
  size: Size,
): Promise<void> {
  const world = await newWorld({ shards: size.shards });
  const held = await holdMany(world, size);
  for (const [worker, jobs] of held) await giveUp(worker, jobs);
  await world.advance(2_000);
  const rows = await world.all("routes");
  const places = rows.reduce((sum, { priorities }) => sum + size.shards * priorities.length, 0);
  expect(2 * places).toBeLessThanOrEqual(PLACES_MAX / 2);
  for (let n = 0; n < size.apps; n += 1) await world.enqueue("app", { labels: [`app${n}`] });
  const late = held.flatMap(([, jobs]) => jobs.map(({ id }) => id));
  const isLost = async (id: string) => (await world.status(id))?.status === "failed";
  for (const id of late) expect(await isLost(id)).toBe(false);
}

export async function comeFree(size: Size): Promise<void> {
  const world = await newWorld({ shards: size.shards });
  const held = await holdMany(world, size);
  for (const [worker, jobs] of held) await worker.complete(jobs.map((job) => released(job)));
  await world.advance(2_000);
  const worker = world.worker("all");
  const pending = async () =>
    (await world.all("jobs")).filter(({ status }) => status === "pending");
  expect((await pending()).length, "the rest waits for a place").toBeLessThan(size.held);
  let done = 0;
  for (let round = 0; done < size.held && round < 4; round += 1) {
    for (const { _id, labels: needed = [] } of await pending())
      await worker.complete([succeeded(await take(worker, _id, needed))]);
    done = (await world.all("jobs")).filter(
      ({ ofWorker, status }) => ofWorker === true && status === "succeeded",
    ).length;
    await world.advance(11 * MINUTE);
  }
  expect(done).toBe(size.held);
}

/** Workers of a token that continue with jobs of ever new places, and hold as many: the places are free meanwhile. */
async function holdMany(world: World, size: Size): Promise<[Worker, ClaimedJob[]][]> {
  const origin = world.worker("origin");
  const all: [Worker, ClaimedJob[]][] = [];
  for (let n = 0; n < size.held; n += 1) {
    if (n % 60 === 0) all.push([world.worker(`w${n}`), []]);
    const [holder, held] = all.at(-1)!;
    const from = await take(origin, await world.enqueue("origin"));
    const options = { ...labels(n % size.routes), priority: Math.floor(n / size.routes) - 10 };
    const continued = [{ queue: world.queue, jobs: [{ payload: n, options }] }];
    await origin.complete([{ ...succeeded(from), continued }]);
    const follower = (await world.all("jobs")).find(({ status }) => status === "pending");
    held.push(await take(holder, follower!._id, options.labels));
  }
  return all;
}

/** Claims a job by its name, wherever it lies. */
export async function take(worker: Worker, id: string, needed: string[] = []): Promise<ClaimedJob> {
  const { world, token, sessionKey, name } = worker;
  worker.n += 1;
  const { jobs } = await world.t.mutation(api.lib.claim, {
    ...{ token, sessionKey, name, callSeq: worker.n },
    ...{ queues: [world.queue], max: 1, named: [id], labels: needed },
  });
  expect(jobs).toMatchObject([{ id }]);
  return jobs[0]!;
}

test("a job that is claimed by its name is found in its route", async () => {
  const world = await newWorld();
  await take(world.worker("w"), await world.enqueue("mine", labels(1)), ["l1"]);
});
