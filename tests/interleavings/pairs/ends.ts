/** The steps after an outcome: the owed callback, and the retry. */
import { must } from "../../races/world.js";
import { mutation } from "../line.js";
import { UNVALIDATED, type Pair } from "../pair.js";
import { endsUntold, triesOwed, Worker } from "../worker.js";

const retryAndRetry: Pair = {
  of: "two retries of one job",
  orders: 6,
  async setUp(line) {
    const [id] = await line.enqueue();
    const worker = new Worker(line, "worker");
    await worker.complete(await worker.claim());
    return {
      calls: { one: line.retries(id!), two: line.retries(id!) },
      check(answers) {
        const all = ["one", "two"].map((name) => answers.of<{ retried: boolean }>(name));
        must(all.filter(({ retried }) => retried).length === 1, "both retried, or neither");
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

const retryAndClaim: Pair = {
  of: "a retry, and a claim that goes on from its cursor",
  orders: 12,
  async setUp(line) {
    const [id] = await line.enqueue();
    const worker = new Worker(line, "worker");
    await worker.complete(await worker.claim());
    await worker.claim();
    return { calls: { retry: line.retries(id!), claim: worker.claims() } };
  },
  mutants: [
    {
      without: "a new seq for a job that comes back",
      changes: [
        {
          in: "transitions.ts:move",
          value: "seq",
          is: `edge === "retry" ? job.seq : db.vars.commitTs`,
        },
      ],
      finds: /^a pending job below a returned cursor|a pending job is stuck/,
    },
  ],
};

// Rules out D9, P10.
/** Two plans of one try, and the try that the first of them starts. */
const planAndAttempt: Pair = {
  of: "two plans of one try of a callback, and the try",
  orders: 36,
  async setUp(line) {
    await endsUntold(line);
    await line.app("mend");
    const [owed] = line.rows("callbacks");
    const plan = () => mutation("edges/callbacks:planCallback", { id: owed!._id, tries: 0 });
    return {
      calls: { one: plan(), two: plan() },
      check(_, line) {
        must(line.rows("callbacks").length === 0, "the try has left its row");
        must(line.rows("told", "").length === 1, "it had not one callback");
      },
    };
  },
  mutants: [
    {
      without: "the end of the debt in the transaction that delivers it",
      changes: [{ in: "callbacks.ts:tryCallback", without: "db.delete" }],
      finds: /^run, and owed as well/,
    },
    UNVALIDATED,
  ],
};

/** The owed result must outlast the job's retry, and be delivered once. */
const attemptAndRetry: Pair = {
  of: "the try of a callback, and a retry of its job",
  orders: 6,
  async setUp(line) {
    const { id } = await endsUntold(line, LARGE);
    await line.app("mend");
    await line.pass(10);
    const attempt = triesOwed(line);
    return {
      calls: { attempt, retry: line.retries(id) },
      check(_, line) {
        const told = line.rows("told", "");
        must(told.length === 1, "it had not one callback");
        must(told[0]!["result"] === LARGE.result, "another result was delivered");
        must(line.rows("payloads").length === 0, "a result without a job remains");
      },
    };
  },
  mutants: [
    {
      without: "the check for a callback that still needs the old result",
      changes: [{ in: "retry.ts:retryJob", call: "isResultOwed", gives: "false" }],
      finds: /^another result was delivered/,
    },
    {
      without: "discarding the delivered result that no row needs any more",
      changes: [{ in: "callbacks.ts:discardForgotten", without: "discard" }],
      finds: /^a result without a job/,
    },
  ],
};

/** Its first end is owed, and it ends again: the later end queues behind the earlier one, or finds that it has been delivered. */
const attemptAndLaterEnd: Pair = {
  of: "the try of a callback, and a later end of its job",
  orders: 6,
  async setUp(line) {
    const { id, worker } = await endsUntold(line);
    await line.do(line.retries(id));
    const again = await worker.claim();
    await line.app("mend");
    await line.pass(10);
    const attempt = triesOwed(line);
    return {
      calls: { attempt, complete: worker.completes(again) },
      check(_, line) {
        must(line.rows("callbacks").length === 0, "an end is owed, without a try");
        must(line.rows("told", "").length === 2, "an end had no callback");
      },
    };
  },
  mutants: [
    {
      without: "the real read of the end that is owed",
      changes: [{ in: "callbacks.ts:lastOwed", condition: "again", is: "again !== false" }],
      finds: /^a callback ran before/,
    },
    {
      without: "the plan of the end that comes behind",
      changes: [{ in: "callbacks.ts:tryCallback", without: "startNext" }],
      finds: /^an end is owed/,
    },
    UNVALIDATED,
  ],
};

/** A callback becomes owed, while the sweep that would notice if its plan died finds nothing to do. */
const oweAndDisarm: Pair = {
  of: "a callback that becomes owed, and the sweep that disarms",
  orders: 12,
  async setUp(line) {
    const [, second] = await line.enqueue(2);
    const worker = new Worker(line, "worker");
    await worker.complete(await worker.claim());
    await line.app("fail");
    await line.untilSweep();
    return {
      calls: { cancel: line.cancels(second!) },
      check(_, line) {
        const sweeps = line.rows("timers").filter(({ kind }) => kind === "janitor");
        const owed = line.rows("callbacks").length;
        must(owed === 0 || sweeps.length > 0, "owed, and no sweep would notice if its plan died");
      },
      restore: (line) => line.app("mend"),
    };
  },
  mutants: [
    {
      without: "the real read of owed callbacks before a sweep goes",
      changes: [{ in: "janitor.ts:nextSweepAt", call: "nextDebtAt", gives: "null" }],
      finds: /^owed, and no sweep/,
    },
    {
      without: "the real read of the timer on which an owed callback relies",
      changes: [{ in: "callbacks.ts:tell", without: "ensureSweep" }],
      finds: /^owed, and no sweep/,
    },
    UNVALIDATED,
  ],
};

/** Too large for the job's own row. */
const LARGE = { kind: "succeeded" as const, result: "x".repeat(600) };

export const ENDS: readonly Pair[] = [
  retryAndRetry,
  retryAndClaim,
  planAndAttempt,
  attemptAndRetry,
  attemptAndLaterEnd,
  oweAndDisarm,
];
