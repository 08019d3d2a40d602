/**
 * An app as the official CLI bundles it, kept so that it can be pushed to any number of worlds: the CLI runs once,
 * against a backend that lives for that long, and its requests are recorded. The components that the app mounts are
 * part of it.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createRequire } from "node:module";
import path from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { createCore, type Core } from "../backend.js";
import { findAllBindings, rememberBindings, type Bindings } from "../functions/moduleBindings.js";
import { parsePushRequest } from "../push/request.js";
import { createNodeServer } from "../server/nodeServer.js";

/** The CLI's request that starts a push. */
export interface AppBundle {
  startPush: Record<string, unknown>;
}

/** As it is kept: with the names of its modules' bindings, which worlds watch. */
interface Kept extends AppBundle {
  bindings?: Bindings;
}

export interface BundleOptions {
  /**
   * The inputs of the bundle beside the app's own folder: folders and files. When none of them has changed, the CLI is
   * not started. The lock file stands for packages from npm.
   */
  inputs?: readonly string[];
  /** Where bundles are kept. Defaults to `node_modules/.cache/conveyor` of the working folder. */
  cache?: string;
}

/** More than any bundling takes. */
const CLI_TIMEOUT_MS = 120_000;
const SCHEMA_TIMEOUT_MS = 10_000;
const START_PUSH = "/api/deploy2/start_push";
/** Not inputs: installed, or written by the CLI itself (`.env.local` among them). */
const IGNORED = /^(node_modules|_generated|\..*)$/;

const require = createRequire(import.meta.url);

/** Bundles that this process has made or read, by their options: later changes of the files are not seen. */
const bundles = new Map<string, Promise<AppBundle>>();

/** `folder` holds the app's `convex.json` or its `convex` folder, and finds its packages by walking up. */
export function bundleApp(folder: string, options: BundleOptions = {}): Promise<AppBundle> {
  const { inputs = [], cache = path.resolve("node_modules/.cache/conveyor") } = options;
  const asked = JSON.stringify([path.resolve(folder), inputs, cache]);
  const known = bundles.get(asked);
  if (known !== undefined) return known;
  const bundle = keptOrMade(folder, inputs, cache);
  bundles.set(asked, bundle);
  bundle.catch(() => bundles.delete(asked));
  return bundle;
}

/**
 * Pushes a bundle by the CLI's own calls. `post` sends a body to a path of the backend, and rejects where that is refused.
 */
export async function pushBundle(
  { startPush }: AppBundle,
  adminKey: string,
  post: (path: string, body: object) => Promise<unknown>,
): Promise<void> {
  const started = (await post(START_PUSH, { ...startPush, adminKey })) as { schemaChange: unknown };
  const schema = { schemaChange: started.schemaChange, timeoutMs: SCHEMA_TIMEOUT_MS };
  await post("/api/deploy2/wait_for_schema", { adminKey, dryRun: false, ...schema });
  await post("/api/deploy2/finish_push", { adminKey, dryRun: false, startPush: started });
}

async function keptOrMade(
  folder: string,
  inputs: readonly string[],
  cache: string,
): Promise<AppBundle> {
  const key = await fingerprint([folder, ...inputs, path.resolve("package-lock.json")]);
  const file = path.join(cache, `${key}.json`);
  try {
    const { bindings = {}, startPush } = JSON.parse(await readFile(file, "utf8")) as Kept;
    rememberBindings(bindings);
    return { startPush };
  } catch {
    // Not kept yet, or damaged: made again.
  }
  const bundle = await record(folder);
  const kept: Kept = { ...bundle, bindings: findAllBindings(sourcesIn(bundle)) };
  await mkdir(cache, { recursive: true });
  // Written beside and moved, for processes that read it at the same time.
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, JSON.stringify(kept));
  await rename(draft, file);
  return bundle;
}

function sourcesIn({ startPush }: AppBundle): string[] {
  const { app, components } = parsePushRequest(startPush);
  const modules = [app, ...components].flatMap((one) => one.modules);
  return modules.filter(({ environment }) => environment === "isolate").map(({ source }) => source);
}

async function record(folder: string): Promise<AppBundle> {
  let recorded: AppBundle | null = null;
  let core: Core | null = null;
  const server = createNodeServer(async (request) => {
    if (core === null) return new Response(null, { status: 503 });
    if (new URL(request.url).pathname !== START_PUSH) return core.fetch(request);
    const body = Buffer.from(await request.arrayBuffer());
    const text = unpacked(body, request.headers.get("content-encoding"));
    recorded = { startPush: JSON.parse(text) as AppBundle["startPush"] };
    const headers = new Headers(request.headers);
    headers.delete("content-encoding");
    return core.fetch(new Request(request.url, { method: "POST", headers, body: text }));
  }, console.error);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    core = await createCore({ cloud: url, site: `${url}/http` }, { quiet: true });
    await runCli(folder, { url, adminKey: core.adminKey });
  } finally {
    await core?.close();
    server.close();
    server.closeAllConnections();
  }
  if (recorded === null) throw new Error(`The CLI pushed nothing from ${folder}.`);
  return recorded;
}

function unpacked(body: Buffer, encoding: string | null): string {
  if (encoding === "br") return brotliDecompressSync(body).toString();
  if (encoding === "gzip") return gunzipSync(body).toString();
  return body.toString();
}

async function runCli(folder: string, backend: { url: string; adminKey: string }): Promise<void> {
  const cli = path.join(path.dirname(require.resolve("convex/package.json")), "bin/main.js");
  const child = spawn(
    process.execPath,
    [cli, "dev", "--once", "--tail-logs", "disable", "--typecheck", "disable"],
    {
      cwd: folder,
      env: {
        ...process.env,
        // A deployment chosen elsewhere must not be the one.
        CONVEX_DEPLOYMENT: "",
        CONVEX_DEPLOY_KEY: "",
        CONVEX_SELF_HOSTED_URL: backend.url,
        CONVEX_SELF_HOSTED_ADMIN_KEY: backend.adminKey,
        NODE_OPTIONS: "",
        CI: "1",
      },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: CLI_TIMEOUT_MS,
      killSignal: "SIGKILL",
    },
  );
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  }
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  if (code !== 0) throw new Error(`The CLI could not push ${folder}:\n${output}`);
}

/** Names and contents of all files: the name that a bundle is kept under. */
export async function fingerprint(inputs: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const input of inputs) await addTo(hash, path.resolve(input), "");
  return hash.digest("hex").slice(0, 32);
}

async function addTo(
  hash: ReturnType<typeof createHash>,
  root: string,
  relative: string,
): Promise<void> {
  const at = path.join(root, relative);
  const entries = await readdir(at, { withFileTypes: true }).catch(() => null);
  if (entries === null) {
    const contents = await readFile(at).catch(() => Buffer.from("missing"));
    hash.update(`${relative}\0${contents.length}\0`).update(contents);
    return;
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name } of entries) {
    if (!IGNORED.test(name)) await addTo(hash, root, path.join(relative, name));
  }
}
