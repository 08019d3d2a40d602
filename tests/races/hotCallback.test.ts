/**
 * A callback that patches a row which the whole app patches all the time. Inside the transaction of an outcome it loses
 * its conflicts, and no `try` can catch that: the outcome would wait until the app is quiet. It must not: recorded with
 * its callback owed, it stands at once, and the callback is told alone, where it is retried for ever, exactly once.
 */
import { ConvexHttpClient } from "convex/browser";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Session, squared } from "../../harness/session.js";
import { startApp, type TestApp } from "../../harness/testApp.js";
import { until } from "../../harness/until.js";
import { api } from "../../harness/app/convex/_generated/api.js";
import { Worker, type WorkerEvent } from "../../src/worker/index.js";

const CLIENTS = 12;
/** The load ends by itself then; what it is to show must be shown before. */
const LOAD_MAX_MS = 60_000;
/** A scheduled mutation that has lost to the load for so long waits up to as long again. */
const TOLD_WITHIN_MS = 2 * LOAD_MAX_MS;
const TEST_TIMEOUT_MS = LOAD_MAX_MS + TOLD_WITHIN_MS + 30_000;

let app: TestApp;
let token: string;
let conflicts = 0;

beforeAll(async () => {
  app = await startApp();
  token = await app.token(["hot"]);
  await app.client.mutation(api.hot.create, {});
  app.backend.runner.onCompletion((completion) => {
    if (completion.address.path.includes("work:complete")) conflicts += completion.conflicts;
  });
});
afterAll(() => app?.close());
beforeEach(() => (conflicts = 0));

/** Twelve clients that patch the row one call after the other, and no faster than they are answered. */
function startLoad() {
  let running = true;
  let bumps = 0;
  const timer = setTimeout(() => (running = false), LOAD_MAX_MS);
  const clients = Array.from({ length: CLIENTS }, async () => {
    const client = new ConvexHttpClient(app.url, { logger: false });
    while (running) {
      const bumped = client.mutation(api.hot.bump, {});
      // They lose to each other too.
      await bumped.then(
        () => (bumps += 1),
        () => undefined,
      );
    }
  });
  return {
    isRunning: () => running,
    bumps: () => bumps,
    stop: async () => {
      running = false;
      clearTimeout(timer);
      await Promise.all(clients);
    },
  };
}

async function enqueued(count: number): Promise<string[]> {
  const payloads = Array.from({ length: count }, (_, n) => ({ n }));
  return await app.client.mutation(api.hot.enqueueBatch, { payloads });
}

async function claimAll(session: Session, count: number) {
  const jobs: Awaited<ReturnType<Session["claimed"]>> = [];
  while (jobs.length < count) jobs.push(...(await session.claimed(count - jobs.length)));
  return jobs;
}

/** How often the app was told of each of these jobs, once all have been. */
async function toldOf(ids: string[]): Promise<number[]> {
  const count = async () => {
    const rows = await app.client.query(api.done.list, {});
    return ids.map((id) => rows.filter((row) => row.job === id).length);
  };
  return await until(count, (counts) => counts.every((times) => times > 0), TOLD_WITHIN_MS);
}

async function statuses(ids: string[]): Promise<(string | undefined)[]> {
  return await Promise.all(
    ids.map(async (id) => (await app.client.query(api.hot.status, { id }))?.status),
  );
}

test(
  "outcomes whose callback conflicts all the time are recorded in one call that owes it",
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const all = await enqueued(16);
    const session = new Session(app.url, token, "by hand", "hot");
    const jobs = await claimAll(session, all.length);
    const finished = jobs.map(({ id, attempt }) => ({ id, attempt, outcome: squared(1) }));
    const controls = finished.splice(0, 8);
    const ids = finished.map(({ id }) => id);
    const load = startLoad();
    try {
      await until(
        async () => load.bumps(),
        (bumps) => bumps >= CLIENTS,
      );
      // The control: told inline, the callback's conflicts are the outcome's.
      for (const control of controls) {
        if (conflicts > 0) break;
        await session.complete([control], session.n + 1).then(
          () => (session.n += 1),
          () => undefined,
        );
      }
      expect(conflicts).toBeGreaterThan(0);
      conflicts = 0;

      const { answers } = await app.client.mutation(api.work.complete, {
        ...{ token, session: session.id, n: session.n + 1, finished, deferCallbacks: true },
      });
      expect(answers.map(({ answer }) => answer)).toEqual(ids.map(() => "ok"));
      expect(await statuses(ids)).toEqual(ids.map(() => "succeeded"));
      expect(load.isRunning(), "the app was busy all the while").toBe(true);
      console.log(`8 outcomes with callbacks owed: ${conflicts} conflicts, ${load.bumps()} bumps`);
    } finally {
      await load.stop();
    }
    expect(await toldOf(ids)).toEqual(ids.map(() => 1));
  },
);

test(
  "a worker brings them home by itself, while the app goes on as busy as it is",
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const before = (await app.client.query(api.hot.read, {})).told;
    const events: WorkerEvent[] = [];
    const count = (kind: WorkerEvent["kind"]) =>
      events.filter((event) => event.kind === kind).length;
    const worker = new Worker({
      ...{ url: app.url, token, api: api.work, concurrency: 2, handleSignals: false },
      handlers: { hot: async ({ payload }) => ({ square: payload.n ** 2 }) },
      onEvent: (event) => void events.push(event),
    });
    const load = startLoad();
    let ids: string[];
    const run = worker.run();
    try {
      await until(
        async () => load.bumps(),
        (bumps) => bumps >= CLIENTS,
      );
      ids = await enqueued(2);
      await until(
        async () => count("recorded"),
        (recorded) => recorded === 2,
        LOAD_MAX_MS,
      );
      expect(load.isRunning(), "the app was busy all the while").toBe(true);
      console.log(`2 outcomes by a worker: ${count("callRejected")} calls rejected before`);
    } finally {
      await load.stop();
      await worker.stop();
      await run;
    }
    expect(await toldOf(ids)).toEqual([1, 1]);
    // The row says so too: none of the tries that lost has left anything.
    const { told } = await app.client.query(api.hot.read, {});
    expect(told - before).toBe(2);
  },
);
