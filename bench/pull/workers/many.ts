/** A program that works for many of Conveyor's queues: the product's own worker, with its defaults. */
import { Worker } from "convex-conveyor/worker";
import { api } from "./functions.js";
import { env, failed, work, type Work } from "./work.js";

const handler = async ({ payload }: { payload: Work }): Promise<null> => {
  await work(payload);
  return null;
};
const count = Number(env["WORKER_QUEUES"]);

const worker = new Worker({
  url: env["CONVEX_URL"]!,
  token: env["WORKER_KEY"]!,
  api: api.many,
  name: env["WORKER_NAME"]!,
  concurrency: Number(env["WORKER_CONCURRENCY"]),
  onEvent: (event) => {
    if (event.kind === "callRepeated" || event.kind === "callRejected")
      failed(event.call, event.error);
    if (event.kind === "leaseLost") failed("lease", event.reason);
  },
  handlers: Object.fromEntries(Array.from({ length: count }, (_, at) => [`jobs${at}`, handler])),
});

try {
  await worker.run();
} catch (error) {
  failed("run", error);
}
process.exit();
