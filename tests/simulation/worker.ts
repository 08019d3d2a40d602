/** The program outside: the official worker, as an app would run it. Prints a line of JSON for all that happens. */
import { anyApi } from "convex/server";
import { Worker, type WorkerEvent } from "../../src/worker/index.node.js";
import { turnOf } from "./app/payload.js";
import { take, takeAll, type Attempt } from "./app/turns.js";

const say = (line: unknown) => process.stdout.write(`${JSON.stringify(line)}\n`);
const env = process.env as Record<string, string>;
const given = JSON.parse(env["WORKER"]!) as {
  name: string;
  queues: string[];
  concurrency: number;
  labels: string[];
  maxCost?: number;
  groups?: string[];
  isOfSecond?: boolean;
  batch?: { size: number; waitMs: number; by?: "group" };
  api?: string;
};

const work: any = async (job: any) => await take(job, job);
/** Jobs of the second mount report to no service. */
const workOfSecond: any = async ({ payload, attempt }: Attempt) => {
  await new Promise((resolve) => setTimeout(resolve, turnOf(payload, attempt).ms));
  return { n: payload.n, attempt };
};
const { isOfSecond = false, batch, api = isOfSecond ? "second" : "work", ...options } = given;
const handler =
  batch === undefined
    ? isOfSecond
      ? workOfSecond
      : work
    : { batch, handler: (jobs: any[]) => takeAll(jobs) };

try {
  const worker = new Worker({
    url: env["CONVEX_URL"]!,
    token: env["CONVEYOR_TOKEN"]!,
    api: anyApi[api] as any,
    ...options,
    statusMs: 0,
    onEvent: (event: WorkerEvent) => say(event),
    handlers: Object.fromEntries(given.queues.map((queue) => [queue, handler])),
  });
  await worker.run();
  say({ kind: "ended" });
} catch (error) {
  say({ kind: "crashed", error: String(error) });
}
process.exit();
