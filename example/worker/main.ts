/**
 * A worker process: claims tiles, draws them, reports them. Run as many as there are cores, on any machine that reaches
 * the deployment. Stops at SIGTERM and SIGINT with its tiles finished or given back; killed, it loses none either.
 */
import { Worker } from "convex-conveyor/worker";
import { api } from "../convex/_generated/api.js";
import { drawTile } from "./drawTile.js";
import { readOptions, USAGE, type WorkerOptions } from "./options.js";

async function main(options: WorkerOptions): Promise<void> {
  const worker = new Worker({
    ...options,
    api: api.workers,
    handlers: { tiles: drawTile },
  });
  console.log(`${options.name}: waiting for tiles at ${options.url}`);
  await worker.run();
  console.log(`${options.name}: stopped`);
}

try {
  const options = readOptions(process.argv.slice(2), process.env);
  if (options === null) console.log(USAGE);
  else await main(options);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
