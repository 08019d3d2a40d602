/** A browser's tab as a worker: it serves a queue, is closed in the middle, and no job is lost or counted twice. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { api } from "../support/app/convex/_generated/api.js";
import { hasChromium } from "../support/chromium.js";
import { Tabs } from "../support/tabs.js";
import { startApp, type TestApp } from "../support/testApp.js";
import { jobCalls } from "../../src/shared/index.js";
import { Worker } from "../../src/worker/index.node.js";

const sums = jobCalls(api.sums);
const JOBS = 24;
const JOB_MS = 250;

describe.skipIf(!hasChromium())("a tab that serves a queue", () => {
  let app: TestApp;
  let token: string;
  let tabs: Tabs;

  beforeAll(async () => {
    app = await startApp();
    token = await app.token();
    tabs = await Tabs.start();
  }, 120_000);
  afterAll(async () => {
    await tabs?.close();
    await app?.close();
  }, 60_000);

  const open = () => tabs.open({ url: app.url, token });

  const enqueue = (n: number) =>
    app.client.mutation(...sums.enqueue("sums", { n, workMs: JOB_MS }));
  const succeeded = async (ids: readonly string[]) =>
    await Promise.all(
      ids.map(async (id) => {
        const job = await app.client.query(...sums.status(id));
        if (job?.status !== "succeeded") throw new Error(`${id} is ${job?.status ?? "gone"}.`);
        return job;
      }),
    );
  /** One call: a page's worker has its share of a busy machine. */
  const ended = async () => await app.client.query(api.done.count, {});
  const haveEnded = async (count: number) =>
    await vi.waitUntil(async () => (await ended()) >= count, { timeout: 60_000, interval: 100 });

  // Shows LF-38, D24, D25, CR-13.
  test("is closed in the middle: another worker does its jobs, and each succeeds once", async () => {
    const ids = await Promise.all(Array.from({ length: JOBS }, (_, n) => enqueue(n)));
    const tab = await open();
    const { name } = tab;
    expect(name).toMatch(/^worker:[0-9a-f]{8}$/);
    await haveEnded(6);
    await tab.crash();
    expect(await ended()).toBeLessThan(JOBS);

    const next = new Worker({
      ...{ url: app.url, token, api: api.work, name: "next", handleSignals: false },
      handlers: { sums: async ({ payload: { n } }) => ({ square: n * n }) },
      onEvent: () => {},
    });
    const running = next.run();
    await haveEnded(JOBS);
    await next.stop();
    await running;
    const all = await succeeded(ids);
    expect(all.map(({ result }) => result)).toEqual(ids.map((_, n) => ({ square: n * n })));
    const workers = new Set(all.map(({ worker }) => worker));
    expect(workers).toEqual(new Set([name, "next"]));
    // Jobs that the tab held when it was closed were claimed once more, and each has one end.
    expect(all.some(({ worker, attempt }) => worker === "next" && attempt > 1)).toBe(true);
    const done = await app.client.query(api.done.list, {});
    expect(done.map(({ job }) => job).sort()).toEqual([...ids].sort());
  }, 120_000);

  // Shows D24, LF-38.
  test("tells its state, changes its room, and drains when it is stopped", async () => {
    const { page } = await open();
    const state = () => page.evaluate("window.worker.state");
    await vi.waitUntil(async () => (await state()) === "waiting", { timeout: 60_000 });
    await page.evaluate("window.worker.concurrency = 1");
    await page.evaluate(`
      window.heard = [];
      window.worker.addEventListener("finished", (event) =>
        heard.push([event instanceof CustomEvent, event.type, event.detail.id]));
    `);
    const id = await enqueue(5);
    await vi.waitUntil(async () => (await state()) === "working", {
      timeout: 60_000,
      interval: 10,
    });
    await page.evaluate("window.worker.stop()");
    expect(await state()).toBe("stopped");
    expect(await succeeded([id])).toMatchObject([{ result: { square: 25 } }]);
    expect(await page.evaluate("window.heard")).toEqual([[true, "finished", id]]);
    await page.close();
  }, 60_000);
});
