/**
 * `npm run pictures`: takes the pictures of `docs/dashboard`: every view in every state, at a laptop's and a phone's width,
 * of a local backend with queues under load.
 */
import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import type { Page } from "playwright-core";
import { root } from "../support/paths.js";
import { api } from "./app/convex/_generated/api.js";
import { Line, SIZES, startLooks, type Size } from "./looks.js";
import { startStage, type Stage } from "./stage.js";

const FOLDER = path.join(root, "docs/dashboard");
const WARM_UP_MS = 75_000;
const LEAVE = { see: true, act: true, hide: false, trap: false };

interface Picture {
  name: string;
  path: string;
  dark?: boolean;
  /** The steps before it is taken. */
  then?: (page: Page) => Promise<void>;
  line?: Line;
}

const only = process.argv.slice(2);
await rm(FOLDER, { recursive: true, force: true });
await mkdir(FOLDER, { recursive: true });
const stage = await startStage();
const looks = await startLooks(stage);
try {
  await take({ name: "overview-empty", path: "/" });
  const jobs = await fill(stage);
  const unload = stage.load(12);
  await new Promise((resolve) => setTimeout(resolve, WARM_UP_MS));
  for (const picture of busy(jobs)) await take(picture);
  await unload();
  const line = new Line();
  await take({ name: "overview-disconnected", path: "/", line, then: () => line.cut() });
  await stage.client.mutation(api.stage.giveLeave, { ...LEAVE, see: false });
  await take({ name: "overview-forbidden", path: "/" });
  await take({ name: "job-forbidden", path: `/queues/answers/jobs/${jobs.answer}` });
} finally {
  await looks.close();
  await stage.close();
}

async function fill({ client }: Stage) {
  const [waits] = await client.mutation(api.stage.importFiles, { from: 0, count: 300 });
  await client.mutation(api.stage.importFiles, { from: 300, count: 20, runAfter: 3_600_000 });
  const [unlabeled] = await client.mutation(api.stage.render, {
    count: 1,
    ms: 10,
    labels: ["h100"],
  });
  const answer = await client.mutation(api.stage.ask, {
    ...{ question: "How does a job look while it runs?", words: 3_000, everyMs: 200 },
  });
  const [failed] = await client.mutation(api.stage.callWebhooks, { count: 4 });
  return { waits: waits!, unlabeled: unlabeled!, answer, failed: failed! };
}

function busy(jobs: Awaited<ReturnType<typeof fill>>): Picture[] {
  const job = (queue: string, id: string) => `/queues/${queue}/jobs/${id}`;
  return [
    { name: "overview", path: "/" },
    { name: "overview-dark", path: "/", dark: true },
    { name: "queue-busy", path: "/queues/mails?status=succeeded" },
    { name: "queue-busy-dark", path: "/queues/mails?status=succeeded", dark: true },
    { name: "queue-failing", path: "/queues/webhooks?status=failed" },
    { name: "queue-waiting", path: "/queues/imports?status=pending&order=next" },
    { name: "queue-filtered-empty", path: "/queues/imports?status=pending&name=nobody" },
    { name: "queue-configuration", path: "/queues/mails?show=configuration" },
    { name: "queue-events", path: "/queues/mails?show=events" },
    { name: "queue-unknown", path: "/queues/nobody" },
    { name: "job-running", path: job("answers", jobs.answer) },
    { name: "job-failed", path: job("webhooks", jobs.failed) },
    { name: "job-waiting", path: job("imports", jobs.waits) },
    { name: "job-without-worker", path: job("renders", jobs.unlabeled), dark: true },
    { name: "job-gone", path: job("mails", "nobody") },
    {
      name: "job-question",
      path: job("imports", jobs.waits),
      then: (page) => page.getByRole("button", { name: "Cancel", exact: true }).click(),
    },
    { name: "workers", path: "/workers" },
  ];
}

async function take({ name, path: where, dark = false, then, line }: Picture): Promise<void> {
  if (only.length > 0 && !only.some((word) => name.includes(word))) return;
  for (const size of Object.keys(SIZES) as Size[]) {
    const page = await looks.open(where, { size, dark, ...(line === undefined ? {} : { line }) });
    await page.locator("h1, .cv-notice").first().waitFor();
    await page.waitForFunction(() => document.querySelector(".cv-skeleton") === null);
    await then?.(page);
    await page.waitForTimeout(line === undefined ? 500 : 4_000);
    line?.mend();
    await page.screenshot({ path: path.join(FOLDER, `${name}-${size}.png`), fullPage: true });
    await page.close();
    console.log(`${name}, ${size}`);
  }
}
