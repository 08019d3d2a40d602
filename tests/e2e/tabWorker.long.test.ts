/** A browser's tab as a worker: it serves a queue, is closed in the middle, and no job is lost or counted twice. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { build } from "esbuild";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { api } from "../support/app/convex/_generated/api.js";
import { hasChromium, launch } from "../support/chromium.js";
import { root } from "../support/paths.js";
import { startApp, type TestApp } from "../support/testApp.js";
import { jobCalls } from "../../src/shared/index.js";
import { Worker } from "../../src/worker/index.node.js";

const sums = jobCalls(api.sums);
const JOBS = 24;
const JOB_MS = 250;

/** The page's program, as an app would write it. */
const PAGE = `
  import { Worker } from "convex-conveyor/worker";
  import { anyApi } from "convex/server";
  window.serve = ({ url, token }) => {
    const worker = new Worker({
      url, token, api: anyApi.work, concurrency: 3,
      handlers: {
        sums: async ({ payload: { n, workMs } }) => {
          await new Promise((resolve) => setTimeout(resolve, workMs));
          return { square: n * n };
        },
      },
    });
    window.worker = worker;
    void worker.run();
    return worker.name;
  };
`;

describe.skipIf(!hasChromium())("a tab that serves a queue", () => {
  let app: TestApp;
  let token: string;
  let pages: Server;
  let browser: Browser;

  beforeAll(async () => {
    app = await startApp();
    token = await app.token();
    const { outputFiles } = await build({
      stdin: { contents: PAGE, resolveDir: path.join(root, "tests/support/app") },
      ...{ bundle: true, write: false, format: "iife", platform: "browser", logLevel: "silent" },
    });
    const script = outputFiles[0]!.text.replaceAll("</script", "<\\/script");
    pages = createServer((_, response) => {
      response.writeHead(200, { "content-type": "text/html" });
      response.end(`<!doctype html><title>Worker</title><script>${script}</script>`);
    });
    await new Promise<void>((resolve) => pages.listen(0, "127.0.0.1", resolve));
    browser = await launch();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    pages?.close();
    await app?.close();
  }, 60_000);

  async function open(): Promise<{ tab: Page; name: string }> {
    const tab = await browser.newPage();
    await tab.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}`);
    const serve = `window.serve(${JSON.stringify({ url: app.url, token })})`;
    return { tab, name: await tab.evaluate(serve) };
  }

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

  test("is closed in the middle: another worker does its jobs, and each succeeds once", async () => {
    const ids = await Promise.all(Array.from({ length: JOBS }, (_, n) => enqueue(n)));
    const { tab, name } = await open();
    expect(name).toMatch(/^worker:[0-9a-f]{8}$/);
    await haveEnded(6);
    // Without a word, as a crash would be: what it holds is lost with it.
    await tab.close({ runBeforeUnload: false });
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

  test("tells its state, changes its room, and drains when it is stopped", async () => {
    const { tab } = await open();
    const state = () => tab.evaluate("window.worker.state");
    await vi.waitUntil(async () => (await state()) === "waiting", { timeout: 60_000 });
    await tab.evaluate("window.worker.concurrency = 1");
    const id = await enqueue(5);
    await vi.waitUntil(async () => (await state()) === "working", {
      timeout: 60_000,
      interval: 10,
    });
    await tab.evaluate("window.worker.stop()");
    expect(await state()).toBe("stopped");
    expect(await succeeded([id])).toMatchObject([{ result: { square: 25 } }]);
    await tab.close();
  }, 60_000);
});
