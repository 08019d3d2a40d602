/** The jobs of a worker process that is killed, and of one that sleeps past its lease. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startApp, type TestApp } from "../support/testApp.js";
import { until } from "../../local/until.js";
import { killAll, startWorker, type WorkerProcess } from "../support/workers.js";
import { api } from "../support/app/convex/_generated/api.js";
import { LEASE_MS } from "../support/app/convex/queues.js";
import { jobCalls } from "../../src/shared/index.js";

const sums = jobCalls(api.sums);

let app: TestApp;
let token: string;
let workers: WorkerProcess[] = [];

function start(name: string, concurrency = 1): WorkerProcess {
  const worker = startWorker({ url: app.url, token, name, concurrency });
  workers.push(worker);
  return worker;
}

beforeAll(async () => {
  app = await startApp();
  token = await app.token();
});
afterEach(async () => {
  await killAll(workers);
  workers = [];
});
afterAll(() => app?.close());

// Shows WP-11, F5.
test("a worker killed with SIGKILL: its jobs go to another within the lease and a second, and none is lost", async () => {
  const victim = start("victim", 3);
  const ids = await app.client.mutation(
    ...sums.enqueueMany(
      "sums",
      [101, 102, 103].map((n) => ({ n, workMs: 60_000 })),
    ),
  );
  await until(
    async () => victim.lines.filter((line) => line.started).length,
    (started) => started === 3,
  );
  // Past its first beat, so that the leases were acknowledged and losing them counts as a reset.
  await until(
    () => Promise.all(ids.map((id) => app.client.query(...sums.status(id)))),
    (jobs) => jobs.every((job) => job?.status === "running" && job.progress !== undefined),
  );
  start("heir", 3);
  await until(
    () => app.client.query(api.work.workers, {}),
    (seen) => seen.some((worker) => worker.name === "heir"),
  );
  victim.process.kill("SIGKILL");
  await victim.exited;
  const killedAt = Date.now();
  const jobs = await until(
    () => Promise.all(ids.map((id) => app.client.query(...sums.status(id)))),
    (seen) => seen.every((job) => job?.status === "succeeded"),
  );
  const claimedAt = Math.max(
    ...jobs.map((job) => ("startedAt" in job! ? job.startedAt : Infinity)),
  );
  expect(claimedAt - killedAt).toBeLessThan(LEASE_MS + 1_000);
  expect(jobs).toMatchObject(ids.map(() => ({ worker: "heir", attempt: 2, resets: 1 })));
}, 60_000);

// Shows DE-18.
test("a worker that sleeps past its lease and then reports is answered leaseLost; the other's result stands", async () => {
  const sleeper = start("sleeper");
  const id = await app.client.mutation(...sums.enqueue("sums", { n: 9, workMs: 500 }));
  await sleeper.line((line) => line.started === id);
  sleeper.process.kill("SIGSTOP");
  const other = start("other");
  await other.line((line) => line.finished === id);
  const byOther = await until(
    () => app.client.query(...sums.status(id)),
    (job) => job?.status === "succeeded",
  );
  expect(byOther).toMatchObject({ worker: "other", attempt: 2, result: { square: 81 } });

  sleeper.process.kill("SIGCONT");
  await sleeper.line((line) => line.event?.kind === "leaseLost");
  // The worker goes on: the next job goes to the next free worker.
  await killAll([other]);
  const next = await app.client.mutation(...sums.enqueue("sums", { n: 10, workMs: 0 }));
  await sleeper.line((line) => line.finished === next);

  expect(await app.client.query(...sums.status(id))).toEqual(byOther);
  const rows = (await app.client.query(api.done.list, {})).filter((row) => row.job === id);
  expect(rows).toHaveLength(1);
}, 60_000);

test("a worker that is signaled to stop finishes its jobs, and exits cleanly", async () => {
  const worker = start("polite");
  const id = await app.client.mutation(...sums.enqueue("sums", { n: 11, workMs: 1_000 }));
  await worker.line((line) => line.started === id);
  worker.process.kill("SIGTERM");
  expect(await worker.exited).toBe(0);
  expect(await app.client.query(...sums.status(id))).toMatchObject({ status: "succeeded" });
}, 60_000);
