/** The options of a worker process, from flags or environment. */
import { parseArgs } from "node:util";

export const USAGE = `Draws tiles for the render farm.

  --url URL           the deployment       (or CONVEX_URL)
  --token TOKEN       a worker's token     (or CONVEYOR_TOKEN)
  --name NAME         as the page shows it (or WORKER_NAME; defaults to worker-<pid>)
  --concurrency N     tiles at a time, 1 to 16 (defaults to 2)
  --help

Make a token with: npx convex run workers:create '{"name": "laptop"}'`;

export interface WorkerOptions {
  readonly url: string;
  readonly token: string;
  readonly name: string;
  readonly concurrency: number;
}

/**
 * Flags win over the environment. Returns `null` when only help was asked for; otherwise throws with the correction to
 * make.
 */
export function readOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): WorkerOptions | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      url: { type: "string" },
      token: { type: "string" },
      name: { type: "string" },
      concurrency: { type: "string", default: String(DEFAULT_CONCURRENCY) },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return null;
  const url = values.url ?? environment.CONVEX_URL;
  if (!url) throw new Error("Which deployment? Give --url or set CONVEX_URL.");
  const token = values.token ?? environment.CONVEYOR_TOKEN;
  if (!token) {
    throw new Error(
      "A worker needs a token: give --token or set CONVEYOR_TOKEN. " +
        `Make one with: npx convex run workers:create '{"name": "laptop"}'`,
    );
  }
  const concurrency = Number(values.concurrency);
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > 16) {
    throw new Error(
      `--concurrency must be a whole number from 1 to 16; got ${values.concurrency}.`,
    );
  }
  const name = values.name ?? environment.WORKER_NAME ?? `worker-${process.pid}`;
  return { url, token, name, concurrency };
}

/**
 * Two, although one process has one core: while the outcome of one tile travels, the other is drawn. More would only
 * make each tile wait longer for its turn.
 */
const DEFAULT_CONCURRENCY = 2;
