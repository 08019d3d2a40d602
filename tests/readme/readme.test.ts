/**
 * The README and the guides, followed to the letter in an empty app that has the packed tarball and nothing else of this repository:
 * its files type-check, the official CLI pushes them, and the job that they describe runs.
 */
import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { ConvexHttpClient } from "convex/browser";
import { anyApi } from "convex/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startBackend, type Backend } from "../../local/backend.js";
import { convex, push } from "../../local/convexCli.js";
import { exchangesOf, runExchanges } from "../support/exchanges.js";
import { linkPackages } from "../support/link.js";
import { root } from "../support/paths.js";
import { withoutPython } from "../support/python.js";
import { until } from "../../local/until.js";

let app: string;
let backend: Backend;
/** Has the photos and takes the mails. */
let outside: Server;
const mails: { to: string; body: string; key: string }[] = [];
const photosUrl = (at: string) =>
  `http://127.0.0.1:${(outside.address() as AddressInfo).port}${at}`;

/** The README, the guides and the reference: one app together. */
const documents = [
  "README.md",
  ...["docs/guides", "docs/reference"].flatMap((folder) =>
    readdirSync(path.join(root, folder)).map((file) => `${folder}/${file}`),
  ),
].map((file) => readFileSync(path.join(root, file), "utf8"));

/** Their code, by the file name that each block opens with; a `(continued)` block is appended to its file. */
function blocks(): { file: string; code: string }[] {
  const block = /```tsx?\n\/\/ (\S+)( \(continued\))?\n([\s\S]*?)```/g;
  const all = documents.flatMap((text) => [...text.matchAll(block)]);
  const files = new Map<string, string>();
  for (const [, file, continued, code] of all) {
    if (continued !== undefined) continue;
    if (files.has(file!)) throw new Error(`${file} begins twice.`);
    files.set(file!, code!);
  }
  for (const [, file, continued, code] of all) {
    if (continued === undefined) continue;
    if (!files.has(file!)) throw new Error(`${file} is continued and never begins.`);
    files.set(file!, `${files.get(file!)!}${code!}`);
  }
  return [...files].map(([file, code]) => ({ file, code }));
}

/** The same in Python. */
function pythonBlocks(): { file: string; code: string }[] {
  const all = [...documents.join("\n").matchAll(/```python\n# (\S+)\n([\s\S]*?)```/g)];
  return all.map(([, file, code]) => ({ file: file!, code: code! }));
}

/**
 * Does the same as `npm install <tarball>`, without asking a registry for the rest. The package has just been built, and other
 * tests are reading it: no script may empty `dist` under them.
 */
function installTarball(into: string): void {
  const pack = ["pack", "--silent", "--ignore-scripts", "--pack-destination", into];
  const packed = execFileSync("npm", pack, { cwd: root, encoding: "utf8" });
  const tarball = path.join(into, packed.trim().split("\n").at(-1)!);
  const unpacked = path.join(into, "unpacked");
  mkdirSync(unpacked);
  execFileSync("tar", ["xzf", tarball, "-C", unpacked]);
  linkPackages(into, path.join(unpacked, "package"));
}

const TSCONFIG = {
  compilerOptions: {
    target: "ES2022",
    lib: ["ES2023", "DOM"],
    module: "ESNext",
    moduleResolution: "Bundler",
    jsx: "react-jsx",
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    // No more than the guide says, so that a reader's `npx convex dev` has no error either.
    types: JSON.parse(
      /`types` of `convex\/tsconfig\.json` become `(.*?)`/.exec(documents.join("\n"))![1]!,
    ) as string[],
  },
  include: ["convex", "src", "*.ts"],
};

/** A query of the app's own rows, for the test. */
const INSPECT = `
import { query } from "./_generated/server";
export const photos = query({ args: {}, handler: async (ctx) => ctx.db.query("photos").collect() });
`;

/** A worker is an object: two live in one process as well as in two, and this starts faster. */
const BOTH = `export {};\nawait Promise.all([import("./worker.js"), import("./assistant.js")]);`;

beforeAll(async () => {
  app = mkdtempSync(path.join(tmpdir(), "conveyor-readme-"));
  installTarball(app);
  const manifest = { name: "readme-app", type: "module", dependencies: { convex: "*" } };
  writeFileSync(path.join(app, "package.json"), JSON.stringify(manifest));
  writeFileSync(path.join(app, "tsconfig.json"), JSON.stringify(TSCONFIG));
  for (const { file, code } of [...blocks(), ...pythonBlocks()]) {
    mkdirSync(path.dirname(path.join(app, file)), { recursive: true });
    writeFileSync(path.join(app, file), code);
  }
  writeFileSync(path.join(app, "convex/inspect.ts"), INSPECT);
  writeFileSync(path.join(app, "both.ts"), BOTH);
  backend = await startBackend({ port: 0, quiet: true });
  await push(app, backend);
  outside = createServer((request, response) => {
    if (request.method !== "POST") return void response.end("x".repeat(1234));
    const mail = { to: request.url!, body: "", key: String(request.headers["idempotency-key"]) };
    request.on("data", (data: Buffer) => (mail.body += data.toString()));
    request.on("end", () => {
      mails.push(mail);
      response.end();
    });
  });
  await new Promise<void>((resolve) => outside.listen(0, "127.0.0.1", resolve));
  await convex(app, ["env", "set", "MAIL_URL", photosUrl("/mail")], backend);
}, 120_000);

afterAll(async () => {
  outside?.close();
  await backend?.close();
  if (app) rmSync(app, { recursive: true, force: true });
});

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
