/**
 * For tests: the official CLI as a process of its own, against a copy of the fixture app. A copy, because the CLI writes
 * into the folder it pushes, and tests run beside each other.
 */
import { spawn } from "node:child_process";
import { cp, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Not by `URL`: a page's is another class than Node's, and hooks are tested in a page. */
const HERE = dirname(fileURLToPath(import.meta.url));
const REPOSITORY = join(HERE, "../..");
export const FIXTURE = join(HERE, "fixtures/app");

/** A run that takes longer hangs: the CLI needs a second or two. */
const CLI_TIMEOUT_MS = 50_000;

export interface FixtureApp {
  directory: string;
  remove(): Promise<void>;
}

export async function copyFixture(): Promise<FixtureApp> {
  const directory = await mkdtemp(join(tmpdir(), "conveyor-fixture-"));
  await cp(FIXTURE, directory, {
    recursive: true,
    filter: (path) => !path.endsWith(".env.local"),
  });
  await symlink(join(REPOSITORY, "node_modules"), join(directory, "node_modules"));
  return { directory, remove: () => rm(directory, { recursive: true, force: true }) };
}

export interface CliRun {
  code: number | null;
  stdout: string;
  /** The CLI's reports of its work and of errors, without colors. */
  stderr: string;
}

export async function convex(
  backend: { url: string; adminKey: string },
  directory: string,
  ...args: string[]
): Promise<CliRun> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("CONVEX_"));
  const child = spawn(
    process.execPath,
    [join(REPOSITORY, "node_modules/convex/bin/main.js"), ...args],
    {
      cwd: directory,
      env: {
        ...Object.fromEntries(inherited),
        NODE_OPTIONS: "",
        NO_COLOR: "1",
        FORCE_COLOR: "0",
        CONVEX_SELF_HOSTED_URL: backend.url,
        CONVEX_SELF_HOSTED_ADMIN_KEY: backend.adminKey,
      },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: CLI_TIMEOUT_MS,
    },
  );
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  return { code, stdout, stderr };
}

/**
 * Pushes a copy of the fixture app, with some files more when they are given, and throws the CLI's output when it
 * cannot.
 */
export async function pushFixture(
  backend: { url: string; adminKey: string },
  files: Record<string, string> = {},
): Promise<void> {
  const app = await copyFixture();
  try {
    for (const [path, text] of Object.entries(files))
      await writeFile(join(app.directory, path), text);
    const run = await convex(backend, app.directory, ...PUSH);
    if (run.code !== 0) throw new Error(`The fixture could not be pushed:\n${run.stderr}`);
  } finally {
    await app.remove();
  }
}

/** After a push that fails, `dev --once` goes on printing logs without this option. */
export const PUSH = ["dev", "--once", "--tail-logs", "disable"];
