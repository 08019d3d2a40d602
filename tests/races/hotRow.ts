/** An app with a callback that patches a row which twelve clients patch all the time: they conflict. */
import { ConvexHttpClient } from "convex/browser";
import { startApp, type TestApp } from "../support/testApp.js";
import { until } from "../../local/until.js";
import { api } from "../support/app/convex/_generated/api.js";
import { jobCalls } from "../../src/shared/index.js";

const CLIENTS = 12;
/** The load ends by itself then; the test must have shown its point before. */
export const LOAD_MAX_MS = 60_000;
/** A scheduled mutation that has lost to the load for so long waits up to as long again. */
const TOLD_WITHIN_MS = 2 * LOAD_MAX_MS;
export const TEST_TIMEOUT_MS = LOAD_MAX_MS + TOLD_WITHIN_MS + 30_000;

export interface HotApp extends TestApp {
  /** A token for the queue of the callback. */
  workerToken: string;
}

export async function startHotApp(): Promise<HotApp> {
  const app = await startApp();
  const workerToken = await app.token(["hot"]);
  await app.client.mutation(api.hot.create, {});
  return { ...app, workerToken };
}

export interface Load {
  isRunning: () => boolean;
  bumps: () => number;
  stop: () => Promise<void>;
}

/** Twelve clients that patch the row one call after the other, and no faster than they are answered. Each has come through. */
export async function startLoad(app: TestApp): Promise<Load> {
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
  await until(
    async () => bumps,
    (count) => count >= CLIENTS,
  );
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

export async function enqueued(app: TestApp, count: number): Promise<string[]> {
  const payloads = Array.from({ length: count }, (_, n) => ({ n }));
  return await app.client.mutation(...jobCalls(api.hot).enqueueMany("hot", payloads));
}

/** How often the app's callback ran for each of these jobs, once all have had it. */
export async function toldOf(app: TestApp, ids: string[]): Promise<number[]> {
  const count = async () => {
    const rows = await app.client.query(api.done.list, {});
    return ids.map((id) => rows.filter((row) => row.job === id).length);
  };
  return await until(count, (counts) => counts.every((times) => times > 0), TOLD_WITHIN_MS);
}
