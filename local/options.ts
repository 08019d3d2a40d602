/** The options of `npm run backend --`. */
import { parseArgs } from "node:util";
import { DEFAULT_CLASS, parseClass, type DeploymentClass } from "./functions/classes.js";

const DEFAULT_PORT = 3210;
/** In the folder that it is started in. */
const DEFAULT_DATA = ".conveyor-local";

export const HELP = `Runs a local Convex backend for development and tests.

  npm run backend -- [options]

  --port <number>      Where to listen. Default ${DEFAULT_PORT}; 0 takes any free port.
  --site-port <number> Where HTTP actions are served. Default: the port after --port, or any free one.
  --host <address>     Which address to listen on. Default 127.0.0.1.
  --data <folder>      Where rows, the deployment and the admin key are kept. Default ${DEFAULT_DATA}.
  --in-memory          Keep nothing: all is gone when it stops.
  --admin-key <key>    The key that the CLI must present. Default: the one before; at first, a new one.
  --class <name>       How much runs at once: S16, S256, D1024 or D2048. Default S16.
  --quiet              Do not print functions' log lines.
  --stats              Print the counters (bill, reads, writes, waits) when it stops, and on SIGUSR2.
  --help               This text.
`;

export interface BackendArguments {
  port: number;
  /** Undefined: beside `port`. */
  sitePort: number | undefined;
  host: string;
  adminKey: string | undefined;
  /** `undefined` when nothing is kept. */
  data: string | undefined;
  class: DeploymentClass;
  quiet: boolean;
  stats: boolean;
}

/** `"help"` when only that was asked for; throws the correction to make. */
export function readOptions(args: readonly string[]): BackendArguments | "help" {
  const values = parse(args);
  if (values.help) return "help";
  const sitePort = values["site-port"];
  return {
    port: parsePort("--port", values.port),
    sitePort: sitePort === undefined ? undefined : parsePort("--site-port", sitePort),
    host: values.host,
    adminKey: values["admin-key"],
    data: parseData(values.data, values["in-memory"]),
    class: parseClass(values.class),
    quiet: values.quiet,
    stats: values.stats,
  };
}

function parseData(data: string | undefined, inMemory: boolean): string | undefined {
  if (data === "") throw new Error("--data must name a folder, got nothing.");
  if (!inMemory) return data ?? DEFAULT_DATA;
  if (data === undefined) return undefined;
  throw new Error(
    `--in-memory keeps nothing, and --data says where: got both, with "${data}". Leave one out.`,
  );
}

function parsePort(option: string, value: string): number {
  const port = Number(value);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new Error(`${option} must be a whole number from 0 to 65535, got "${value}".`);
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        port: { type: "string", default: String(DEFAULT_PORT) },
        "site-port": { type: "string" },
        host: { type: "string", default: "127.0.0.1" },
        data: { type: "string" },
        "in-memory": { type: "boolean", default: false },
        "admin-key": { type: "string" },
        class: { type: "string", default: DEFAULT_CLASS },
        quiet: { type: "boolean", default: false },
        stats: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\n${HELP}`, { cause: error });
  }
}
