/**
 * The code of the README and the guides type-checks and its jobs run (see `readmeApp.ts`); their test, their console, their
 * protocol and their Python worker are so.
 */
import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ConvexHttpClient } from "convex/browser";
import { anyApi } from "convex/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { convex } from "../../local/convexCli.js";
import { until } from "../../local/until.js";
import { exchangesOf, runExchanges } from "../support/exchanges.js";
import { root } from "../support/paths.js";
import { withoutPython } from "../support/python.js";
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

// Shows WP-36, M6.
test("the README's test passes, and its functions do as it says", () => {
  copyFileSync(
    path.join(root, "tests/readme/features.ts"),
    path.join(app, "convex/features.test.ts"),
  );
  writeFileSync(
    path.join(app, "vitest.config.ts"),
    `export default { test: { environment: "edge-runtime", server: { deps: { inline: ["convex-test"] } } } };`,
  );
  const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
  const run = () =>
    execFileSync(process.execPath, [vitest, "run"], { cwd: app, encoding: "utf8", stdio: "pipe" });
  expect(run).not.toThrow();
}, 60_000);

/** The commands of the README's console block, each with its output. */
function sessionKey(): { args: string[]; prints: unknown }[] {
  const readme = readFileSync(path.join(root, "README.md"), "utf8");
  const [, block] = /```console\n([\s\S]*?)```/.exec(readme)!;
  return block!.split(/^\$ npx convex /m).flatMap((text) => {
    if (text === "") return [];
    const [command, ...lines] = text.split("\n");
    const [, name, args] = /^run (\S+) '(.*)'$/.exec(command!)!;
    return [{ args: ["run", name!, args!], prints: JSON.parse(lines.join("\n")) as unknown }];
  });
}

/** Instants as the same number, as they are never the same. */
const timeless = (printed: unknown): unknown =>
  JSON.parse(JSON.stringify(printed).replaceAll(/17\d{11}/g, "0"));

test("the README's first job prints in a terminal the README's output", async () => {
  const [enqueue, ...looks] = sessionKey();
  expect(looks).toHaveLength(2);
  const id = JSON.parse(await convex(app, enqueue!.args, backend)) as string;
  const status = () =>
    new ConvexHttpClient(backend.url).query(anyApi["greetings"]!["status"]!, { id });
  await until(status, (job: { status: string }) => job.status === "succeeded");
  for (const { args, prints } of looks) {
    const asked = args.map((arg) => arg.replace(enqueue!.prints as string, id));
    const printed: unknown = JSON.parse(await convex(app, asked, backend));
    const shown = JSON.stringify(prints).replaceAll(enqueue!.prints as string, id);
    expect(timeless(printed)).toEqual(timeless(JSON.parse(shown)));
  }
}, 60_000);

// Shows C26, L9.
test("each call of the protocol's page is answered as the page says", async () => {
  const made = await convex(app, ["run", "tokens:create", '{"name": "any language"}'], backend);
  const { token } = JSON.parse(made) as { token: string };
  const page = readFileSync(path.join(root, "docs/reference/protocol.md"), "utf8");
  const exchanges = exchangesOf(page);
  expect(exchanges.length).toBeGreaterThan(12);
  await runExchanges(backend.url, exchanges, new Map([["cvy_…", token]]));
}, 60_000);

test.skipIf(withoutPython())(
  "the guide's Python worker runs the guide's job, with the package's own client",
  async () => {
    const made = await convex(app, ["run", "tokens:create", '{"name": "python"}'], backend);
    const { token } = JSON.parse(made) as { token: string };
    const client = new ConvexHttpClient(backend.url);
    const PYTHONPATH = path.join(app, "node_modules/convex-conveyor/clients/python");
    const worker = spawn("python3", ["worker.py"], {
      cwd: app,
      env: { ...process.env, PYTHONPATH, CONVEX_URL: backend.url, CONVEYOR_TOKEN: token },
      stdio: "inherit",
    });
    const exited = new Promise((resolve) => worker.on("exit", resolve));
    const id: unknown = await client.mutation(anyApi["photos"]!["add"]!, {
      url: photosUrl("/b.jpg"),
    });
    const status = await until(
      () => client.query(anyApi["jobs"]!["status"]!, { id }),
      (job: { status: string }) => job.status === "succeeded",
    );
    expect(status).toMatchObject({ result: { bytes: 1234 }, attempt: 1 });
    worker.kill("SIGTERM");
    expect(await exited).toBe(0);
  },
  60_000,
);
