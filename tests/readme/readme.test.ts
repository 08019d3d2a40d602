/** The code of the README and the guides type-checks, and the README's job runs: see `readmeApp.ts`. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import path from "node:path";
import { ConvexHttpClient } from "convex/browser";
import { anyApi } from "convex/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { convex } from "../../local/convexCli.js";
import { until } from "../../local/until.js";
import { root } from "../support/paths.js";
import { app, backend, blocks, closeApp, mails, openApp, photosUrl } from "./readmeApp.js";

beforeAll(openApp, 120_000);
afterAll(closeApp);

test("the README has a file for each step", () => {
  expect(blocks().map(({ file }) => file)).toEqual(
    expect.arrayContaining([
      "convex/convex.config.ts",
      "convex/conveyor.ts",
      "convex/greetings.ts",
      "src/Greeting.tsx",
      "convex/queues.ts",
      "convex/photos.ts",
      "convex/jobs.ts",
      "convex/thumbnails.ts",
      "convex/tokens.ts",
      "worker.ts",
      "src/Thumbnail.tsx",
      "convex/photos.test.ts",
      "convex/thumbnails.test.ts",
    ]),
  );
});

test("the README's code type-checks against the packed tarball", () => {
  const tsc = path.join(root, "node_modules/typescript-7/bin/tsc");
  const check = spawnSync(process.execPath, [tsc, "-p", app], { encoding: "utf8" });
  expect(check.stdout).toBe("");
}, 60_000);

// Shows CR-17.
describe("the README's workers, two workers in one process", () => {
  const client = () => new ConvexHttpClient(backend.url);
  let worker: ChildProcess;
  let exited: Promise<number | null>;

  beforeAll(async () => {
    const made = await convex(app, ["run", "tokens:create", '{"name": "gpu-1"}'], backend);
    const { token } = JSON.parse(made) as { token: string };
    const env = { CONVEX_URL: backend.url, CONVEYOR_TOKEN: token, MAIL_URL: photosUrl("/mail") };
    worker = spawn(process.execPath, ["--import", "tsx", "both.ts"], {
      cwd: app,
      env: { ...process.env, ...env },
      stdio: ["ignore", "ignore", "inherit"],
    });
    exited = new Promise((resolve) => worker.on("exit", resolve));
  });

  // Shows LF-01, DE-03, SG-01.
  test("the first runs the README's job, and the app's row is written with its result", async () => {
    const url = photosUrl("/a.jpg");
    const id: unknown = await client().mutation(anyApi["photos"]!["add"]!, { url });
    const status = await until(
      () => client().query(anyApi["jobs"]!["status"]!, { id }),
      (job: { status: string }) => job.status === "succeeded",
    );
    expect(status).toMatchObject({ result: { bytes: 1234 }, attempt: 1 });
    const rows: unknown = await client().query(anyApi["inspect"]!["photos"]!, {});
    expect(rows).toMatchObject([{ url, job: id, thumbnailBytes: 1234 }]);
    // The job that Convex itself runs has run too.
    const isSent = (got: typeof mails) => got.length === 1;
    await until(() => Promise.resolve(mails), isSent);
    expect(mails.splice(0)).toMatchObject([
      { to: "/mail/ann", body: `There is a new photo: ${url}` },
    ]);
  }, 60_000);

  // Shows E14.
  test("the second writes output and a log that stay, and goes on with a reminder", async () => {
    const args = { user: "ann", question: "Why?" };
    const id: unknown = await client().mutation(anyApi["answers"]!["ask"]!, args);
    await until(
      () => client().query(anyApi["answers"]!["transcript"]!, { id }),
      (job: { status: string }) => job.status === "succeeded",
    );
    expect(await client().query(anyApi["answers"]!["transcript"]!, { id })).toEqual({
      status: "succeeded",
      text: "You asked: Why? ",
    });
    expect(await client().query(anyApi["jobs"]!["logs"]!, { id })).toMatchObject({
      entries: [{ message: "Thought", level: "info" }],
    });
    await until(
      () => Promise.resolve(mails),
      (got) => got.length === 1,
    );
    expect(mails).toMatchObject([
      { to: "/mail/ann", body: "Your answer is there.", key: expect.stringMatching(/^\w{10,}$/) },
    ]);
  }, 60_000);

  afterAll(async () => {
    worker.kill("SIGTERM");
    expect(await exited).toBe(0);
  });
});
