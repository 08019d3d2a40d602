/** Starts a process of a pool. `fork` of Node has all that it takes: a channel of messages, signals, and the exit. */
import { fork, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { conveyorError } from "../../shared/index.js";

const TYPESCRIPT = /\.[mc]?tsx?$/;

/** Its absolute path. */
export function moduleFile(file: string | URL): string {
  const isUrl = file instanceof URL || file.startsWith("file:");
  const found = isUrl ? fileURLToPath(file) : path.resolve(file);
  if (existsSync(found)) return found;
  throw conveyorError("invalidArgument", `There is no file ${found} for the pool's processes.`, {
    argument: "file",
    got: found,
  });
}

/** What Node can do itself. */
export interface Runtime {
  version: string;
  /** It runs TypeScript. */
  strips: boolean;
  /** It does with this flag. */
  flag: string | undefined;
}

export function thisRuntime(): Runtime {
  const flag = "--experimental-strip-types";
  const { features, versions } = process as typeof process & { features: { typescript?: unknown } };
  return {
    version: process.version,
    // Bun and Deno run it as it is.
    strips: Boolean(features.typescript) || "bun" in versions || "deno" in versions,
    flag: process.allowedNodeEnvironmentFlags.has(flag) ? flag : undefined,
  };
}

/**
 * The arguments of Node with which it runs the module: a `.ts` file by the `tsx` of the app, or else by Node's own type
 * stripping.
 *
 * @throws `invalidArgument` where neither is there.
 */
export function nodeArguments(
  file: string,
  given: readonly string[],
  runtime: Runtime = thisRuntime(),
): string[] {
  // A debugger has one port, and the pool's process has it.
  const kept = given.filter((argument) => !argument.startsWith("--inspect"));
  if (!TYPESCRIPT.test(file) || kept.some((argument) => /\btsx\b/.test(argument))) return kept;
  const tsx = appsTsx(file);
  if (tsx !== undefined) return [...kept, "--import", tsx];
  if (runtime.strips) return kept;
  if (runtime.flag !== undefined) return [...kept, runtime.flag];
  throw conveyorError(
    "invalidArgument",
    `Node ${runtime.version} does not run TypeScript, and the app has no tsx for ${file}. ` +
      "Run `npm install --save-dev tsx`, take Node 22.18 or later, or name a .js file.",
    { argument: "file", got: file },
  );
}

/** As the module would find it. */
function appsTsx(file: string): string | undefined {
  try {
    return pathToFileURL(createRequire(file).resolve("tsx")).href;
  } catch {
    return undefined;
  }
}

export interface ForkOptions {
  /** The program that loads the module. */
  program: string;
  file: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  execArgv: readonly string[];
}

export function forkProcess({ program, file, args, env, execArgv }: ForkOptions): ChildProcess {
  return fork(program, [file, ...args], {
    env: { ...process.env, ...env },
    execArgv: [...execArgv],
    // Its output is the pool's. Its input is none: several processes would share one.
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
}
