/**
 * The README, followed to the letter in an empty app that has the packed tarball and nothing else of this repository:
 * its files type-check, the official CLI pushes them, and the job that they describe runs.
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { ConvexHttpClient } from "convex/browser";
import { anyApi } from "convex/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startBackend, type Backend } from "../../local/backend.js";
import { convex, push } from "../../harness/cli.js";
import { linkPackages } from "../../harness/link.js";
import { root } from "../../harness/paths.js";
import { until } from "../../harness/until.js";

let app: string;
let backend: Backend;
let photos: Server;

/** The README's code, by the file name that each block opens with. */
function blocks(): { file: string; code: string }[] {
  const readme = readFileSync(path.join(root, "README.md"), "utf8");
  return [...readme.matchAll(/```tsx?\n\/\/ (\S+)\n([\s\S]*?)```/g)].map(([, file, code]) => ({
    file: file!,
    code: code!,
  }));
}

/** What `npm install <tarball>` would lay into node_modules, without asking a registry for the rest. */
function installTarball(into: string): void {
  const packed = execFileSync("npm", ["pack", "--silent", "--pack-destination", into], {
    cwd: root,
    encoding: "utf8",
  });
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
    types: ["node", "vite/client"],
  },
  include: ["convex", "src", "*.ts"],
};

/** What the test looks at besides: the app's own rows. */
const INSPECT = `
import { query } from "./_generated/server";
export const photos = query({ args: {}, handler: async (ctx) => ctx.db.query("photos").collect() });
`;

beforeAll(async () => {
  app = mkdtempSync(path.join(tmpdir(), "conveyor-readme-"));
  installTarball(app);
  const manifest = { name: "readme-app", type: "module", dependencies: { convex: "*" } };
  writeFileSync(path.join(app, "package.json"), JSON.stringify(manifest));
  writeFileSync(path.join(app, "tsconfig.json"), JSON.stringify(TSCONFIG));
  for (const { file, code } of blocks()) {
    mkdirSync(path.dirname(path.join(app, file)), { recursive: true });
    writeFileSync(path.join(app, file), code);
  }
  writeFileSync(path.join(app, "convex/inspect.ts"), INSPECT);
  backend = await startBackend({ port: 0, quiet: true });
  await push(app, backend);
  photos = createServer((_, response) => response.end("x".repeat(1234)));
  await new Promise<void>((resolve) => photos.listen(0, "127.0.0.1", resolve));
}, 120_000);

afterAll(async () => {
  photos?.close();
  await backend?.close();
  if (app) rmSync(app, { recursive: true, force: true });
});

test("the README has a file for each step", () => {
  expect(blocks().map(({ file }) => file)).toEqual(
    expect.arrayContaining([
      "convex/convex.config.ts",
      "convex/queues.ts",
      "convex/photos.ts",
      "convex/reminders.ts",
      "convex/thumbnails.ts",
      "worker.ts",
      "src/Thumbnail.tsx",
      "convex/photos.test.ts",
    ]),
  );
});

test("the README's code type-checks against the packed tarball", () => {
  const tsc = path.join(root, "node_modules/typescript/bin/tsc");
  const check = () => execFileSync(process.execPath, [tsc, "-p", app], { encoding: "utf8" });
  expect(check).not.toThrow();
}, 60_000);

test("the README's test passes", () => {
  writeFileSync(
    path.join(app, "vitest.config.ts"),
    `export default { test: { environment: "edge-runtime", server: { deps: { inline: ["convex-test", "convex-conveyor"] } } } };`,
  );
  const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
  const run = () =>
    execFileSync(process.execPath, [vitest, "run"], { cwd: app, encoding: "utf8", stdio: "pipe" });
  expect(run).not.toThrow();
}, 60_000);

test("the README's worker runs the README's job, and the app's row is written with its result", async () => {
  const made = await convex(
    app,
    ["run", "tokens:create", '{"name": "gpu-1", "queues": ["thumbnails"]}'],
    backend,
  );
  const { token } = JSON.parse(made) as { token: string };
  const worker = spawn(process.execPath, ["--import", "tsx", "worker.ts"], {
    cwd: app,
    env: { ...process.env, CONVEX_URL: backend.url, CONVEYOR_TOKEN: token },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const exited = new Promise<number | null>((resolve) => worker.on("exit", resolve));
  try {
    const client = new ConvexHttpClient(backend.url);
    const url = `http://127.0.0.1:${(photos.address() as AddressInfo).port}/a.jpg`;
    const id: unknown = await client.mutation(anyApi["photos"]!["add"]!, { url });
    const status = await until(
      () => client.query(anyApi["thumbnails"]!["status"]!, { id }),
      (job: { status: string }) => job.status === "succeeded",
    );
    expect(status).toMatchObject({ result: { bytes: 1234 }, attempt: 1 });
    const rows: unknown = await client.query(anyApi["inspect"]!["photos"]!, {});
    expect(rows).toMatchObject([{ url, job: id, thumbnailBytes: 1234 }]);
  } finally {
    worker.kill("SIGTERM");
    expect(await exited).toBe(0);
  }
}, 60_000);

test("the README's reminders are one a user, and the newer one stays", async () => {
  const client = new ConvexHttpClient(backend.url) as any;
  client.setAdminAuth(backend.adminKey);
  const { remind, remindAll, correct } = anyApi["reminders"]!;
  const at = Date.now() + 3_600_000;
  const first = await client.mutation(remind, { user: "ann", text: "one", at });
  const all = await client.action(remindAll, { users: ["ann", "bob"], text: "all" });
  expect(all).toHaveLength(2);
  expect(all[0]).toBe(first.id);
  const second = await client.mutation(remind, { user: "ann", text: "two", at });
  expect([first.isNew, second.isNew]).toEqual([true, true]);
  const corrected = await client.mutation(correct, { id: first.id, user: "ann", text: "three" });
  expect(corrected).toEqual({ replaced: false, id: first.id, status: "canceled" });
});
