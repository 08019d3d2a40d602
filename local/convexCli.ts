/** Runs the official Convex CLI as a user would, against a local backend. */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";

const CLI = path.join(
  path.dirname(createRequire(import.meta.url).resolve("convex/package.json")),
  "bin/main.js",
);

export interface Deployment {
  url: string;
  adminKey: string;
}

/**
 * The environment that names the CLI's target. A deployment chosen elsewhere, in the shell or in `.env.local`, must not
 * be the one: the CLI refuses to choose between two.
 */
export function cliEnvironment({ url, adminKey }: Deployment): Record<string, string> {
  return {
    CONVEX_SELF_HOSTED_URL: url,
    CONVEX_SELF_HOSTED_ADMIN_KEY: adminKey,
    CONVEX_DEPLOYMENT: "",
    CONVEX_DEPLOY_KEY: "",
  };
}

/** Resolves with its output; rejects with all of it if it fails or takes more than a minute. */
export async function convex(cwd: string, args: string[], on: Deployment): Promise<string> {
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd,
    env: { ...process.env, ...cliEnvironment(on), CI: "1" },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 60_000,
    killSignal: "SIGKILL",
  });
  let output = "";
  let all = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
    all += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => (all += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  if (code !== 0) throw new Error(`convex ${args.join(" ")} ended with ${code}:\n${all}`);
  return output;
}

/** Pushes the app in `cwd`, and writes its `_generated` folder. Types are checked elsewhere. */
export async function push(cwd: string, on: Deployment): Promise<void> {
  await convex(cwd, ["dev", "--once", "--tail-logs", "disable", "--typecheck", "disable"], on);
}
