import { describe, expect, test, vi } from "vitest";
import { ROUTES_KEPT, ROUTES_MAX, SHARDS_DEFAULT, SHARDS_MAX } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import {
  comeFree,
  CONTINUED,
  keptForApp,
  labels,
  leavesHalf,
  take,
  WAYS_TO_GIVE_UP,
} from "./heldPlaces.test.js";
import { unusedRoutes } from "./routes.js";
import { newWorld, refusal, released, succeeded, type World } from "../setup.test.js";

/** With so many shards a queue may have 32 priorities of all its routes together, and 21 with jobs of no label. */
const SHARDS_WIDE = 16;
const MINUTE = 60_000;
/** With so many shards each of these jobs needs a place more than the workers' half has. */
const FEW = { shards: SHARDS_MAX, held: 6, routes: 3, apps: 3 };

/** One job with each label that a queue may have. */
async function fill(world: World) {
  return await world.enqueueJobs(
    Array.from({ length: ROUTES_MAX - 1 }, (_, n) => ({ payload: n, options: labels(n) })),
  );
}

test("a new label is taken although all routes are, as soon as nothing waits in one", async () => {
  const world = await newWorld();
  const [first] = await fill(world);
  expect(await refusal(world.enqueue("new", labels(99)))).toMatchObject({ code: "tooManyRoutes" });
  await world.cancel(first!.id);
  await world.enqueue("new", labels(99));
  expect(await refusal(world.enqueue("newer", labels(98)))).toMatchObject({
    code: "tooManyRoutes",
  });
  const worker = world.worker("w");
  const [job] = await worker.claim(1, labels(99));
  expect(job).toMatchObject({ payload: "new" });
});

test("as many new labels as there are routes are taken by one call, where nothing waits", async () => {
  const world = await newWorld();
  for (const { id } of await fill(world)) await world.cancel(id);
  const jobs = Array.from({ length: ROUTES_MAX - 1 }, (_, n) => ({
    payload: n,
    options: labels(100 + n),
  }));
  await world.enqueueJobs([...jobs, ...jobs]);
  const routes = await world.all("routes");
  expect(new Set(routes.map(({ number }) => number)).size).toBe(ROUTES_MAX - 1);
  const places = (await world.all("jobs")).filter(({ status }) => status === "pending");
  for (const { labels: own, shard } of places) {
    const route = routes.find(({ number }) => number === Math.floor(shard / 64));
    expect(route?.labels).toEqual(own);
  }
});

describe("what workers continue with leaves the app half of the places", () => {
  test.each(CONTINUED)("%s", async (_, options) => {
    await leavesHalf(options, { shards: SHARDS_MAX, jobs: 10, apps: 3 });
  });
});

test.each([
  ["places", SHARDS_DEFAULT, 8, 4],
  ["labels", 1, ROUTES_MAX / 2, 1],
])(
  "with as many %s as the workers' half has, the app leaves that half: a worker's job that comes back finds its own",
  async (_, shards, apps, priorities) => {
    const world = await newWorld({ shards });
    for (let n = 0; n < apps; n += 1)
      for (let priority = 0; priority < priorities; priority += 1)
        await world.enqueue("app", { labels: [`a${n}`], priority });
    const worker = world.worker("w");
    const origin = await take(worker, await world.enqueue("origin"));
    const jobs = [{ payload: "mine", options: { ...labels(0), priority: 5 } }];
    const continued = [{ queue: world.queue, jobs }];
    await worker.complete([{ ...succeeded(origin), continued }]);
    const [job] = await worker.claim(1, labels(0));
    expect(job).toMatchObject({ payload: "mine" });
    // Its place is forgotten while it runs.
    await world.t.run(async (ctx) => {
      for (const row of await ctx.db.query("routes").collect())
        if (row.labels.includes("l0")) await ctx.db.delete("routes", row._id);
    });
    await worker.complete([released(job!)]);
    await world.advance(2_000);
    expect(await worker.claim(1, labels(0))).toMatchObject([{ id: job!.id }]);
  },
);

test("a delayed job of a new label is claimable at its time although all routes are taken", async () => {
  const world = await newWorld();
  for (const { id } of await fill(world)) await world.cancel(id);
  const id = await world.enqueue("new", { ...labels(99), runAfter: MINUTE });
  await world.advance(MINUTE + 1_000);
  expect(await world.status(id)).toMatchObject({ status: "pending" });
});

test.each([
  ["labels", (n: number) => labels(100 + n), SHARDS_DEFAULT],
  ["places", (n: number) => ({ ...labels(0), priority: n - 10 }), SHARDS_WIDE],
])(
  "delayed jobs for which no %s are left are put off together, after one look for some to forget",
  async (_, options, shards) => {
    const world = await newWorld({ shards });
    await world.enqueueJobs(
      Array.from({ length: 20 }, (_none, n) => ({
        payload: n,
        options: { ...options(n), runAfter: MINUTE },
      })),
    );
    if (shards === SHARDS_DEFAULT) await fill(world);
    else for (let n = 0; n < 31; n += 1) await world.enqueue("label", labels(n));
    const looks = vi.spyOn(unusedRoutes as unknown as { _handler: () => unknown }, "_handler");
    await world.advance(MINUTE + 1_000);
    const late = (await world.all("jobs")).filter(({ status }) => status === "scheduled");
    expect(late.length).toBeGreaterThan(18);
    expect(looks).toHaveBeenCalledTimes(1);
    looks.mockRestore();
  },
);

test("priorities without waiting jobs are forgotten by the purge where a queue has many; used ones stay", async () => {
  const retention = { succeededMs: 0, failedMs: 0, canceledMs: 0, timedOutMs: 0 };
  const world = await newWorld({ retention });
  const priorities = Array.from({ length: ROUTES_KEPT + 4 }, (_, n) => n - 10);
  const ids: string[] = [];
  for (const priority of priorities) ids.push(await world.enqueue(priority, { priority }));
  const worker = world.worker("w");
  const jobs = await worker.claim(ROUTES_KEPT);
  await worker.complete(jobs.map((job) => succeeded(job)));
  await world.advance(10 * MINUTE);
  const [route] = await world.all("routes");
  const waiting = (await world.all("jobs")).filter(({ status }) => status === "pending");
  expect(waiting).toHaveLength(4);
  expect(route!.priorities).toEqual(waiting.map(({ priority }) => priority));
});

describe("places", () => {
  const all = Array.from({ length: 21 }, (_, n) => n - 10);

  test("of all priorities and shards are allowed; with more labels than fit a job is refused, until other jobs have gone", async () => {
    const world = await newWorld({ shards: SHARDS_WIDE });
    for (const priority of all) await world.enqueue("plain", { priority });
    const first = await world.enqueue("label", labels(0));
    for (let n = 1; n < 11; n += 1) await world.enqueue("label", labels(n));
    const { code, message } = await refusal(world.enqueue("one more", labels(11)));
    expect(code).toBe("tooManyPlaces");
    expect(message).toContain("fewer shards");
    await world.cancel(first);
    await world.enqueue("one more", labels(11));
    expect(await refusal(world.enqueue("another", { priority: 5, ...labels(1) }))).toMatchObject({
      code: "tooManyPlaces",
    });
  });

  test("are not made by more shards than fit the routes in use, neither by code nor by hand", async () => {
    const world = await newWorld({ shards: SHARDS_DEFAULT });
    for (let n = 0; n < 63; n += 1) await world.enqueue("job", labels(n));
    const call = world.t.mutation(api.operate.configureQueue, {
      queue: "tiles",
      overrides: { shards: SHARDS_MAX },
    });
    expect(await refusal(call)).toMatchObject({ code: "tooManyPlaces" });
    world.queue.config = { ...world.queue.config, shards: SHARDS_MAX };
    await world.advance(MINUTE);
    expect(await refusal(world.enqueue("job"))).toMatchObject({ code: "tooManyPlaces" });
  });

  test("do not keep a job from coming back", async () => {
    const world = await newWorld({ shards: SHARDS_WIDE });
    for (let n = 0; n < 31; n += 1) await world.enqueue("label", labels(n));
    const worker = world.worker("w");
    const [job] = await worker.claim(1, labels(0));
    await world.enqueue("label", labels(99));
    expect((await world.all("routes")).map((row) => row.labels[0])).not.toContain("l0");
    await worker.complete([released(job!)]);
    expect(await world.status(job!.id)).toMatchObject({ status: "pending" });
    expect(await worker.claim(1, labels(0))).toMatchObject([{ id: job!.id }]);
  });

  test.each(WAYS_TO_GIVE_UP)(
    "that a token's workers held and %s are not taken from the app",
    async (_, giveUp) => {
      await keptForApp(giveUp, FEW);
    },
  );

  test("that workers' jobs wait for come free when other jobs of theirs have run", async () => {
    await comeFree(FEW);
  });

  test("of an item that has had its round are found again, though others took them meanwhile", async () => {
    const world = await newWorld({ shards: SHARDS_WIDE, circular: true });
    for (let n = 0; n < 31; n += 1) await world.enqueue("label", labels(n));
    const worker = world.worker("w");
    const [job] = await worker.claim(1, labels(0));
    await world.enqueue("label", labels(99));
    expect((await worker.complete([succeeded(job!)])).words).toEqual(["ok"]);
    expect(await world.status(job!.id)).toMatchObject({ status: "pending" });
  });
});
