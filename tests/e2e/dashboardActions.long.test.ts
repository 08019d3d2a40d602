/** Every action of the dashboard in Chromium: it asks, shows at once, does it, is undone on failure, and needs leave. */
import { dashboardCalls } from "../../src/shared/index.js";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import { hasChromium } from "../support/chromium.js";
import { describeOnFailure } from "../support/describeOnFailure.js";
import { api } from "../dashboard/app/convex/_generated/api.js";
import { startLooks, violations, type Looks } from "../dashboard/looks.js";
import { startStage, type Stage } from "../dashboard/stage.js";

/** A page may show a change later than it is committed. */
const PATIENCE = { timeout: 20_000 };

const ALL = { see: true, act: true, hide: false, trap: false };

describe.skipIf(!hasChromium())("the dashboard's actions", () => {
  let stage: Stage;
  let looks: Looks;
  let unload: (() => Promise<void>) | undefined;

  beforeAll(async () => {
    stage = await startStage();
    unload = stage.load(counts(2, 10));
    looks = await startLooks(stage, describeOnFailure);
  }, 180_000);
  afterEach(async () => {
    await stage.client.mutation(api.stage.giveLeave, ALL);
  });
  afterAll(async () => {
    await unload?.();
    await looks?.close();
    await stage?.close();
  }, 60_000);

  const wait = async (count: number) =>
    await stage.client.mutation(api.stage.importFiles, { from: 0, count });
  const confirm = async (page: Page, verb: string | RegExp) =>
    await page.getByRole("dialog").getByRole("button", { name: verb }).click();
  const { read } = dashboardCalls(api.dashboard);
  const overview = async () => await stage.client.query(...read({ kind: "overview" }));
  const stateOf = async (queue: string) =>
    (await overview()).queues.find(({ state }) => state.name === queue)!.state;
  const job = async (queue: string, id: string) =>
    await stage.client.query(...read({ kind: "job", queue, id }));

  test("a queue is paused and resumed, and other pages show it", async () => {
    await wait(1);
    const one = await looks.open("/");
    const other = await looks.open("/", { size: "phone" });
    await other.getByRole("button", { name: "Pause imports" }).waitFor();
    await one.getByRole("button", { name: "Pause imports" }).click();
    await other.getByRole("button", { name: "Resume imports" }).waitFor();
    expect((await stateOf("imports")).pausedAt).toBeTypeOf("number");
    await other.getByRole("button", { name: "Resume imports" }).click();
    await one.getByRole("button", { name: "Pause imports" }).waitFor();
    await expect.poll(async () => (await stateOf("imports")).pausedAt, PATIENCE).toBe(undefined);
    await one.close();
    await other.close();
  }, 60_000);

  test("a queue drains after a question, which can be called off", async () => {
    await wait(1);
    const page = await looks.open("/queues/imports");
    await page.getByRole("button", { name: "Drain imports" }).click();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    expect((await stateOf("imports")).drainingAt).toBe(undefined);
    await page.getByRole("button", { name: "Drain imports" }).click();
    await confirm(page, "Drain");
    await page.getByRole("button", { name: "Resume imports" }).waitFor();
    await expect
      .poll(async () => (await stateOf("imports")).drainingAt, PATIENCE)
      .toBeTypeOf("number");
    await page.getByRole("button", { name: "Resume imports" }).click();
    await expect.poll(async () => (await stateOf("imports")).drainingAt, PATIENCE).toBe(undefined);
    await page.close();
  }, 60_000);

  test("a job is canceled with a reason, retried and deleted by keyboard alone", async () => {
    const [id] = await wait(1);
    const page = await looks.open(`/queues/imports/jobs/${id!}`);
    await press(page, "Cancel");
    await page.getByRole("dialog").getByRole("textbox").fill("No longer needed");
    await page.keyboard.press("Enter");
    await press(page, "Retry", { wait: true });
    await expect
      .poll(async () => await job("imports", id!), PATIENCE)
      .toMatchObject({ job: { status: "canceled", reason: "No longer needed" } });
    await press(page.getByRole("dialog"), "Retry");
    await expect
      .poll(async () => (await job("imports", id!))?.job.status, PATIENCE)
      .toBe("pending");
    await press(page, "Delete", { wait: true });
    await press(page.getByRole("dialog"), "Delete");
    await expect.poll(async () => await job("imports", id!), PATIENCE).toBe(null);
    await page.getByRole("heading", { name: "imports" }).waitFor();
    await page.close();
  }, 60_000);

  test("the cancel of a running job is requested", async () => {
    const question = { question: "Will this end?", words: 600, everyMs: 100, priority: 10 };
    const id = await stage.client.mutation(api.stage.ask, question);
    await expect.poll(async () => (await job("answers", id))?.job.status, PATIENCE).toBe("running");
    const page = await looks.open(`/queues/answers/jobs/${id}`);
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await confirm(page, "Cancel job");
    await expect
      .poll(async () => (await job("answers", id))?.job.cancelRequestedAt, PATIENCE)
      .toBeTypeOf("number");
    await page
      .getByText(/cancel requested/i)
      .first()
      .waitFor();
    await page.close();
  }, 60_000);

  test("failed jobs are retried, all pending ones canceled, all canceled ones deleted", async () => {
    await stage.client.mutation(api.stage.callWebhooks, { count: 3 });
    const page = await looks.open("/queues/webhooks?status=failed");
    await page
      .getByText(/answered 503/)
      .first()
      .waitFor({ timeout: 20_000 });
    await page.getByRole("button", { name: /^Retry all/ }).click();
    await confirm(page, "Retry");
    await page.goto(`${page.url().split("#")[0]}#/queues/imports?status=pending`);
    const ids = await wait(5);
    await page.getByRole("button", { name: /^Cancel all/ }).click();
    await confirm(page, "Cancel");
    await expect
      .poll(async () => (await job("imports", ids[4]!))?.job.status, PATIENCE)
      .toBe("canceled");
    await page.goto(`${page.url().split("#")[0]}#/queues/imports?status=canceled`);
    await page.getByRole("button", { name: /^Delete all/ }).click();
    await confirm(page, "Delete");
    await expect.poll(async () => await job("imports", ids[4]!), PATIENCE).toBe(null);
    await page.close();
  }, 90_000);

  test("an action that fails is undone, and the reader sees the reason", async () => {
    await wait(1);
    const page = await looks.open("/");
    await page.getByRole("button", { name: "Pause imports" }).waitFor();
    await stage.client.mutation(api.stage.giveLeave, { ...ALL, trap: true });
    await page.getByRole("button", { name: "Pause imports" }).click();
    await page.locator("[aria-live=assertive] p").first().waitFor();
    await page.getByRole("button", { name: "Pause imports" }).waitFor();
    expect((await stateOf("imports")).pausedAt).toBe(undefined);
    await page.close();
  }, 60_000);

  test("without leave to act there is no button, without leave to see no data, and hidden payloads stay hidden", async () => {
    const [id] = await wait(1);
    const page = await looks.open(`/queues/imports/jobs/${id!}`);
    await page.getByText("archive/0.csv").first().waitFor();
    await stage.client.mutation(api.stage.giveLeave, { ...ALL, act: false, hide: true });
    await page.getByText("hidden").first().waitFor();
    expect(await page.getByText("archive/0.csv").count()).toBe(0);
    await expect
      .poll(async () => await page.getByRole("button", { name: "Cancel" }).count(), PATIENCE)
      .toBe(0);
    await stage.client.mutation(api.stage.giveLeave, { ...ALL, see: false });
    await page.getByText("No access to job").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.close();
  }, 60_000);
});

/** Goes to a button by the keyboard, and presses it. */
async function press(
  within: Pick<Page, "getByRole">,
  name: string,
  { wait = false } = {},
): Promise<void> {
  const button = within.getByRole("button", { name, exact: true });
  if (wait) await button.waitFor({ timeout: 20_000 });
  await button.focus();
  await button.press("Enter");
}
