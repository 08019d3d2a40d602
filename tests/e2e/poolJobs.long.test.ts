/**
 * A pool with a deployment: its processes are restarted one after another, killed and fewer, and each job has its effect once.
 * No claim is about time; each step prints its own.
 */
import path from "node:path";
import { WorkerPool, type PoolEvent } from "convex-conveyor/worker/node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { convex } from "../../local/convexCli.js";
import { counts } from "../../local/counts.js";
import { until } from "../../local/until.js";
import { jobCalls } from "../../src/shared/index.js";
import { api } from "../support/app/convex/_generated/api.js";
import { root } from "../support/paths.js";
import { startApp, type TestApp } from "../support/testApp.js";

const APP = path.join(root, "tests/support/app");
const sums = jobCalls(api.sums);
const JOBS = 40;
/** Of a step. */
const LIMIT_MS = 5 * 60_000;
/** A busy machine keeps it, and the jobs of a killed process wait for its end. */
const LEASE_MS = counts(12_000, 30_000);
/** The first attempt of some jobs takes longer than the test, and each slot of three processes has one. */
const ENDLESS_MS = 3_600_000;
const SLOTS = 6;
const ALL = SLOTS + JOBS;

let app: TestApp;
beforeAll(async () => void (app = await startApp()), LIMIT_MS);
afterAll(() => app?.close());

async function timed<Result>(step: string, take: () => Promise<Result>): Promise<Result> {
  const from = performance.now();
  const result = await take();
  const seconds = (performance.now() - from) / 1_000;
  process.stdout.write(`${seconds.toFixed(2).padStart(7)} s  ${step}\n`);
  return result;
}

const statuses = (ids: string[]) =>
  Promise.all(ids.map((id) => app.client.query(...sums.status(id))));

/** Endless jobs, and shorter ones behind them. */
async function enqueue(from: number): Promise<string[]> {
  const [count, more] = [SLOTS, JOBS];
  const endless = await app.client.mutation(api.chaos.enqueue, {
    ...{ from, count, workMs: ENDLESS_MS },
  });
  await app.client.mutation(api.chaos.enqueue, { from: from + count, count: more, workMs: 400 });
  return endless;
}

/** The worker of each has acknowledged it: its next attempt is another one, and has an end. */
const held = (endless: string[]) =>
  until(
    () => statuses(endless),
    (jobs) =>
      jobs.every(
        (job) =>
          job?.status === "succeeded" || (job?.status === "running" && job.progress !== undefined),
      ),
    LIMIT_MS,
  );

/** The rows of the app that the ends of these jobs have written, when there are as many as jobs. */
const effects = (from: number) =>
  until(
    () => app.client.query(api.chaos.done, { from, count: ALL }),
    (rows) => rows.length >= ALL,
    LIMIT_MS,
  );

/** One of each, and of the endless ones that of a later attempt. */
function expectOnce(from: number, rows: Awaited<ReturnType<typeof effects>>): void {
  const each = Array.from({ length: ALL }, (_, at) => ({ n: from + at, status: "succeeded" }));
  expect(rows).toMatchObject(each);
  expect(Math.min(...rows.slice(0, SLOTS).map(({ attempt }) => attempt))).toBeGreaterThan(1);
}

// Shows CR-12.
test(
  "no job is lost by a rolling restart, a killed process and fewer processes, and each has its effect once",
  async () => {
    const events: PoolEvent[] = [];
    const pool = new WorkerPool({
      file: path.join(APP, "worker.ts"),
      processes: 3,
      env: {
        CONVEX_URL: app.url,
        CONVEYOR_TOKEN: await app.token(),
        WORKER_NAME: "pooled",
        WORKER_CONCURRENCY: "2",
      },
      graceMs: 200,
      handleSignals: false,
      onEvent: (event) => void events.push(event),
    });
    const before = await enqueue(1);
    const configure = ["run", "--component", "conveyor", "operate:configureQueue"];
    const lease = JSON.stringify({ queue: "sums", overrides: { leaseMs: LEASE_MS } });
    await convex(APP, [...configure, lease], app.backend);
    const running = pool.run();
    try {
      await timed("three processes are ready", () =>
        until(
          async () => events.filter(({ kind }) => kind === "ready").length,
          (ready) => ready >= 3,
          LIMIT_MS,
        ),
      );
      await timed("each slot has an endless job", () => held(before));
      const first = pool.processes.map(({ id }) => id);
      await timed("a rolling restart", () => pool.restart());
      expect(pool.processes.filter(({ id }) => first.includes(id))).toEqual([]);
      expectOnce(1, await timed("the jobs", () => effects(1)));

      const after = await enqueue(1_000);
      await timed("each slot has an endless job", () => held(after));
      const [victim] = pool.processes;
      process.kill(victim!.pid, "SIGKILL");
      await timed("a process is killed and replaced", () =>
        until(
          async () => pool.processes,
          (all) => all.length === 3 && all.every(({ id }) => id !== victim!.id),
          LIMIT_MS,
        ),
      );
      // The last of them has jobs in hand.
      await timed("two processes are left", () => pool.resize(2));
      expect(pool.processes).toHaveLength(2);
      await timed("a rolling restart", () => pool.restart());
      expectOnce(1_000, await timed("the jobs", () => effects(1_000)));
      expect(events.find((one) => one.kind === "ended" && one.id === victim!.id)).toMatchObject({
        reason: "crashed",
        signal: "SIGKILL",
      });
    } finally {
      await timed("the pool has stopped", () => pool.stop());
      await running;
    }
    expect(pool.processes).toEqual([]);
    // Nothing has come late.
    for (const from of [1, 1_000]) expectOnce(from, await effects(from));
  },
  5 * LIMIT_MS,
);
