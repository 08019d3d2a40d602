/** `npx convex-conveyor work`: a pool of processes from the command line. */
import path from "node:path";
import { isConveyorError } from "../shared/index.js";
import { WorkerPool, type PoolEvent, type PoolOptions } from "../worker/pool/index.js";
import { poolLine, processLine } from "../worker/pool/line.js";
import { watchSources } from "./changes.js";
import { workEnvironment } from "./environment.js";
import { UsageError, type WorkOptions } from "./workOptions.js";

/** Between two times at which each process has its line. */
const STATUS_MS = 60_000;

/** Resolves when the pool has been stopped. */
export async function work(options: WorkOptions, say: (text: string) => void): Promise<void> {
  const { file, args, watch, url, token, processes, name, maxMemoryBytes, graceMs } = options;
  const folder = process.cwd();
  const env = await workEnvironment({
    ...{ folder, environment: process.env },
    terminal: { input: process.stdin, output: process.stdout },
    ...(url === undefined ? {} : { url }),
    ...(token === undefined ? {} : { token }),
  });
  const pool: WorkerPool = newPool({
    ...{ file: path.resolve(folder, file), args, env },
    ...(processes === undefined ? {} : { processes }),
    ...(name === undefined ? {} : { name }),
    ...(maxMemoryBytes === undefined ? {} : { maxMemoryBytes }),
    ...(graceMs === undefined ? {} : { graceMs }),
    // A mistake ends the command, but where the next change of a file may mend it.
    startTries: watch ? 0 : 1,
    onEvent: (event) => tell(event, pool, say),
  });
  const timer = setInterval(() => say(String(pool)), STATUS_MS);
  timer.unref();
  const unwatch = watch
    ? watchSources(
        folder,
        (changed) => restart(changed, pool, say),
        (one, error) =>
          say(`Changes in ${one}, and perhaps in further folders, are not seen: ${error.message}`),
      )
    : () => {};
  try {
    await pool.run();
  } finally {
    unwatch();
    clearInterval(timer);
  }
}

/** Its options are the command's arguments. */
function newPool(options: PoolOptions): WorkerPool {
  try {
    return new WorkerPool(options);
  } catch (error) {
    throw isConveyorError(error) ? new UsageError(error.data.message) : error;
  }
}

function tell(event: PoolEvent, pool: WorkerPool, say: (text: string) => void): void {
  const status =
    event.kind === "ready" ? pool.processes.find(({ id }) => id === event.id) : undefined;
  const line = status === undefined ? poolLine(event) : processLine(status);
  if (line !== null) say(line);
}

function restart(changed: string, pool: WorkerPool, say: (text: string) => void): void {
  say(`${changed} has changed: the processes restart, one after another`);
  // The event `restartFailed` has said it.
  pool.restart().catch(() => {});
}
