import { expect, test } from "vitest";
import { ROUTES_KEPT, ROUTES_MAX } from "../shared/index.js";
import { newWorld, refusal, succeeded, type World } from "./setup.test.js";

const MINUTE = 60_000;
const labels = (n: number) => ({ labels: [`l${n}`] });

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

test("a delayed job of a new label is claimable at its time although all routes are taken", async () => {
  const world = await newWorld();
  for (const { id } of await fill(world)) await world.cancel(id);
  const id = await world.enqueue("new", { ...labels(99), runAfter: MINUTE });
  await world.advance(MINUTE + 1_000);
  expect(await world.status(id)).toMatchObject({ status: "pending" });
});

test("priorities in which nothing waits are forgotten by the purge where a queue has many; those in use stay", async () => {
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
