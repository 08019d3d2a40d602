/** Three transactions. They depend on the guards of the pairs among them; so these are played without mutants, at length. */
import type { Finished } from "../../../src/shared/index.js";
import { must } from "../../races/world.js";
import type { Pair } from "../pair.js";
import { endsUntold, tends, triesOwed, Worker, type ClaimReply } from "../worker.js";

const tendsAndSweep: Pair = {
  of: "two calls that tend, and the sweep that ends the same leases",
  orders: 1_440,
  async setUp(line) {
    const [id] = await line.enqueue();
    const silent = new Worker(line, "silent");
    await line.do(silent.beats(await silent.claim()));
    await line.untilSweep();
    return {
      calls: { a: tends(), b: tends() },
      check(_, line) {
        must(line.job(id!)["resets"] === 1, "a lost lease was not reset once");
      },
    };
  },
  mutants: [],
};

const claimAndEnqueues: Pair = {
  of: "a claim that passes its cursor, and two enqueues",
  orders: 180,
  async setUp(line) {
    await line.enqueue(2);
    const worker = new Worker(line, "worker");
    await worker.claim();
    return { calls: { claim: worker.claims(2), one: line.enqueues(), two: line.enqueues(2) } };
  },
  mutants: [],
};

const claimsAndCancel: Pair = {
  of: "two claims of the same job, and its cancel",
  orders: 360,
  async setUp(line) {
    const [id] = await line.enqueue();
    return {
      calls: {
        a: new Worker(line, "a").claims(),
        b: new Worker(line, "b").claims(),
        cancel: line.cancels(id!),
      },
      check(answers) {
        const { canceled } = answers.of<{ canceled: boolean }>("cancel");
        const taken = ["a", "b"].flatMap((name) => answers.of<ClaimReply>(name).jobs);
        must(taken.length === (canceled ? 0 : 1), "it was not handed out once, or canceled");
      },
    };
  },
  mutants: [],
};

/** The session's calls on two jobs, beside each other, while its leases end. */
const beatCompleteAndSweep: Pair = {
  of: "a beat, a completion, and the sweep that ends their session's leases",
  orders: 180,
  async setUp(line) {
    await line.enqueue(2);
    const worker = new Worker(line, "worker");
    const jobs = await worker.claim(2);
    await line.untilSweep();
    return { calls: { beat: worker.beats(jobs), complete: worker.completes(jobs.slice(0, 1)) } };
  },
  mutants: [],
};

const releaseClaimAndEnqueue: Pair = {
  of: "a release, an enqueue, and a claim that passes its cursor",
  orders: 180,
  async setUp(line) {
    await line.enqueue(2);
    const giver = new Worker(line, "giver");
    const jobs = await giver.claim();
    const outcome: Finished["outcome"] = { kind: "released" };
    return {
      calls: {
        release: giver.completes(jobs, { outcome }),
        enqueue: line.enqueues(),
        claim: new Worker(line, "taker").claims(2),
      },
    };
  },
  mutants: [],
};

const attemptsAndRetry: Pair = {
  of: "two tries of one callback, and a retry of its job",
  orders: 90,
  async setUp(line) {
    const { id } = await endsUntold(line);
    await line.app("mend");
    return {
      calls: { one: triesOwed(line), two: triesOwed(line), retry: line.retries(id) },
      check(_, line) {
        must(line.rows("told", "").length === 1, "it had not one callback");
      },
    };
  },
  mutants: [],
};

export const TRIPLES: readonly Pair[] = [
  tendsAndSweep,
  claimAndEnqueues,
  claimsAndCancel,
  beatCompleteAndSweep,
  releaseClaimAndEnqueue,
  attemptsAndRetry,
];
