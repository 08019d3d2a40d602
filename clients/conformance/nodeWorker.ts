/** The worker of the conformance script, in Node: its configuration comes from the environment, its tasks with each job. */
import { setTimeout as pause } from "node:timers/promises";
import { NonRetryableError, Worker, type Job, type WorkerApi } from "convex-conveyor/worker";
import { anyApi } from "convex/server";

const { CONVEX_URL, CONVEYOR_TOKEN, CONVEYOR_MODULE, CONVEYOR_QUEUE, CONVEYOR_CONCURRENCY } =
  process.env;

const worker = new Worker({
  url: CONVEX_URL!,
  token: CONVEYOR_TOKEN!,
  api: anyApi[CONVEYOR_MODULE!] as unknown as WorkerApi,
  concurrency: Number(CONVEYOR_CONCURRENCY),
  onEvent: () => {},
  handlers: {
    [CONVEYOR_QUEUE!]: async (job: Job) => {
      await tell(job, "begun");
      try {
        return await act(job);
      } finally {
        await tell(job, "ended");
      }
    },
  },
});
try {
  await worker.run();
} catch (error) {
  console.error(`The worker has ended: ${(error as Error).message}`);
  process.exitCode = 1;
}
process.exit();

async function act({ payload, signal, progress, log, write }: Job): Promise<unknown> {
  switch (payload.do) {
    case "return":
      return payload.value;
    case "sleep":
      await pause(payload.ms);
      return "slept";
    case "wait":
      while (!signal.aborted) await pause(20);
      return undefined;
    case "say":
      progress({ percent: 50 });
      log("said");
      write("text");
      return null;
    case "failForGood":
      throw new NonRetryableError(payload.message);
    default:
      throw new Error(payload.message);
  }
}

async function tell({ id, attempt, payload }: Job, what: string): Promise<void> {
  await fetch(`${payload.url}/${what}?job=${id}&attempt=${attempt}`, { method: "POST" });
}
