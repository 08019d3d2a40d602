/** Where things lie, and how this repository's programs are called without a shell in between. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const require = createRequire(import.meta.url);

/**
 * Node's arguments to run a TypeScript program of the repository in a single process: `npx tsx` would put a parent
 * before it, and a signal to that parent is not a signal to the program.
 */
export function typescript(path: string, ...args: string[]): string[] {
  const tsx = pathToFileURL(require.resolve("tsx")).href;
  const leash = new URL("./leash.ts", import.meta.url).href;
  return ["--import", tsx, "--import", leash, "--no-warnings", join(ROOT, path), ...args];
}

/** Node's arguments to run the official CLI. */
export function convexCli(...args: string[]): string[] {
  return [join(dirname(require.resolve("convex/package.json")), "bin", "main.js"), ...args];
}

/** Node's arguments to run the compiler. */
export function compiler(...args: string[]): string[] {
  return [join(dirname(require.resolve("typescript/package.json")), "bin", "tsc"), ...args];
}
