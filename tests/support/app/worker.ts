/**
 * A worker process for the end-to-end tests: squares, and at a job's first attempt waits as long as the payload says.
 * Prints one JSON line for each event, so that a test sees the process's view.
 */
import "../clock.js";
import { Worker } from "convex-conveyor/worker";
import type { WorkerEvent } from "convex-conveyor/worker";
import { api } from "./convex/_generated/api.js";

const say = (line: unknown) => process.stdout.write(`${JSON.stringify(line)}\n`);

const graceMs = process.env["WORKER_GRACE_MS"];
const groups = process.env["WORKER_GROUPS"]?.split(",");
const maxCost = process.env["WORKER_MAX_COST"];

const worker = new Worker({
  url: process.env["CONVEX_URL"]!,
  token: process.env["CONVEYOR_TOKEN"]!,
  api: api.work,
  name: process.env["WORKER_NAME"]!,
  concurrency: Number(process.env["WORKER_CONCURRENCY"] ?? 1),
  handleSignals: graceMs === undefined,
  ...(groups === undefined ? {} : { groups }),
  ...(maxCost === undefined ? {} : { maxCost: Number(maxCost) }),
  onEvent: (event: WorkerEvent) => say({ event }),
  handlers: {
    sums: async ({ id, payload, attempt, progress }) => {
      say({ started: id, n: payload.n, attempt });
      progress({ half: false });
      if (attempt === 1) await new Promise((resolve) => setTimeout(resolve, payload.workMs));
      say({ finished: id, n: payload.n, attempt });
      return { square: payload.n * payload.n };
    },
  },
});

if (graceMs !== undefined) {
  process.once("SIGTERM", () => void worker.stop({ graceMs: Number(graceMs) }));
}

try {
  await worker.run();
  say({ stopped: true });
} catch (error) {
  say({ error: error instanceof Error ? error.message : String(error) });
  process.exitCode = 1;
}
// A handler that goes on after its signal would keep the process alive.
process.exit();
