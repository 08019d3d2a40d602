/** Attempts that have ended, or run too long, and the further course of their jobs. */
import { must } from "../../races/world.js";
import { UNVALIDATED, type Pair } from "../pair.js";
import { Worker, type CompleteReply } from "../worker.js";

const RETRY = { maxAttempts: 3, initialBackoffMs: 1_000, base: 2, maxBackoffMs: 10_000 };
const FAILED = { kind: "failed" as const, error: "boom", retryAfterMs: 1_000 };
const TIMEOUT_MS = 4_000;

/** Its backoff is over, so that it is about to become pending as well. */
const retryAndCancel: Pair = {
  of: "a cancel and a retry of a job that backs off, and the ring of its alarm",
  orders: 114,
  async setUp(line) {
    line.declare(line.queue.name, { retry: RETRY });
    const [id] = await line.enqueue();
    const worker = new Worker(line, "worker");
    await line.do(worker.completes(await worker.claim(), { outcome: FAILED }));
    const [alarm] = line.rows("timers").filter(({ kind }) => kind === "dispatcher");
    await line.pass((alarm!["dueAt"] as number) - 1 - line.now);
    line.transactions.now += 1;
    return {
      calls: { cancel: line.cancels(id!), retry: line.retries(id!) },
      check(answers, line) {
        const { canceled } = answers.of<{ canceled: boolean }>("cancel");
        const { retried } = answers.of<{ retried: boolean }>("retry");
        must(canceled, "a waiting job could not be canceled");
        must(!retried || answers.isBefore("cancel", "retry"), "an active job was retried");
        const { status, failures = 0 } = line.job(id!);
        must(status === (retried ? "pending" : "canceled"), "a canceled job came back");
        must(failures === (retried ? 0 : 1), "a retried job counts failures before the retry");
      },
    };
  },
  mutants: [
    {
      without: "the check whether the job is finished",
      changes: [{ in: "retry.ts:retryJob", condition: "isFinished", is: false }],
      finds: /is refused: .*cannot retry/,
    },
    UNVALIDATED,
  ],
};

/** The session has another job, with an attempt that may go on. */
const timeoutAndComplete: Pair = {
  of: "the sweep that ends an attempt which ran too long, and its completion",
  orders: 54,
  async setUp(line) {
    const long = await line.enqueueOne({ rules: { timeoutMs: TIMEOUT_MS } });
    const [other] = await line.enqueue();
    const worker = new Worker(line, "worker");
    const jobs = await worker.claim(2);
    await line.untilSweep();
    return {
      calls: { complete: worker.completes(jobs.filter(({ id }) => id === long)) },
      check(answers, line) {
        const { answer } = answers.of<CompleteReply>("complete").answers[0]!;
        must(answer === "ok" || answer === "leaseLost", "the attempt was ended by both");
        const { status } = line.job(long);
        must(status === (answer === "ok" ? "succeeded" : "timedOut"), "an outcome was undone");
        must(line.job(other!).status === "running", "a lease was ended that stands");
      },
    };
  },
  mutants: [
    {
      without: "the second check whether the session has expired",
      changes: [
        { in: "lostLeases.ts:expireSession", condition: "expiresAt", is: false },
        { in: "lostLeases.ts:isGone", returns: "true" },
      ],
      finds: /^a lease was ended that stands/,
    },
    {
      without: "the leases that a session keeps when another of its attempts ran too long",
      changes: [
        {
          in: "lostLeases.ts:expireSession",
          from: "if (isLost) await bury",
          to: "if (true) await bury",
        },
      ],
      finds: /^running, in no lease/,
    },
    UNVALIDATED,
  ],
};

export const AGAIN: readonly Pair[] = [retryAndCancel, timeoutAndComplete];
