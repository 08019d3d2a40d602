/** A worker for tests of batches: it squares the jobs of `races`, so many at once as `BATCH_SIZE` says. */
import "../clock.js";
import { Worker } from "convex-conveyor/worker";
import { api } from "./convex/_generated/api.js";

const say = (line: unknown) => process.stdout.write(`${JSON.stringify(line)}\n`);
const size = Number(process.env["BATCH_SIZE"] ?? 0);

const worker = new Worker({
  url: process.env["CONVEX_URL"]!,
  token: process.env["CONVEYOR_TOKEN"]!,
  api: api.work,
  name: process.env["WORKER_NAME"]!,
  handleSignals: false,
  onEvent: (event) => say({ event }),
  handlers: {
    races:
      size === 0
        ? async ({ payload: { n } }) => ({ square: n * n })
        : {
            batch: { size, waitMs: 500 },
            handler: async (jobs) => jobs.map(({ payload: { n } }) => ({ square: n * n })),
          },
  },
});

await worker.run();
