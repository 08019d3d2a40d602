/** Uniqueness keys: enqueues that take one, and all calls that give one back. */
import type { Enqueued, Finished } from "../../../src/shared/index.js";
import { must } from "../../races/world.js";
import { LEASE_MS, type Line } from "../line.js";
import { UNVALIDATED, type Answers, type Mutant, type Pair } from "../pair.js";
import type { Call } from "../transactions.js";
import { Worker } from "../worker.js";

const KEY = { key: { value: "one" } };
const ACTIVE = new Set<unknown>(["scheduled", "pending", "running"]);

/** One job with the key is active at most, and the row names it. */
function checkKeys(line: Line): void {
  const active = line.rows("jobs").filter(({ key, status }) => key === "one" && ACTIVE.has(status));
  const rows = line.rows("keys");
  must(active.length <= 1, "two jobs with one key are active");
  const named = rows.map(({ job }) => job);
  must(JSON.stringify(named) === JSON.stringify(active.map(({ _id }) => _id)), "a key is left");
}

// Shows DE-04.
const takeAndTake: Pair = {
  of: "two enqueues with one key",
  orders: 6,
  async setUp(line) {
    await line.enqueue();
    return {
      calls: { one: line.enqueuesOne(KEY), two: line.enqueuesOne(KEY) },
      check(answers, line) {
        const all = ["one", "two"].map((name) => answers.of<Enqueued[]>(name)[0]!);
        must(all[0]!.id === all[1]!.id, "one key, two jobs");
        checkKeys(line);
      },
    };
  },
  mutants: [UNVALIDATED],
};

const LEFT: Mutant = {
  without: "freeing the key with the end of its job",
  changes: [{ in: "ending.ts:endJob", without: "freeKey" }],
  finds: /^a key is left/,
};

/** The names of the transaction that ends the job. */
const FREE = ["free", "tend/janitor:sweep"];

/** A way on which the key goes, and an enqueue that wants it at the same time. */
function takeAndFree(
  of: string,
  orders: number,
  free: (line: Line, id: string, worker: Worker) => Promise<Record<string, Call>>,
): Pair {
  return {
    of: `an enqueue with a key, and ${of} of the job that has it`,
    orders,
    async setUp(line) {
      line.declare(line.queue.name, { maxResets: 0 });
      const id = await line.enqueueOne(KEY);
      const calls = await free(line, id, new Worker(line, "worker"));
      return {
        calls: { take: line.enqueuesOne(KEY), ...calls },
        check(answers: Answers, line: Line) {
          const [{ isNew, id: got }] = answers.of<[Enqueued]>("take");
          must(isNew === (got !== id), "a job that is there is called new");
          must(
            isNew || !FREE.some((name) => answers.isBefore(name, "take")),
            "a key that was free was not taken",
          );
          checkKeys(line);
        },
      };
    },
    mutants: [LEFT],
  };
}

const completes =
  (outcome: Finished["outcome"]) => async (_: Line, __: string, worker: Worker) => ({
    free: worker.completes(await worker.claim(), { outcome }),
  });

export const KEYS: readonly Pair[] = [
  takeAndTake,
  takeAndFree("the success", 6, completes({ kind: "succeeded", result: 1 })),
  takeAndFree("the failure", 6, completes({ kind: "failed", error: "no" })),
  takeAndFree("the cancel", 6, (line, id) => Promise.resolve({ free: line.cancels(id) })),
  takeAndFree("the loss of the last lease", 6, async (line, _, worker) => {
    await line.do(worker.beats(await worker.claim()));
    await line.pass(LEASE_MS - 1_000);
    await line.untilSweep();
    return {};
  }),
  takeAndFree("the replacement", 6, (line, id) => Promise.resolve({ free: line.replaces(id) })),
];
