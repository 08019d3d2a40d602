/** Operators' changes to a queue, or to one of its jobs, while it is processed. */
import type { QueueOverrides } from "../../../src/shared/index.js";
import { must } from "../../races/world.js";
import { LEASE_MS, mutation, type Line } from "../line.js";
import { UNVALIDATED, type Pair } from "../pair.js";
import type { Call } from "../transactions.js";
import { Worker, type ClaimReply, type CompleteReply } from "../worker.js";

function operates(line: Line, what: string, args: object = {}): Call {
  return mutation(`operate:${what}`, { queue: line.queue.name, ...args });
}

/** Two commits: the older snapshot shows the job of the first. */
async function enqueuesTwice(line: Line): Promise<string[]> {
  return [...(await line.enqueue()), ...(await line.enqueue())];
}

const resumes = (line: Line) => line.do(operates(line, "resumeQueue"));

const pauseAndClaim: Pair = {
  of: "a pause of a queue, and a claim",
  orders: 7,
  async setUp(line) {
    await enqueuesTwice(line);
    return {
      calls: { claim: new Worker(line, "worker").claims(), pause: operates(line, "pauseQueue") },
      check(answers) {
        const { jobs } = answers.of<ClaimReply>("claim");
        const isLate = answers.isBefore("pause", "claim");
        must(jobs.length === (isLate ? 0 : 1), "a paused queue was claimed from");
      },
      restore: resumes,
    };
  },
  mutants: [
    {
      without: "leaving out queues that are paused",
      changes: [
        { in: "claim.ts:takeJobs", call: "declared.filter", gives: "declared" },
        { in: "mayTake.ts:mayTake", condition: "isPaused", is: false },
      ],
      finds: /^a paused queue/,
    },
    UNVALIDATED,
  ],
};

// Rules out D16.
/** Subscriptions of idle workers show that a paused queue has nothing, and must show the pause's end. */
const resumeAndEnqueue: Pair = {
  of: "the end of a pause, an enqueue, and an idle worker's subscription",
  orders: 90,
  async setUp(line) {
    await line.enqueue();
    await line.do(operates(line, "pauseQueue"));
    must(!(await line.do<boolean>(line.asks())), "a worker is sent to a paused queue");
    return {
      calls: {
        resume: operates(line, "resumeQueue"),
        enqueue: line.enqueues(),
        watch: line.asks(),
      },
    };
  },
  mutants: [
    {
      without: "reading in hasWork whether the queue is paused",
      changes: [{ in: "claimablePlaces.ts:waitingRoom", condition: "isPaused", is: false }],
      finds: /^a worker is sent to a paused queue/,
    },
  ],
};

const drainAndEnqueue: Pair = {
  of: "a drain of a queue, and an enqueue",
  orders: 6,
  async setUp(line) {
    await line.enqueue();
    return {
      calls: { enqueue: line.enqueues(), drain: operates(line, "drainQueue") },
      refusals: { enqueue: /is being drained/ },
      check(answers, line) {
        const isLate = answers.isBefore("drain", "enqueue");
        must(line.rows("jobs").length === (isLate ? 1 : 2), "a drained queue has taken a job");
      },
      restore: resumes,
    };
  },
  mutants: [
    {
      without: "refusing jobs of a queue that drains",
      changes: [{ in: "enqueue.ts:enqueueJobs", condition: "isDraining", is: false }],
      finds: /^a drained queue/,
    },
    UNVALIDATED,
  ],
};

const OVERRIDES: QueueOverrides = { leaseMs: 2 * LEASE_MS };

const configureAndClaim: Pair = {
  of: "a change of a queue's configuration, and a claim",
  orders: 7,
  async setUp(line) {
    await enqueuesTwice(line);
    return {
      calls: {
        claim: new Worker(line, "worker").claims(),
        configure: operates(line, "configureQueue", { overrides: OVERRIDES }),
      },
      check(answers) {
        const [job] = answers.of<ClaimReply>("claim").jobs;
        const isLate = answers.isBefore("configure", "claim");
        must(job?.leaseMs === (isLate ? OVERRIDES.leaseMs : LEASE_MS), "an old lease was given");
      },
    };
  },
  mutants: [
    {
      without: "an override winning over the declaration",
      changes: [{ in: "queues.ts:inForce", from: ", ...overrides", to: "" }],
      finds: /^an old lease/,
    },
    UNVALIDATED,
  ],
};

/** Too large for the job's own row. */
const LARGE = { kind: "succeeded" as const, result: "x".repeat(600) };

const deleteAndComplete: Pair = {
  of: "the deletion of a running job, and its completion",
  orders: 6,
  async setUp(line) {
    const [id] = await line.enqueue();
    const worker = new Worker(line, "worker");
    const jobs = await worker.claim();
    return {
      calls: {
        complete: worker.completes(jobs, { outcome: LARGE }),
        delete: mutation("operate:deleteJob", { id }),
      },
      check(answers, line) {
        must(answers.of<{ deleted: boolean }>("delete").deleted, "it was not deleted");
        const { answer } = answers.of<CompleteReply>("complete").answers[0]!;
        const isLate = answers.isBefore("delete", "complete");
        must(answer === (isLate ? "leaseLost" : "ok"), "an outcome of a deleted job was recorded");
        must(line.rows("jobs").length === 0, "a deleted job is there");
        must(line.rows("payloads").length === 0, "a result without a job remains");
        must(line.rows("cancels").length === 0, "a deleted job is still asked to end");
      },
    };
  },
  mutants: [
    {
      without: "forgetting the request to the worker of a deleted job",
      changes: [{ in: "recording.ts:recordAll", without: "forgetAsked" }],
      finds: /^a deleted job is still asked/,
    },
    UNVALIDATED,
  ],
};

const bulkCancelAndClaim: Pair = {
  of: "a cancel of many jobs, and a claim of one of them",
  orders: 192,
  async setUp(line) {
    const id = await line.enqueueOne({ name: "one" });
    await line.enqueue();
    const filter = { statuses: ["pending", "running"], name: "one" };
    return {
      calls: {
        claim: new Worker(line, "worker").claims(),
        cancel: operates(line, "cancelMany", { filter, goOn: false }),
      },
      check(answers, line) {
        const isHeld = answers.of<ClaimReply>("claim").jobs.some((job) => job.id === id);
        must(!isHeld || !answers.isBefore("cancel", "claim"), "a canceled job was handed out");
        const { status, cancelRequestedAt } = line.job(id);
        must((status === "canceled") === !isHeld, "a job was passed over");
        must(!isHeld || cancelRequestedAt !== undefined, "a job that runs is not asked to end");
        must(line.rows("cancels").length === (isHeld ? 1 : 0), "its worker was not asked");
      },
    };
  },
  mutants: [UNVALIDATED],
};

export const OPERATED: readonly Pair[] = [
  pauseAndClaim,
  resumeAndEnqueue,
  drainAndEnqueue,
  configureAndClaim,
  deleteAndComplete,
  bulkCancelAndClaim,
];
