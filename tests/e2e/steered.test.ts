/** Workers that are steered while they run, on the local backend: conditions, and an order of queues. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { jobCalls } from "../../src/shared/index.js";
import { api } from "../support/app/convex/_generated/api.js";
import {
  app,
  closeApp,
  endWorkers,
  enqueue,
  openApp,
  start,
  statusOf,
  until,
} from "../support/steered.js";

const races = jobCalls(api.races);

beforeAll(openApp);
afterEach(endWorkers);
afterAll(closeApp);

test("a worker takes only the jobs that it has chosen among those that it was shown", async () => {
  const [odd, even] = [await enqueue(7), await enqueue(8)];
  const { worker } = start("chooser", {
    concurrency: 4,
    beforeClaim: async ({ peek }) => {
      const seen = await peek({ queues: ["sums"] });
      const wanted = seen.filter(({ payload }) => (payload as { n: number }).n % 2 === 0);
      return { ids: wanted.map(({ id }) => id) };
    },
  });
  await until(async () => (await statusOf(even)) === "succeeded");
  expect(await statusOf(odd)).toBe("pending");
  expect((await worker.peek()).map(({ id }) => id)).toEqual([odd]);
  await worker.stop();
  start("any");
  await until(async () => (await statusOf(odd)) === "succeeded");
}, 60_000);

// Shows F20.
test("a quiet worker claims nothing and is seen, and one that resumes with more room takes what waits", async () => {
  const { worker, events } = start("quiet");
  await until(() => worker.state === "waiting");
  worker.quiet();
  const ids = await Promise.all([1, 2, 3].map(enqueue));
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await Promise.all(ids.map(statusOf))).toEqual(["pending", "pending", "pending"]);
  worker.concurrency = 3;
  worker.resume();
  await until(async () =>
    (await Promise.all(ids.map(statusOf))).every((one) => one === "succeeded"),
  );
  const claimed = events.flatMap((event) => (event.kind === "claimed" ? event.jobs : []));
  expect(claimed).toHaveLength(3);
  expect(worker.status.slots.had).toBe(3);
}, 60_000);

test("a queue that comes last is served when the other has nothing", async () => {
  const order: string[] = [];
  const note =
    (queue: string) =>
    async ({ payload: { n } }: { payload: { n: number } }) => {
      order.push(queue);
      return { square: n * n };
    };
  await Promise.all([1, 2, 3].map((n) => app.client.mutation(...races.enqueue("races", { n }))));
  await Promise.all([1, 2, 3].map(enqueue));
  const { worker } = start("ordered", {
    queues: ["sums", { queue: "races", onlyWhenIdle: true }],
    handlers: { sums: note("sums"), races: note("races") },
  });
  await until(() => order.length === 6);
  expect(order).toEqual(["sums", "sums", "sums", "races", "races", "races"]);
  await worker.stop();
}, 60_000);
