/**
 * The callback of `tests/races/hotCallback.long.test.ts`, and a worker that knows nothing of it: the platform refuses its calls
 * again and again, until it asks for the outcome without the callback.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../../local/until.js";
import { api } from "../support/app/convex/_generated/api.js";
import { Worker, type WorkerEvent } from "../../src/worker/index.js";
import {
  enqueued,
  LOAD_MAX_MS,
  startHotApp,
  startLoad,
  TEST_TIMEOUT_MS,
  toldOf,
  type HotApp,
} from "../races/hotRow.js";

let app: HotApp;
beforeAll(async () => void (app = await startHotApp()));
afterAll(() => app?.close());

test(
  "a worker brings such outcomes home by itself, while the app goes on as busy as it is",
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const before = (await app.client.query(api.hot.read, {})).told;
    const events: WorkerEvent[] = [];
    const count = (kind: WorkerEvent["kind"]) =>
      events.filter((event) => event.kind === kind).length;
    const worker = new Worker({
      ...{
        url: app.url,
        token: app.workerToken,
        api: api.work,
        concurrency: 2,
        handleSignals: false,
      },
      handlers: { hot: async ({ payload }) => ({ square: payload.n ** 2 }) },
      onEvent: (event) => void events.push(event),
    });
    const load = await startLoad(app);
    let ids: string[];
    const run = worker.run();
    try {
      ids = await enqueued(app, 2);
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
    expect(await toldOf(app, ids)).toEqual([1, 1]);
    // The row says so too: none of the tries that lost has left anything.
    const { told } = await app.client.query(api.hot.read, {});
    expect(told - before).toBe(2);
  },
);
