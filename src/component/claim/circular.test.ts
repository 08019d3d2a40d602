/** Circular queues against a naive model: jobs that were never worked on first, then the least recently worked on. */
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import type { ClaimedJob } from "../../shared/index.js";
import { getQueue } from "../rows/queues.js";
import { failed, newWorld, released, succeeded, type World } from "../setup.test.js";
import { pause, resume } from "../edges/transitions.js";

const NAMES = ["a", "b", "c"] as const;
const arbName = fc.constantFrom(...NAMES);
const arbStep = fc.oneof(
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("add" as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      ...{ kind: fc.constant("claim" as const), worker: arbName },
      max: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      ...{ kind: fc.constant("end" as const), worker: arbName },
      how: fc.constantFrom("succeeded" as const, "failed" as const, "released" as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("lose" as const), worker: arbName }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("pause" as const), nth: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("resume" as const) }) },
);
type Step = typeof arbStep extends fc.Arbitrary<infer S> ? S : never;

/** The line as it should be: first jobs that no worker has finished, then the other jobs. */
interface Line {
  first: string[];
  others: string[];
  /** Worked on at least once. */
  worked: Set<string>;
  paused: string[];
}

/** Pauses or resumes one item, by the edges themselves. */
async function setPaused(world: World, id: string, paused: boolean): Promise<void> {
  const job = await world.job(id);
  await world.step(async (ctx) => {
    if (paused) await pause(ctx.db, job);
    else await resume(ctx, job, await getQueue(ctx.db, "tiles"));
  });
}

async function play(steps: readonly Step[]): Promise<void> {
  const world = await newWorld({ circular: true, maxResets: 100, leaseMs: 3_600_000 });
  const line: Line = { first: [], others: [], worked: new Set(), paused: [] };
  line.first.push(...(await world.enqueueBatch([1, 2, 3])));
  const workers = new Map(NAMES.map((name) => [name, world.worker(name)]));
  const held = new Map<string, ClaimedJob[]>(NAMES.map((name) => [name, []]));
  for (const step of steps) {
    vi.advanceTimersByTime(1);
    if (step.kind === "add") {
      line.first.push(await world.enqueue());
    } else if (step.kind === "claim") {
      const expected = [...line.first, ...line.others].slice(0, step.max);
      const jobs = await workers.get(step.worker)!.claim(step.max);
      expect(jobs.map(({ id }) => id)).toEqual(expected);
      line.first = line.first.filter((id) => !expected.includes(id));
      line.others = line.others.filter((id) => !expected.includes(id));
      held.get(step.worker)!.push(...jobs);
    } else if (step.kind === "end") {
      const job = held.get(step.worker)!.shift();
      if (job === undefined) continue;
      const outcome = { succeeded, failed, released }[step.how](job);
      await workers.get(step.worker)!.complete([outcome]);
      // Given back, it has not been worked on: it keeps its turn. A failure without retries is a round too.
      if (step.how === "released") line.first.push(job.id);
      else line.others.push(job.id);
      if (step.how !== "released") line.worked.add(job.id);
    } else if (step.kind === "lose") {
      await lose(world, step.worker);
      line.first.push(...held.get(step.worker)!.map(({ id }) => id));
      held.set(step.worker, []);
    } else if (step.kind === "pause") {
      const waiting = [...line.first, ...line.others];
      const id = waiting[step.nth];
      if (id === undefined) continue;
      await setPaused(world, id, true);
      line.first = line.first.filter((one) => one !== id);
      line.others = line.others.filter((one) => one !== id);
      line.paused.push(id);
    } else {
      const id = line.paused.shift();
      if (id === undefined) continue;
      await setPaused(world, id, false);
      (line.worked.has(id) ? line.others : line.first).push(id);
    }
  }
}

/** The worker is silent for a lease, and the lease is ended: as by a sweep or a claim with room. */
async function lose(world: World, name: string): Promise<void> {
  const session = (await world.all("sessions")).find((one) => one.name === name);
  if (session?.state !== "active") return;
  await world.t.run((ctx) =>
    ctx.db.patch("sessions", session._id, {
      ...{ acknowledged: true, expiresAt: Date.now() - 1, lastSeenAt: Date.now() - 3_600_001 },
    }),
  );
  await world.sweep();
}

/** Random steps are played against the model, in so many runs. */
export async function playMany(numRuns: number): Promise<void> {
  const steps = fc.array(arbStep, { minLength: 10, maxLength: 30, size: "max" });
  await fc.assert(fc.asyncProperty(steps, play), { numRuns, seed: 5 });
}

// Shows CR-01, CR-02, C28, G10.
describe("a circular queue gives out unworked jobs first, then the least recently worked on", () => {
  test("with several workers, successes, failures, releases, losses and pauses", async () => {
    await playMany(4);
  });
});
