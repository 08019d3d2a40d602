/** Every view of the dashboard in Chromium, over queues under load: its content, its live updates, and its accessibility. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../support/chromium.js";
import { describeOnFailure } from "../support/describeOnFailure.js";
import { counts } from "../../local/counts.js";
import { until } from "../../local/until.js";
import { api } from "../dashboard/app/convex/_generated/api.js";
import {
  Line,
  overflow,
  startLooks,
  violations,
  type Looks,
  type Size,
} from "../dashboard/looks.js";
import { startStage, type Stage } from "../dashboard/stage.js";

const MAILS_A_SECOND = counts(2, 20);

describe.skipIf(!hasChromium())("the dashboard's views", () => {
  let stage: Stage;
  let looks: Looks;
  let unload: (() => Promise<void>) | undefined;
  let question: string;
  let unlabeled: string;

  beforeAll(async () => {
    stage = await startStage();
    await stage.client.mutation(api.stage.importFiles, { from: 0, count: 300 });
    await stage.client.mutation(api.stage.importFiles, {
      from: 300,
      count: 3,
      runAfter: 3_600_000,
    });
    const labels = ["h100"];
    [unlabeled = ""] = await stage.client.mutation(api.stage.render, { count: 1, ms: 10, labels });
    question = await stage.client.mutation(api.stage.ask, {
      ...{ question: "Is this seen as it comes?", words: 3_000, everyMs: 200 },
    });
    unload = stage.load(MAILS_A_SECOND);
    looks = await startLooks(stage, describeOnFailure);
  }, 180_000);
  afterAll(async () => {
    await unload?.();
    await looks?.close();
    await stage?.close();
  }, 60_000);

  /** The overview's count of jobs that are due later, of the queue without workers. */
  const scheduled = (page: Page, count: number) =>
    page
      .getByRole("listitem")
      .filter({ has: page.getByRole("heading", { name: "imports" }) })
      .getByRole("link", {
        name: new RegExp(`\\b${count} scheduled|scheduled.*\\b${count}\\b`, "i"),
      });
  const later = async (count: number) =>
    await stage.client.mutation(api.stage.importFiles, { from: 0, count, runAfter: 3_600_000 });

  const VIEWS: readonly (readonly [view: string, path: () => string, ready: RegExp])[] = [
    ["the queues", () => "/", /^Queues$/],
    ["a busy queue", () => "/queues/mails", /^mails$/],
    ["a queue that waits", () => "/queues/imports?status=pending", /^imports$/],
    ["a queue's events", () => "/queues/mails?show=events", /^mails$/],
    ["a queue's configuration", () => "/queues/mails?show=configuration", /^mails$/],
    ["a running job", () => `/queues/answers/jobs/${question}`, /^question$/],
    ["the workers", () => "/workers", /^Workers$/],
    ["a job that is gone", () => "/queues/mails/jobs/nobody", /^Job not found$/],
    ["a queue that is none", () => "/queues/nobody", /^nobody$/],
    ["an address that leads nowhere", () => "/no/such/place", /^Page not found$/],
  ];

  const LOOKS = [
    ["laptop", "light"],
    ["phone", "dark"],
  ] as const satisfies [Size, string][];

  for (const [i, [view, path, ready]] of VIEWS.entries()) {
    for (const [size, scheme] of counts([LOOKS[i % LOOKS.length]!], LOOKS)) {
      test(`${view}: usable by all at a ${size}'s width, ${scheme}`, async () => {
        const page = await looks.open(path(), { size, dark: scheme === "dark" });
        const problems = watched(page);
        await page.getByRole("heading", { name: ready }).first().waitFor();
        await settled(page);
        expect(await violations(page)).toEqual([]);
        expect(await overflow(page)).toBe(0);
        expect(problems).toEqual([]);
        await page.close();
      }, 60_000);
    }
  }

  test("the overview counts as jobs come, in two browsers at once", async () => {
    const pages = [await looks.open("/"), await looks.open("/", { size: "phone" })];
    for (const page of pages) await scheduled(page, 3).waitFor();
    await later(4);
    for (const page of pages) await scheduled(page, 7).waitFor();
    await Promise.all(pages.map((page) => page.close()));
  }, 60_000);

  test("a filter stands in the address, and a copied address shows the same", async () => {
    const page = await looks.open("/queues/mails");
    // Its count may be 0, and "1,000+" once the load has run for a minute.
    await page.getByRole("link", { name: /^[\d,]+\+? Succeeded$/ }).click();
    await page.getByRole("searchbox", { name: "Name" }).fill("newsletter");
    await expect
      .poll(() => new URL(page.url()).hash, { timeout: 15_000 })
      .toBe("#/queues/mails?status=succeeded&name=newsletter");
    const other = await looks.open(new URL(page.url()).hash.slice(1));
    const field = other.getByRole("searchbox", { name: "Name" });
    await field.waitFor();
    expect(await field.inputValue()).toBe("newsletter");
    const chosen = other.getByRole("link", { name: /Succeeded$/ });
    expect(await chosen.getAttribute("aria-current")).toBe("true");
    await other.getByRole("link", { name: "newsletter" }).first().waitFor();
    await page.close();
    await other.close();
  }, 60_000);

  test("a job's progress, log and output come while one watches", async () => {
    const page = await looks.open(`/queues/answers/jobs/${question}`);
    await page.getByText("Asked: Is this seen as it comes?").waitFor();
    const output = page.getByRole("region", { name: /output/i }).last();
    const written = async () => (await output.innerText()).length;
    const before = await until(written, (length) => length > 20);
    await until(written, (length) => length > before + 10);
    await page.close();
  }, 60_000);

  test("a job that no worker can take names the missing labels", async () => {
    const page = await looks.open(`/queues/renders/jobs/${unlabeled}`);
    const stands = page.getByRole("region", { name: "Status" });
    await stands.getByText(/h100/).first().waitFor();
    await page.close();
  }, 60_000);

  test("the workers are shown with their jobs: one outside, and lanes", async () => {
    const page = await looks.open("/workers");
    await page.getByText("anvil").first().waitFor();
    await page
      .getByText(/mails#\d+|answers#\d+/)
      .first()
      .waitFor();
    await page.close();
  }, 60_000);

  test("a long list shows its end without drawing all of it", async () => {
    const page = await looks.open("/queues/imports?status=pending&order=next");
    const list = page.getByLabel(/^Jobs of imports/);
    await list.getByRole("row").nth(5).waitFor();
    for (let step = 0; step < 40; step++) {
      await list.evaluate((element) => element.scrollTo(0, element.scrollHeight));
      await page.waitForTimeout(100);
      if ((await list.getByRole("button", { name: /more/i }).count()) === 0) break;
    }
    expect(await list.getByRole("row").count()).toBeLessThan(60);
    await page.close();
  }, 60_000);

  test("through a dropped connection the page says so, keeps its content, and catches up", async () => {
    const line = new Line();
    const page = await looks.open("/", { line });
    await scheduled(page, 7).waitFor();
    await line.cut();
    await page.getByText("Disconnected.").waitFor({ timeout: 30_000 });
    expect(await scheduled(page, 7).isVisible()).toBe(true);
    expect(await page.getByRole("button", { name: "Pause imports" }).isDisabled()).toBe(true);
    await later(5);
    line.mend();
    await scheduled(page, 12).waitFor({ timeout: 60_000 });
    await page.getByText("Disconnected.").waitFor({ state: "detached" });
    await page.close();
  }, 120_000);
});

function watched(page: Page): string[] {
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  return problems;
}

/** Nothing that is still on its way. */
async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector(".cv-skeleton") === null);
}
