/**
 * Claims by priority, labels and cost against a naive model: in any queue and for any claimer, no job is given out
 * while one of higher priority waits that the claimer may have.
 */
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import type { ClaimedJob, Conditions, JobOptions } from "../../shared/index.js";
import { newWorld, released, succeeded, type World } from "../setup.test.js";

type Job = Awaited<ReturnType<World["job"]>>;

/** In the quick suite; a guard that is taken out is found by so many with these seeds. */
const RUNS = 10;

const arbJob = fc.record(
  {
    priority: fc.constantFrom(-10, 0, 3, 10),
    labels: fc.subarray(["gpu", "eu"]),
    cost: fc.constantFrom(1, 2, 3, 5, 7),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<JobOptions>;
const arbConditions = fc.record(
  { labels: fc.subarray(["gpu", "eu", "ssd"]), maxCost: fc.integer({ min: 1, max: 12 }) },
  { requiredKeys: [] },
) as fc.Arbitrary<Conditions>;
const arbStep = fc.oneof(
  fc.record({
    kind: fc.constant("enqueue" as const),
    jobs: fc.array(arbJob, { minLength: 1, maxLength: 6 }),
  }),
  fc.record({
    kind: fc.constant("claim" as const),
    worker: fc.constantFrom("a", "b", "c"),
    max: fc.integer({ min: 1, max: 6 }),
    conditions: arbConditions,
  }),
  fc.record({
    kind: fc.constant("finish" as const),
    worker: fc.constantFrom("a", "b", "c"),
    again: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(10, 250) }),
  fc.constant({ kind: "sweep" as const }),
);

const priorityOf = ({ priority = 0 }: { priority?: number | undefined }) => priority;
const costOf = ({ cost = 1 }: { cost?: number | undefined }) => cost;

function fits(job: Job, { labels = [], maxCost = Infinity }: Conditions, spent: number): boolean {
  const { labels: needs = [] } = job;
  return needs.every((label) => labels.includes(label)) && spent + costOf(job) <= maxCost;
}

/** Invariants of the jobs that a claim took, given the jobs that were pending before it. */
function check(
  taken: readonly ClaimedJob[],
  pending: readonly Job[],
  max: number,
  of: Conditions,
): void {
  expect(taken.length).toBeLessThanOrEqual(max);
  const left = new Map(pending.map((job) => [job._id as string, job]));
  let spent = 0;
  let least = 11;
  for (const { id } of taken) {
    const job = left.get(id)!;
    expect(job, "only what was pending").toBeDefined();
    expect(fits(job, of, spent), "only what it has the labels and the budget for").toBe(true);
    expect(priorityOf(job), "from the highest down").toBeLessThanOrEqual(least);
    for (const other of left.values()) {
      const passed = priorityOf(other) > priorityOf(job) && fits(other, of, spent);
      expect(passed, `${priorityOf(job)} before ${priorityOf(other)}`).toBe(false);
    }
    left.delete(id);
    spent += costOf(job);
    least = priorityOf(job);
  }
}

type Step = typeof arbStep extends fc.Arbitrary<infer S> ? S : never;

/** Plays the steps in a world of its own, checking every claim. */
async function play(shards: number, steps: readonly Step[]): Promise<void> {
  const world = await newWorld({ shards, leaseMs: 3_600_000 });
  const workers = new Map(["a", "b", "c"].map((name) => [name, world.worker(name)]));
  const held = new Map<string, ClaimedJob[]>([...workers.keys()].map((name) => [name, []]));
  for (const step of steps) {
    if (step.kind === "enqueue") {
      await world.enqueueJobs(step.jobs.map((options) => ({ payload: 1, options })));
    } else if (step.kind === "claim") {
      const pending = (await world.all("jobs")).filter(({ status }) => status === "pending");
      const taken = await workers.get(step.worker)!.claim(step.max, step.conditions);
      check(taken, pending, step.max, step.conditions);
      held.get(step.worker)!.push(...taken);
    } else if (step.kind === "finish") {
      const job = held.get(step.worker)!.shift();
      if (job === undefined) continue;
      await workers.get(step.worker)!.complete([step.again ? released(job) : succeeded(job)]);
    } else if (step.kind === "wait") {
      vi.advanceTimersByTime(step.ms);
    } else {
      await publishCursors(world);
    }
  }
  // A worker that may have every job gets every job, however long the other workers hesitated over it.
  vi.advanceTimersByTime(5_000);
  const last = world.worker("last");
  while ((await last.claim(64, { labels: ["eu", "gpu"] })).length > 0);
  expect((await world.all("jobs")).filter(({ status }) => status === "pending")).toEqual([]);
}

async function publishCursors(world: World): Promise<void> {
  const timers = await world.all("timers");
  if (!timers.some(({ kind }) => kind === "janitor")) return;
  await world.t.run(async (ctx) => {
    for (const row of await ctx.db.query("cursors").collect()) {
      await ctx.db.patch("cursors", row._id, { publishedAt: 0 });
    }
  });
  await world.sweep();
}

// Rules out P7.
describe("a claim takes nothing while something of higher priority waits that it may take", () => {
  // Shows SG-25, G4.
  test.each([1, 8])("with %i shards", { timeout: 20_000 }, async (shards) => {
    const steps = fc.array(arbStep, { minLength: 6, maxLength: 14, size: "max" });
    await fc.assert(
      fc.asyncProperty(steps, async (some) => await play(shards, some)),
      { numRuns: RUNS, seed: 7 * shards },
    );
  });
});
