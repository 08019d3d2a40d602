/** Wakes of jobs that are left to workers outside: a claim calls off the one of the job that it takes. */
import type { Finished } from "../../../src/shared/index.js";
import { must } from "../../races/world.js";
import { HANDLER, checkLanesRest } from "../lane.js";
import type { Line } from "../line.js";
import { UNVALIDATED, type Mutant, type Pair } from "../pair.js";
import { Worker, type ClaimReply } from "../worker.js";

const LEFT_MS = 1_000;
const NO_LOOK = /^a job is pending, and no lane scans/;

/** A queue that leaves its jobs to workers for a second, and a worker that is there. */
async function shared(line: Line): Promise<Worker> {
  const of = { push: true, handler: HANDLER, maxParallelism: 4, fallbackAfterMs: LEFT_MS };
  line.declare(line.queue.name, of);
  const worker = new Worker(line, "worker");
  await worker.claim();
  return worker;
}

/** Until just when the wake is due, and before it runs. */
async function untilWake(line: Line): Promise<void> {
  await line.pass(LEFT_MS - 1);
  line.transactions.now += 1;
}

/** The worker ends its job so, and falls silent: lanes begin and end every other. */
const ends =
  (worker: Worker, outcome: Finished["outcome"]) =>
  async (line: Line): Promise<void> => {
    const held = line
      .rows("jobs")
      .filter((job) => job.status === "running" && job["worker"] === worker.name)
      .map(({ _id, attempt }) => ({ id: _id, attempt: attempt as number }));
    if (held.length > 0) await line.do(worker.completes(held, { outcome }));
    await checkLanesRest(line);
  };

const SNOOZED = { kind: "snoozed", runAfter: 0 } as const;
const SUCCEEDED = { kind: "succeeded", result: 1 } as const;

const pendingWakes = (line: Line) =>
  line
    .rows("_scheduled_functions")
    .filter(({ name }) => /^push\/wake\b/.test(name as string))
    .filter(({ state }) => (state as { kind: string }).kind === "pending");

const NO_WAKE_BACK: Mutant = {
  without: "the wake of a job that is given back",
  changes: [{ in: "pendingPlace.ts:pendingPlace", without: "ofJobs.push" }],
  finds: NO_LOOK,
};

const claimAndWake: Pair = {
  of: "a claim that calls off the wake of its job, and that wake",
  orders: 23,
  async setUp(line) {
    const worker = await shared(line);
    const [id] = await line.enqueue();
    await untilWake(line);
    return {
      calls: { claim: worker.claims() },
      check(answers, line) {
        const isWorkers = answers.of<ClaimReply>("claim").jobs.length === 1;
        const { status, worker: by } = line.job(id!);
        must(status === "running", "neither has begun it");
        must((by === worker.name) === isWorkers, "both have begun it");
      },
      rest: ends(worker, SNOOZED),
    };
  },
  mutants: [UNVALIDATED, NO_WAKE_BACK],
};

const claimAndEnqueue: Pair = {
  of: "a claim that calls off the wake of its job, and an enqueue into the same place",
  orders: 24,
  async setUp(line) {
    const worker = await shared(line);
    await line.enqueue();
    return {
      calls: { claim: worker.claims(), enqueue: line.enqueues() },
      check(_answers, line) {
        const waiting = line.rows("jobs").filter(({ status }) => status === "pending");
        must(pendingWakes(line).length === waiting.length, "a job waits without a wake of its own");
      },
      rest: ends(worker, SUCCEEDED),
    };
  },
  mutants: [
    {
      without: "relying on no wake but that of another job of the same commit",
      changes: [
        {
          in: "wakes.ts:sharedWake",
          call: "comes",
          gives: `(await ctx.db.query("jobs").withIndex("status", (q) => q.eq("queue", queue.name).eq("status", "pending").eq("order", here.order).eq("shard", here.shard)).take(COME_SEEN)).some(isSame)`,
        },
      ],
      finds: /^a job waits without a wake/,
    },
  ],
};

const claimAndShared: Pair = {
  of: "a claim of one of two jobs that share a wake, and that wake",
  orders: 24,
  async setUp(line) {
    const worker = await shared(line);
    await line.app("enqueuesTwice", { queue: line.queue });
    must(pendingWakes(line).length === 1, "the two do not share a wake");
    await untilWake(line);
    return { calls: { claim: worker.claims() }, rest: ends(worker, SUCCEEDED) };
  },
  mutants: [
    {
      without: "leaving a wake on which another job of the same commit relies",
      changes: [{ in: "wakes.ts:callOffWake", condition: "hasCome", is: false }],
      finds: NO_LOOK,
    },
    {
      without: "the wake that follows one of a deleted job",
      changes: [{ in: "wake.ts:wakeOne", condition: "isGone", is: false }],
      finds: NO_LOOK,
    },
  ],
};

export const WAKES: readonly Pair[] = [claimAndWake, claimAndEnqueue, claimAndShared];
