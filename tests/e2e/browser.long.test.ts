/** The example in real browsers: all pages show the same picture arrive, also one that opens late or reloads. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium, launch } from "../support/chromium.js";
import { describeOnFailure } from "../support/describeOnFailure.js";
import { start, type Program } from "../support/program.js";

/** A page may show a change later than it is committed. */
const PATIENCE = { timeout: 30_000 };

describe.skipIf(!hasChromium())("the render farm's page", () => {
  let farm: Program;
  let url: string;
  let browsers: Browser[] = [];

  beforeAll(async () => {
    farm = start("npm", ["start", "--", "--page-port", "5371"]);
    url = (await farm.prints(/Open\s+(http:\S+)/, 90_000))[1]!;
    browsers = await Promise.all([launch(), launch()]);
  }, 120_000);
  afterAll(async () => {
    await Promise.all(browsers.map((browser) => browser.close()));
    await farm?.interrupt();
  }, 60_000);

  async function open(browser: Browser, address: string): Promise<Page> {
    const page = await browser.newPage();
    describeOnFailure(page);
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(error.message));
    await page.goto(address);
    await page.getByRole("heading", { name: "New picture" }).waitFor();
    expect(problems).toEqual([]);
    return page;
  }

  const drawn = (page: Page) =>
    page
      .getByRole("img", { name: /tiles drawn/ })
      .getAttribute("aria-label")
      .then((label) => Number(/(\d+) of \d+ tiles drawn/.exec(label ?? "")?.[1]));

  const allDrawn = (page: Page) =>
    page.getByRole("img", { name: /(\d+) of \1 tiles drawn/ }).waitFor({ timeout: 60_000 });

  /** A fingerprint of the canvas. */
  const pixels = (page: Page) =>
    page.locator("canvas[role=img]").evaluate(async (canvas: HTMLCanvasElement) => {
      const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
      const digest = await crypto.subtle.digest("SHA-256", data);
      return [...new Uint8Array(digest)].map((byte) => byte.toString(16)).join("");
    });

  test("two browsers see the same picture arrive, and one that reloads in the middle catches up", async () => {
    const first = await open(browsers[0]!, url);
    await first.getByRole("button", { name: /^Draw it in \d+ tiles/ }).click();
    await first.getByRole("img", { name: /tiles drawn/ }).waitFor();
    const second = await open(browsers[1]!, first.url());
    await second.getByRole("img", { name: /tiles drawn/ }).waitFor();

    // It arrives while one watches, tile by tile.
    await expect.poll(() => drawn(second), { timeout: 30_000, interval: 20 }).toBeGreaterThan(2);
    const before = await drawn(second);
    expect(before).toBeLessThan(48);
    await second.reload();
    await second.getByRole("img", { name: /tiles drawn/ }).waitFor();
    await expect.poll(() => drawn(second), PATIENCE).toBeGreaterThanOrEqual(before);

    await Promise.all([allDrawn(first), allDrawn(second)]);
    // The last tile's pixels follow its row by a query.
    await expect.poll(() => pixels(first), PATIENCE).not.toBe(await blank(first));
    await expect
      .poll(async () => (await pixels(first)) === (await pixels(second)), PATIENCE)
      .toBe(true);
  }, 120_000);

  test("a summary that failed once shows that on the page, and comes by itself", async () => {
    const page = await open(browsers[0]!, url);
    await page.getByRole("radio", { name: "small" }).check();
    await page.getByRole("checkbox").check();
    await page.getByRole("button", { name: /^Draw it in \d+ tiles/ }).click();
    await page.getByText("Convex writes one by itself").waitFor();
    const retry = page.getByRole("button", { name: /^Retry \d+ tile/ });
    await page
      .getByText(/\d+ failed$/)
      .first()
      .waitFor({ timeout: 30_000 });
    // A tile that is still being drawn may fail after the first click.
    await expect
      .poll(
        async () => {
          if (await retry.isVisible()) await retry.click();
          return await page.getByText("asked to fail once").isVisible();
        },
        { timeout: 60_000, interval: 500 },
      )
      .toBe(true);
    await page.getByText("Written by summaries#0, attempt 2.").waitFor({ timeout: 30_000 });
    const colours = page.getByRole("list", { name: "Colours that cover most of it" });
    expect(await colours.getByRole("listitem").count()).toBeGreaterThan(1);
  }, 120_000);

  /** The fingerprint of an empty canvas of the same size. */
  const blank = (page: Page) =>
    page.locator("canvas[role=img]").evaluate(async ({ width, height }: HTMLCanvasElement) => {
      const digest = await crypto.subtle.digest("SHA-256", new Uint8Array(width * height * 4));
      return [...new Uint8Array(digest)].map((byte) => byte.toString(16)).join("");
    });

  test("workers are shown with their last beat, and the counts of the queue", async () => {
    const page = await open(browsers[0]!, url);
    await page.getByText("anvil").first().waitFor();
    await page
      .getByText(/\d+ s ago|just now/)
      .first()
      .waitFor();
  }, 30_000);

  test("a phone's width shows everything without scrolling sideways", async () => {
    const page = await open(browsers[1]!, url);
    await page.setViewportSize({ width: 375, height: 812 });
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(overflow).toBe(0);
  }, 30_000);
});
