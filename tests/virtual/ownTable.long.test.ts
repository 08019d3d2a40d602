/**
 * The cost of rows of the app's own table as jobs, beside a plain queue: up to 100,000 wait, and workers claim and complete some of
 * them, side by side in virtual time. As counts, never as times; the guide's table has the printed figures.
 */
import type { ConvexHttpClient } from "convex/browser";
import { makeFunctionReference } from "convex/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import { startVirtualApp, type VirtualApp } from "../support/virtualApp.js";

const ROWS = counts(10_000, 100_000);
const FILL = 2_000;
/** Jobs that all workers together do in one run. */
const JOBS = counts(128, 256);
const REFUSED = /OptimisticConcurrencyControlFailure|TooManyConcurrentRequests/;
const squared = { kind: "succeeded" as const, result: { square: 1 } };

interface Queue {
  queue: "parcels" | "crates" | "races";
  /** The module with the workers' functions. */
  api: "parcels" | "work";
}
const PLAIN: Queue = { queue: "races", api: "work" };
const STRICT: Queue = { queue: "parcels", api: "parcels" };
const SCATTERED: Queue = { queue: "crates", api: "parcels" };

let app: VirtualApp;
let sessions = 0;

beforeAll(async () => {
  app = await startVirtualApp({ seed: 1 });
  const { world } = app;
  for (let from = 0; from < ROWS; from += FILL) {
    for (const table of ["parcels", "crates"])
      await world.call("parcels:fill", { table, from, count: FILL });
  }
  for (let from = 0; from < ROWS; from += FILL / 2) {
    const payloads = Array.from({ length: FILL / 2 }, (_, i) => ({ n: from + i }));
    await world.call("races:enqueue", { queue: "races", payloads });
  }
}, 900_000);

afterAll(async () => await app.world.close());

interface Cost {
  calls: number;
  conflicts: number;
  /** Of all jobs together. */
  overRows: number;
  read: number;
  written: number;
}

/** Per job, of `workers` at once that claim `max` with each call. */
async function play({ queue, api }: Queue, workers: number, max: number): Promise<Cost> {
  const { world } = app;
  // The queue's and the sessions' rows are there, and no worker is new.
  const names = Array.from({ length: workers }, () => `s${++sessions}`);
  const loops = names.map((name) => new Worker(world.httpClient(name), name, queue, api, max));
  await world.run(Promise.all(loops.map((loop) => loop.step())));
  world.stats.reset();
  const each = JOBS / workers;
  await world.run(Promise.all(loops.map((loop) => loop.do(each))));
  const { functions, conflicts: lost } = world.stats.snapshot();
  const cost = { calls: 0, conflicts: 0, overRows: 0, read: 0, written: 0 };
  for (const [name, { billed, conflicts, io }] of Object.entries(functions)) {
    if (name.startsWith("conveyor/")) continue;
    cost.calls += billed;
    cost.conflicts += conflicts;
    cost.read += io.documentsRead;
    cost.written += io.documentsWritten;
  }
  // However many rows there are, a completion may come while a sweep moves its timer, and jobs are counted as they come and end.
  for (const { loser, table, count } of lost) {
    if (table !== "timers" && !loser.startsWith("conveyor/count/")) cost.overRows += count;
  }
  await world.run(Promise.all(loops.map((loop) => loop.end())));
  const taken = loops.flatMap((loop) => loop.taken);
  expect(new Set(taken).size).toBe(taken.length);
  const perJob = (count: number) => Math.round((100 * count) / JOBS) / 100;
  return {
    calls: perJob(cost.calls),
    conflicts: perJob(cost.conflicts),
    overRows: cost.overRows,
    read: perJob(cost.read),
    written: perJob(cost.written),
  };
}

interface Held {
  id: string;
  attempt: number;
}

class Worker {
  readonly taken: string[] = [];
  private n = 0;
  private held: Held[] = [];

  constructor(
    private readonly client: ConvexHttpClient,
    private readonly sessionKey: string,
    private readonly queue: string,
    private readonly api: string,
    private readonly max: number,
  ) {}

  /** Ends the jobs that it holds, and claims the next. */
  async step(max = this.max): Promise<void> {
    const finished = this.held.map(({ id, attempt }) => ({
      ...{ id, attempt, outcome: squared, queue: this.queue },
    }));
    const { token } = app;
    const { sessionKey, queue } = this;
    const call = { token, sessionKey, callSeq: ++this.n };
    const claim = { queues: [queue], max };
    const { jobs } = (await (finished.length === 0
      ? this.call("claim", { ...call, name: sessionKey, ...claim })
      : this.call("complete", { ...call, finished, claim }))) as { jobs: Held[] };
    this.held = jobs;
    this.taken.push(...jobs.map(({ id }) => id));
  }

  /** As many jobs as are said, one call after another. */
  async do(jobs: number): Promise<void> {
    for (let done = 0; done < jobs; done += this.held.length) await this.step();
  }

  async end(): Promise<void> {
    await this.step(1);
  }

  /** As a worker does: repeated under its number for as long as the platform gives up on it. */
  private async call(name: string, args: Record<string, unknown>): Promise<unknown> {
    for (;;) {
      try {
        return await this.client.mutation(
          makeFunctionReference<"mutation">(`${this.api}:${name}`),
          args,
        );
      } catch (error) {
        if (!REFUSED.test(String(error))) throw error;
      }
    }
  }
}

/** Of workers that claim so many at a time. */
const FLEETS = [
  [1, 1],
  [8, 8],
  [32, 1],
] as const;

test.each(FLEETS.slice(0, counts(1, 3)))(
  "with many rows, %i workers that claim %i at a time: calls, documents and conflicts per job",
  async (workers, max) => {
    const plain = await play(PLAIN, workers, max);
    const strict = await play(STRICT, workers, max);
    const scattered = await play(SCATTERED, workers, max);
    console.table({ plain, "own table": strict, "own table, scatter 64": scattered });
    // Besides what loses a conflict, a row costs no call more than a job.
    expect(strict.calls - strict.conflicts).toBeLessThanOrEqual(plain.calls + 0.1);
    expect(scattered.calls - scattered.conflicts).toBeLessThanOrEqual(plain.calls + 0.1);
    // However many rows wait, none is read beyond the ones in question.
    expect(strict.written).toBeLessThanOrEqual(plain.written + 8);
    if (workers === 1) {
      expect({ strict: strict.overRows, scattered: scattered.overRows }).toEqual({
        strict: 0,
        scattered: 0,
      });
      expect(strict.read).toBeLessThanOrEqual(plain.read + 12);
    } else expect(scattered.conflicts).toBeLessThan(strict.conflicts);
  },
  600_000,
);

test("rows are done once each, and in no other state", async () => {
  for (const table of ["parcels", "crates"]) {
    const states = (await app.world.call("parcels:states", { table, count: 6_000 })) as object;
    expect(Object.keys(states).sort()).toEqual(["busy", "done", "waiting"]);
  }
});
