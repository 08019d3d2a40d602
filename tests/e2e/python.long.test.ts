/** Node and Python workers of one queue, as real processes. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../../local/until.js";
import { jobCalls } from "../../src/shared/index.js";
import { api } from "../support/app/convex/_generated/api.js";
import { withoutPython } from "../support/python.js";
import { startApp, type TestApp } from "../support/testApp.js";
import { killAll, startWorker, type WorkerProcess } from "../support/workers.js";

const sums = jobCalls(api.sums);

describe.skipIf(withoutPython())("a Python worker", () => {
  let app: TestApp;
  let token: string;
  let workers: WorkerProcess[] = [];

  beforeAll(async () => {
    app = await startApp();
    token = await app.token();
  });
  afterAll(async () => {
    await killAll(workers);
    await app?.close();
  });

  const begin = (name: string, isPython: boolean) => {
    const worker = startWorker({ url: app.url, token, name, concurrency: 4, isPython });
    workers = [...workers, worker];
    return worker;
  };
  const startsOf = (worker: WorkerProcess) =>
    worker.lines.filter(({ started }) => started !== undefined);

  // Shows C26.
  test("200 jobs by a Node and a Python worker, which is killed in the middle, take effect once each", async () => {
    const JOBS = 200;
    const node = begin("node", false);
    const python = begin("python", true);
    await Promise.all(
      [node, python].map((one) => one.line(({ event }) => event?.kind === "started")),
    );
    const payloads = Array.from({ length: JOBS }, (_, n) => ({ n, workMs: 150 }));
    await app.client.mutation(...sums.enqueueMany("sums", payloads));
    await until(
      async () => startsOf(python).length,
      (begun) => begun >= 20,
    );
    python.process.kill("SIGKILL");
    await python.exited;
    const cut = startsOf(python)
      .filter(({ started }) => !python.lines.some(({ finished }) => finished === started))
      .map(({ started }) => started);
    expect(cut.length).toBeGreaterThan(0);
    const second = begin("python again", true);

    await until(
      () => app.client.query(api.done.count, {}),
      (done) => done >= JOBS,
      90_000,
    );
    const rows = await app.client.query(api.done.list, {});
    expect(rows.map(({ n }) => n)).toEqual(payloads.map(({ n }) => n));
    expect(rows.every(({ status }) => status === "succeeded")).toBe(true);
    const by = (name: string) => rows.filter(({ worker }) => worker === name).length;
    for (const name of ["node", "python", "python again"]) expect(by(name)).toBeGreaterThan(5);
    // Only jobs that died with the process were begun anew.
    const again = rows.filter(({ attempt }) => attempt > 1);
    expect(again.length).toBeLessThanOrEqual(8);
    for (const job of cut) expect(rows.find((row) => row.job === job)?.attempt).toBeGreaterThan(1);

    second.process.kill("SIGTERM");
    expect(await second.exited).toBe(0);
    expect(second.lines).toContainEqual({ stopped: true });
  }, 150_000);
});
