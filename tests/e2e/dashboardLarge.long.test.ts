/** With up to 100,000 jobs in a queue each view reads only the rows that it shows: documents are counted; times are printed. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import { hasChromium } from "../support/chromium.js";
import { describeOnFailure } from "../support/describeOnFailure.js";
import { CALM_EVERY_MS } from "../../src/react/calmWatch.js";
import { api } from "../dashboard/app/convex/_generated/api.js";
import { startLooks, type Looks } from "../dashboard/looks.js";
import { startStage, type Stage } from "../dashboard/stage.js";

const JOBS = counts(6_000, 100_000);
const A_CALL = 1_000;
/** Documents of the longest list's first page, with the ones that each row may cost beside it. */
const DOCUMENTS_MAX = 3_000;
/** Longer than a rest, in which nothing runs. */
const WATCHED_MS = counts(2, 3) * CALM_EVERY_MS;
/** A query at full speed runs two or three times before it rests. A busy machine unsubscribes late; without rests it runs at each commit. */
const RUNS_A_REST = 8;

async function opened(page: Page, ready: RegExp): Promise<void> {
  await page.getByText(ready).first().waitFor();
  await page.waitForFunction(() => document.querySelector(".cv-skeleton") === null);
}

describe.skipIf(!hasChromium())("the dashboard over many jobs", () => {
  let stage: Stage;
  let looks: Looks;
  let middle: string;

  beforeAll(async () => {
    stage = await startStage();
    for (let from = 0; from < JOBS; from += A_CALL) {
      const ids = await stage.client.mutation(api.stage.importFiles, { from, count: A_CALL });
      if (from === JOBS / 2) middle = ids[0]!;
    }
    looks = await startLooks(stage, describeOnFailure);
  }, 300_000);
  afterAll(async () => {
    await looks?.close();
    await stage?.close();
  }, 60_000);

  for (const [view, path, ready] of [
    ["the queues", () => "/", /imports/],
    ["the queue", () => "/queues/imports?status=pending", /archive|pending/i],
    ["the queue, next first", () => "/queues/imports?status=pending&order=next", /pending/i],
    ["a job in the middle", () => `/queues/imports/jobs/${middle}`, /Timeline/],
    ["the workers", () => "/workers", /anvil/],
  ] as const) {
    test(
      view,
      async () => {
        // Documents are counted the first time, before any answer is cached; time the second, with the browser's files loaded.
        stage.backend.stats.reset();
        const first = await looks.open(path());
        await opened(first, ready);
        await first.waitForTimeout(500);
        const { total, functions } = stage.backend.stats.snapshot();
        await first.close();
        const startedAt = performance.now();
        const page = await looks.open(path());
        await opened(page, ready);
        const ms = performance.now() - startedAt;
        const most = Math.max(...Object.values(functions).map(({ io }) => io.documentsRead));
        console.log(`${view}: ${ms.toFixed()} ms, ${total.io.documentsRead} documents read`);
        expect(most).toBeLessThan(DOCUMENTS_MAX);
        await page.close();
      },
      60_000,
    );
  }

  type View = readonly [view: string, path: string, things: number];
  const FULL_SPEED: readonly View[] = [
    // The queues, and the main loop above them.
    ["the queues", "/", 2],
    // The queue, its statistics, its events and its list, each a subscription to `read`.
    ["a busy queue", "/queues/mails", 4],
    ["its list of the last ended jobs", "/queues/mails?status=succeeded", 4],
    ["the workers", "/workers", 1],
  ];
  for (const [view, path, things] of FULL_SPEED.slice(0, counts(2, 4))) {
    test(`${view}, at full speed: each thing shown runs a few times between rests`, async () => {
      const unload = stage.load(100);
      const page = await looks.open(path);
      await page.waitForFunction(() => document.querySelector(".cv-skeleton") === null);
      await page.waitForTimeout(counts(2_000, 3_000));
      stage.backend.stats.reset();
      const since = performance.now();
      await page.waitForTimeout(WATCHED_MS);
      const { functions } = stage.backend.stats.snapshot();
      const rests = (performance.now() - since) / CALM_EVERY_MS;
      await unload();
      const shown = Object.entries(functions).filter(([name]) => name.startsWith("dashboard:"));
      const runs = shown.map(([name, { billed }]) => [name, billed] as const);
      console.log(`${view}: ${runs.map(([name, count]) => `${name} ${count}`).join(", ")}`);
      expect(runs).not.toEqual([]);
      for (const [, count] of runs)
        expect(count).toBeLessThanOrEqual(things * RUNS_A_REST * (rests + 1));
      await page.close();
    }, 180_000);
  }
});
