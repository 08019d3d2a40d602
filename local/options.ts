/** What `npm run backend --` takes. */
import { parseArgs } from "node:util";
import { DEFAULT_CLASS, parseClass, type DeploymentClass } from "./functions/classes.js";

const DEFAULT_PORT = 3210;

export const HELP = `Runs a local Convex backend, in memory, for development and tests.

  npm run backend -- [options]

  --port <number>      Where to listen. Default ${DEFAULT_PORT}; 0 takes any free port.
  --host <address>     Which address to listen on. Default 127.0.0.1.
  --admin-key <key>    What the CLI must present. Default: a new one at each start.
  --class <name>       How much runs at once: S16, S256, D1024 or D2048. Default S16.
  --quiet              Do not print what functions log.
  --help               This text.
`;

export interface BackendArguments {
  port: number;
  host: string;
  adminKey: string | undefined;
  class: DeploymentClass;
  quiet: boolean;
}

/** `"help"` when only that was asked for; throws what to correct. */
export function readOptions(args: readonly string[]): BackendArguments | "help" {
  const values = parse(args);
  if (values.help) return "help";
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error(`--port must be a whole number from 0 to 65535, got "${values.port}".`);
  }
  return {
    port,
    host: values.host,
    adminKey: values["admin-key"],
    class: parseClass(values.class),
    quiet: values.quiet,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        port: { type: "string", default: String(DEFAULT_PORT) },
        host: { type: "string", default: "127.0.0.1" },
        "admin-key": { type: "string" },
        class: { type: "string", default: DEFAULT_CLASS },
        quiet: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\n${HELP}`, { cause: error });
  }
}
