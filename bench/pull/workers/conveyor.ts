/**
 * A program that works for Conveyor: the product's own worker, with its defaults. `WORKER_FOLLOWS`: it never stands by, as a
 * worker with a condition of its own.
 */
import { Worker } from "convex-conveyor/worker";
import { api } from "./functions.js";
import { env, failed, work } from "./work.js";

const worker = new Worker({
  url: env["CONVEX_URL"]!,
  token: env["WORKER_KEY"]!,
  api: api.conveyor,
  name: env["WORKER_NAME"]!,
  concurrency: Number(env["WORKER_CONCURRENCY"]),
  ...(env["WORKER_FOLLOWS"] === "1" ? { backPressure: { check: () => false } } : {}),
  onEvent: (event) => {
    if (event.kind === "callRepeated" || event.kind === "callRejected")
      failed(event.call, event.error);
    if (event.kind === "leaseLost") failed("lease", event.reason);
  },
  handlers: {
    jobs: async ({ payload }) => {
      await work(payload);
      return null;
    },
  },
});

try {
  await worker.run();
} catch (error) {
  failed("run", error);
}
process.exit();
