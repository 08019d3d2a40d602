/**
 * A process with several idle workers of the test app, for fleets of many: it prints a line when a job begins. `FLEET_PLAIN`:
 * none of them stands by.
 */
import "../support/clock.js";
import { Worker } from "convex-conveyor/worker";
import { api } from "../support/app/convex/_generated/api.js";

const count = Number(process.env["FLEET_SIZE"]);
const isPlain = process.env["FLEET_PLAIN"] === "1";

const workers = Array.from(
  { length: count },
  (_, i) =>
    new Worker({
      url: process.env["CONVEX_URL"]!,
      token: process.env["CONVEYOR_TOKEN"]!,
      api: api.work,
      name: `${process.env["FLEET_NAME"]!}-${i}`,
      concurrency: Number(process.env["WORKER_CONCURRENCY"] ?? 1),
      statusMs: 0,
      handleSignals: false,
      // A worker that asks before each claim stands by for none.
      ...(isPlain ? { backPressure: { check: () => false } } : {}),
      onEvent: () => {},
      handlers: {
        sums: async ({ payload }) => {
          process.stdout.write(`${JSON.stringify({ n: payload.n, by: i })}\n`);
          await new Promise((resolve) => setTimeout(resolve, payload.workMs));
          return { square: payload.n * payload.n };
        },
      },
    }),
);

/** The duty of each worker, as its loop has it: tests kill by it. */
const duties = new Map<number, string>();
setInterval(() => {
  for (const [by, worker] of workers.entries()) {
    const { loop } = worker as unknown as { loop?: { parts: { onCall: { kind: string } } } };
    const duty = loop?.parts.onCall.kind ?? "none";
    if (duties.get(by) === duty) continue;
    duties.set(by, duty);
    process.stdout.write(`${JSON.stringify({ duty, by })}\n`);
  }
}, 1_000);

await Promise.all(workers.map((worker) => worker.run()));
