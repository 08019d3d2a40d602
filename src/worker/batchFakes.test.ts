/** A worker of batches of three, on a manual clock, whose batches end when a test says so. */
import { expect, test } from "vitest";
import type { Batching } from "../shared/index.js";
import type { CheckedBatchHandler } from "./batching.js";
import { startLoop } from "./fakes.test.js";
import type { LoopOptions } from "./parts.js";
import type { BatchContext, BatchJob } from "./types.js";

export type Run = CheckedBatchHandler["handler"];

/** A batch that goes on until the test ends it. */
function manualBatches() {
  const begun: {
    ids: string[];
    jobs: BatchJob[];
    at: number;
    signal: AbortSignal;
    resolve: (value?: unknown) => void;
    reject: (error: unknown) => void;
  }[] = [];
  const run = (jobs: BatchJob[], { signal }: BatchContext) =>
    new Promise<any>((resolve, reject) => {
      const ids = jobs.map(({ id }) => id);
      begun.push({ ids, jobs, at: clockOf.now(), signal, resolve, reject });
    });
  const clockOf = { now: () => 0 };
  return { begun, run, clockOf };
}

type Options = Partial<LoopOptions> & { leaseMs?: number; batch?: Partial<Batching> };

export function startBatches(run: Run, { batch = {}, ...options }: Options = {}) {
  const handler: CheckedBatchHandler = {
    batch: { size: 3, waitMs: 500, ...batch },
    handler: run,
  };
  return startLoop(() => null, { handlers: new Map([["tiles", handler]]), ...options });
}

export function startManual(options: Options = {}) {
  const manual = manualBatches();
  const started = startBatches(manual.run, options);
  manual.clockOf.now = () => started.clock.now();
  const enqueue = (count: number, fields = {}) =>
    Array.from({ length: count }, (_, n) => started.deployment.enqueue({ n }, "tiles", fields));
  return { ...started, ...manual, enqueue };
}

/** A full batch of three that runs. */
export async function threeRunning(options: Options = {}) {
  const started = startManual({ leaseMs: 60_000, ...options });
  const ids = started.enqueue(3, options.batch?.by === undefined ? {} : { group: "a" });
  await started.clock.advance(100);
  expect(started.begun).toHaveLength(1);
  return { ...started, ids, batch: started.begun[0]! };
}

export function caught(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error("It did not throw.");
}

test("three jobs are a batch, which goes on until it is ended", async () => {
  const { clock, deployment, batch } = await threeRunning();
  await clock.advance(10_000);
  expect(deployment.recorded.size).toBe(0);
  batch.resolve();
  await clock.advance(100);
  expect(deployment.recorded.size).toBe(3);
});
