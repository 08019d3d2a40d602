/** Flags of `npx convex-conveyor work`. */
import { parseArgs } from "node:util";
import { checkToken, checkUrl } from "./options.js";

export const WORK_USAGE = `Runs a worker module in several processes, and replaces each that ends.

  npx convex-conveyor work FILE [options] [-- arguments of the module]

  --processes N      how many, 1 to 256; default 4
  --watch            restarts the processes, one after another, when a source file of this folder changes
  --url URL          address of the deployment             (or CONVEX_URL, CONVEX_SELF_HOSTED_URL)
  --token TOKEN      token of the workers                  (or CONVEYOR_TOKEN)
  --name NAME        name of the workers, before the number of each process; default host and process id
  --max-memory MB    replaces a process that takes more; default no limit
  --grace-ms MS      time for running jobs when a process is to stop; default 8000
  --help             shows this text

FILE is a module that makes a \`Worker\`. Variables of .env.local are in its environment, with the real environment before
them. In a terminal the command asks for an address or a token that is missing, and writes it to .env.local.
All users of the machine can see the value of --token in its list of processes (ps); CONVEYOR_TOKEN and .env.local hide it.
TypeScript runs by the app's tsx, or by Node's own type stripping (22.18 or later).

SIGTERM and Ctrl-C stop all processes with their grace; a second one waits for no job.
Exit codes: 0 stopped as asked, 1 failed, 2 wrong arguments.`;

/** Wrong arguments: nothing has begun. */
export class UsageError extends Error {}

export interface WorkOptions {
  readonly file: string;
  readonly args: readonly string[];
  readonly processes?: number;
  readonly watch: boolean;
  readonly url?: string;
  readonly token?: string;
  readonly name?: string;
  readonly maxMemoryBytes?: number;
  readonly graceMs?: number;
}

/** Returns `null` when only help was asked for. */
export function readWorkOptions(args: readonly string[]): WorkOptions | null {
  const { values, positionals } = parsed(args);
  if (values.help) return null;
  const [file, ...rest] = positionals;
  if (file === undefined) {
    throw new UsageError(
      "Which module? Name its file, as in: npx convex-conveyor work ./worker.ts",
    );
  }
  const processes = readNumber("--processes", values.processes, 1, 256);
  const megabytes = readNumber("--max-memory", values["max-memory"], 64, 2 ** 20);
  const graceMs = readNumber("--grace-ms", values["grace-ms"], 0, 86_400_000);
  return {
    file,
    args: rest,
    watch: values.watch,
    ...(processes === undefined ? {} : { processes }),
    ...(values.url ? { url: values.url } : {}),
    ...(values.token ? { token: values.token } : {}),
    ...(values.name ? { name: values.name } : {}),
    ...(megabytes === undefined ? {} : { maxMemoryBytes: megabytes * 2 ** 20 }),
    ...(graceMs === undefined ? {} : { graceMs }),
  };
}

function parsed(args: readonly string[]) {
  const { values, positionals } = parsedFlags(args);
  try {
    if (values.url) checkUrl(values.url);
    if (values.token) checkToken(values.token);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  return { values, positionals };
}

function parsedFlags(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        processes: { type: "string" },
        watch: { type: "boolean", default: false },
        url: { type: "string" },
        token: { type: "string" },
        name: { type: "string" },
        "max-memory": { type: "string" },
        "grace-ms": { type: "string" },
        help: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\nOptions: npx convex-conveyor work --help`);
  }
}

function readNumber(flag: string, text: string | undefined, min: number, max: number) {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= min && number <= max) return number;
  throw new UsageError(`${flag} must be a whole number from ${min} to ${max}; got ${text}.`);
}
