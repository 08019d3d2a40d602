/** The ring of the alarm at a job's deadline, and other changes to the job at that time. */
import { must } from "../../races/world.js";
import type { Line } from "../line.js";
import { UNVALIDATED, withSkew, type Pair } from "../pair.js";
import { Worker, type ClaimReply, type CompleteReply } from "../worker.js";

/** A deadline just before its second ends, so that its alarm comes before the sweep of an attempt that runs. */
function nearEnd(now: number): number {
  return 1_990 - (now % 1_000);
}

/** Until just when the alarm at the deadline is due, and before it rings. */
async function untilDeadline(line: Line): Promise<void> {
  const [alarm] = line.rows("timers").filter(({ kind }) => kind === "expiry");
  must(alarm !== undefined, "no alarm is armed");
  await line.pass((alarm!["dueAt"] as number) - 1 - line.now);
  line.transactions.now += 1;
}

/** By a clock that is behind, there is time left. */
const claimAndDeadline: Pair = withSkew(
  {
    of: "a claim of a job, and the ring of the alarm at its deadline",
    orders: 152,
    async setUp(line) {
      const id = await line.enqueueOne({ deadlineMs: nearEnd(line.now) });
      await untilDeadline(line);
      return {
        calls: { claim: new Worker(line, "worker").claims() },
        check(answers, line) {
          const { jobs } = answers.of<ClaimReply>("claim");
          const { status } = line.job(id);
          must(status === (jobs.length > 0 ? "running" : "timedOut"), "handed out, and timed out");
        },
      };
    },
    mutants: [UNVALIDATED],
  },
  -2_000,
);

const completeAndDeadline: Pair = {
  of: "the completion of a job, and the ring of the alarm at its deadline",
  orders: 12,
  async setUp(line) {
    const id = await line.enqueueOne({ deadlineMs: nearEnd(line.now) });
    const worker = new Worker(line, "worker");
    const jobs = await worker.claim();
    await untilDeadline(line);
    return {
      calls: { complete: worker.completes(jobs) },
      check(answers, line) {
        const { answer } = answers.of<CompleteReply>("complete").answers[0]!;
        const { status } = line.job(id);
        must(status === (answer === "ok" ? "succeeded" : "timedOut"), "an outcome was undone");
      },
    };
  },
  mutants: [],
};

/** By a clock that is behind, there is time left for another attempt. */
const releaseAndDeadline: Pair = withSkew(
  {
    of: "a worker that gives a job back, and the ring of the alarm at its deadline",
    orders: 12,
    async setUp(line) {
      const id = await line.enqueueOne({ deadlineMs: nearEnd(line.now) });
      const worker = new Worker(line, "worker");
      const jobs = await worker.claim();
      await untilDeadline(line);
      return {
        calls: { release: worker.completes(jobs, { outcome: { kind: "released" } }) },
        async rest(line) {
          await line.pass(3_000);
          must(line.job(id)["status"] === "timedOut", "it waits behind its deadline, for no alarm");
        },
      };
    },
    mutants: [
      {
        without: "writing the row of a job that runs when the alarm at its deadline comes",
        changes: [{ in: "startDeadlines.ts:expireOne", without: "passDeadline" }],
        finds: /^it waits behind its deadline, for no alarm/,
      },
    ],
  },
  -2_000,
);

const cancelAndDeadline: Pair = {
  of: "a cancel of a job, and the ring of the alarm at its deadline",
  orders: 96,
  async setUp(line) {
    const id = await line.enqueueOne({ deadlineMs: nearEnd(line.now) });
    await untilDeadline(line);
    return {
      calls: { cancel: line.cancels(id) },
      check(answers, line) {
        const { canceled } = answers.of<{ canceled: boolean }>("cancel");
        must(line.job(id)["status"] === (canceled ? "canceled" : "timedOut"), "it ended twice");
      },
    };
  },
  mutants: [UNVALIDATED],
};

const retryAndDeadline: Pair = {
  of: "a retry by hand of a job, and the ring of the alarm at its first deadline",
  orders: 24,
  async setUp(line) {
    const id = await line.enqueueOne({ deadlineMs: nearEnd(line.now) });
    const worker = new Worker(line, "worker");
    await worker.complete(await worker.claim());
    await untilDeadline(line);
    return {
      calls: { retry: line.retries(id) },
      check(answers, line) {
        must(answers.of<{ retried: boolean }>("retry").retried, "it was not retried");
        const { status, deadline } = line.job(id);
        must(status === "pending", "it ended at the deadline that it had before");
        must((deadline as { at: number }).at > line.now, "its deadline was not begun anew");
      },
      async rest(line) {
        const jobs = await new Worker(line, "late").claim();
        must(jobs.length === 1, "a job that was retried in time is not there");
      },
    };
  },
  mutants: [],
};

/** The preferred worker and the alarm come for a job at the same time. */
const claimAndPreference: Pair = {
  of: "a claim by the worker that a job prefers, and the ring of the alarm at the end of its preference",
  orders: 24,
  async setUp(line) {
    const prefer = { worker: "worker", forMs: nearEnd(line.now) };
    const id = await line.enqueueOne({ prefer });
    await untilDeadline(line);
    return {
      calls: { claim: new Worker(line, "worker").claims() },
      check(answers, line) {
        const { jobs } = answers.of<ClaimReply>("claim");
        const { status, prefer } = line.job(id);
        must(status === (jobs.length > 0 ? "running" : "pending"), "handed out, and waits");
        must(prefer === undefined, "its preference outlives the alarm");
      },
      async rest(line) {
        if (line.job(id)["status"] !== "pending") return;
        const jobs = await new Worker(line, "other").claim();
        must(jobs.length === 1, "it waits for its worker for ever");
      },
    };
  },
  mutants: [
    {
      without: "ending the preference of a job that waits when its time is over",
      changes: [{ in: "startDeadlines.ts:expireOne", without: "endPreference" }],
      finds: /^its preference outlives the alarm/,
    },
  ],
};

export const DEADLINES: readonly Pair[] = [
  claimAndDeadline,
  completeAndDeadline,
  releaseAndDeadline,
  cancelAndDeadline,
  retryAndDeadline,
  claimAndPreference,
];
