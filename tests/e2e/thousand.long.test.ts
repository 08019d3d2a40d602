/** Many jobs, real worker processes, the official clients: every job has one outcome. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { startApp, type TestApp } from "../support/testApp.js";
import { until } from "../../local/until.js";
import { killAll, startWorker, type WorkerProcess } from "../support/workers.js";
import { api } from "../support/app/convex/_generated/api.js";
import { jobCalls } from "../../src/shared/index.js";

const sums = jobCalls(api.sums);

const JOBS = 1_000;
const WORKERS = 4;

let app: TestApp;
let workers: WorkerProcess[] = [];

beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await killAll(workers);
  await app?.close();
});

test("1,000 jobs by 4 workers are each done once, and each worker did some", async () => {
  const token = await app.token();
  workers = Array.from({ length: WORKERS }, (_, i) =>
    startWorker({ url: app.url, token, name: `worker-${i}`, concurrency: 8 }),
  );
  await until(
    () => app.client.query(api.work.workers, {}),
    (seen) => seen.length === WORKERS,
  );
  const ids: string[] = [];
  for (let batch = 0; batch < 10; batch++) {
    const payloads = Array.from({ length: JOBS / 10 }, (_, i) => ({
      n: (batch * JOBS) / 10 + i,
      workMs: 2,
    }));
    ids.push(...(await app.client.mutation(...sums.enqueueMany("sums", payloads))));
  }
  await until(
    () => app.client.query(api.done.count, {}),
    (count) => count >= JOBS,
    120_000,
  );

  const done = await app.client.query(api.done.list, {});
  expect(done).toHaveLength(JOBS);
  expect(new Set(done.map((row) => row.job))).toEqual(new Set(ids));
  expect(done.map((row) => row.n)).toEqual(Array.from({ length: JOBS }, (_, n) => n));
  expect(done.every((row) => row.status === "succeeded")).toBe(true);
  expect(new Set(done.map((row) => row.worker)).size).toBe(WORKERS);

  // No attempt was given to two workers. (A worker that a slow machine keeps from beating may lose a lease: then the job
  // has an attempt more, and still one outcome.)
  const started = workers.flatMap((worker) => worker.lines.filter((line) => line.started));
  const attempts = started.map((line) => `${line.started} ${line.attempt}`);
  expect(new Set(attempts).size).toBe(attempts.length);
  expect(attempts.length).toBe(done.reduce((sum, row) => sum + row.attempt, 0));
  const status = await app.client.query(...sums.status(ids[7]!));
  expect(status).toMatchObject({ status: "succeeded", result: { square: 49 } });
}, 180_000);
