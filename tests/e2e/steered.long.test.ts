/**
 * Workers that are steered while they run, on the local backend: conditions, an order of queues, polls, an end by itself, and an
 * operator's word.
 */
import { hostname } from "node:os";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { jobCalls, type WorkerStatus } from "../../src/shared/index.js";
import { api } from "../support/app/convex/_generated/api.js";
import { runAsAdmin } from "../support/deploy.js";
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

/** As an operator does, with the deployment's key and nothing of the app. */
const operate = (name: string, args: object) => runAsAdmin(app.backend, name, args, "conveyor");

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
  // A claim may see the jobs as they were a moment ago: where it sees the races, it sees the sums that came before.
  await Promise.all([1, 2, 3].map(enqueue));
  await Promise.all([1, 2, 3].map((n) => app.client.mutation(...races.enqueue("races", { n }))));
  // The worker of the test before may be counted as there: jobs of its shard are left to it for a second.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const { worker } = start("ordered", {
    queues: ["sums", { queue: "races", onlyWhenIdle: true }],
    handlers: { sums: note("sums"), races: note("races") },
  });
  await until(() => order.length === 6);
  expect(order).toEqual(["sums", "sums", "sums", "races", "races", "races"]);
  await worker.stop();
}, 60_000);

// Shows CR-14, CR-17, C13.
test("a worker that polls does jobs over HTTP alone, and ends by itself after so many", async () => {
  const ids = await Promise.all([1, 2, 3, 4, 5].map(enqueue));
  const { worker, ended } = start("poller", { poll: { everyMs: 250 }, stopAfter: { jobs: 3 } });
  await ended;
  expect(worker.status).toMatchObject({ state: "stopped", done: 3 });
  const statuses = await Promise.all(ids.map(statusOf));
  expect(statuses.filter((status) => status === "succeeded")).toHaveLength(3);
  const { ended: rest } = start("idler", { poll: { everyMs: 250 }, stopAfter: { idleMs: 3_000 } });
  await rest;
  expect(new Set(await Promise.all(ids.map(statusOf)))).toEqual(new Set(["succeeded"]));
}, 60_000);

// Shows SG-20.
test("an operator's word stops a worker that waits, is on the list, and its end is heard over the subscription", async () => {
  const { worker, events } = start("told", { version: "2.3", concurrency: 2, presenceMs: 0 });
  await until(() => worker.state === "waiting");
  const listed = async () =>
    ((await operate("lib:workers", {})) as WorkerStatus[]).find(({ name }) => name === "told");
  await until(async () => (await listed()) !== undefined);
  const { id, origin, slots } = (await listed())!;
  expect(origin).toMatchObject({ pid: process.pid, hostname: hostname(), appVersion: "2.3" });
  expect(slots).toEqual({ used: 0, had: 2 });
  await operate("operate:quietWorker", { id });
  const job = await enqueue(3);
  await until(() => worker.status.isQuiet);
  expect(await statusOf(job)).toBe("pending");
  expect(await listed()).toMatchObject({ quietBy: "operator", state: "waiting" });
  await operate("operate:resumeWorker", { id });
  await until(async () => (await statusOf(job)) === "succeeded");
  expect(events.filter(({ kind }) => kind === "quiet")).toHaveLength(2);
  await until(async () => (await listed())?.done === 1);
}, 60_000);
