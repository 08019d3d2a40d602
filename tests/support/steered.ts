/** Workers of one process on the test app, which is pushed to a local backend: each ends with its test. */
import { vi } from "vitest";
import { jobCalls } from "../../src/shared/index.js";
import { Worker, type WorkerEvent, type WorkerOptions } from "../../src/worker/index.node.js";
import { api } from "./app/convex/_generated/api.js";
import { startApp, type TestApp } from "./testApp.js";

const sums = jobCalls(api.sums);

export let app: TestApp;
let token: string;
const running: Worker<typeof api.work>[] = [];

/** Before all tests. */
export async function openApp(): Promise<void> {
  app = await startApp();
  token = await app.token();
}

/** After each test. */
export async function endWorkers(): Promise<void> {
  await Promise.all(running.splice(0).map((worker) => worker.stop({ graceMs: 0 })));
}

/** After all tests. */
export const closeApp = () => app?.close();

export const enqueue = (n: number) =>
  app.client.mutation(...sums.enqueue("sums", { n, workMs: 0 }));

export const statusOf = async (id: string) => (await app.client.query(...sums.status(id)))?.status;

export const until = (isSo: () => boolean | Promise<boolean>) =>
  vi.waitUntil(isSo, { timeout: 30_000, interval: 50 });

/** A worker that squares numbers, if the options say nothing else. */
export function start(name: string, options: Partial<WorkerOptions<typeof api.work>> = {}) {
  const events: WorkerEvent[] = [];
  const worker = new Worker({
    ...{ url: app.url, token, api: api.work, name, handleSignals: false },
    handlers: { sums: async ({ payload: { n } }) => ({ square: n * n }) },
    onEvent: (event) => void events.push(event),
    ...options,
  });
  running.push(worker);
  return { worker, events, ended: worker.run() };
}
