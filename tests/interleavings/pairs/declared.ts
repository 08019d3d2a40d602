/** Declarations of queues: by first calls, and by two versions of the app's code. */
import { must } from "../../races/world.js";
import { checkLanesRest, HANDLER } from "../lane.js";
import { LEASE_MS, mutation, type Line } from "../line.js";
import { UNVALIDATED, type Pair } from "../pair.js";
import type { Call } from "../transactions.js";

/** By the app's wrapper: where the queue is undeclared it is declared, and the call repeated, in one transaction. */
function enqueuesFirst(line: Line): Call {
  return { ...mutation("app:enqueuesFirst", { queue: line.queue }), namespace: "" };
}

const firstCalls: Pair = {
  of: "two first enqueues of a queue, by versions that declare it differently",
  orders: 6,
  async setUp(line) {
    await line.do(mutation("operate:createToken", { name: "unused", queues: null }));
    const one = enqueuesFirst(line);
    line.declare(line.queue.name, { leaseMs: 2 * LEASE_MS });
    return {
      calls: { one, other: enqueuesFirst(line) },
      check(answers, line) {
        const [queue, ...more] = line.rows("queues");
        must(more.length === 0, "a queue has two rows");
        must(line.rows("jobs").length === 2, "a first job was lost");
        const { leaseMs } = queue!["config"] as { leaseMs: number };
        const isOthers = answers.isBefore("other", "one");
        must(
          leaseMs === (isOthers ? 2 : 1) * LEASE_MS,
          "a row that was just written was rewritten",
        );
      },
    };
  },
  mutants: [
    UNVALIDATED,
    {
      without: "a while for which a row stands that has just been written",
      changes: [{ in: "queues.ts:findDeclared", condition: "isSettled", is: true }],
      finds: /^a row that was just written/,
    },
  ],
};

/** An older version's enqueue sees a queue without lanes, and ensures no wake. */
const openingAndEnqueue: Pair = {
  of: "a declaration that has Convex run a queue's jobs, and an enqueue by the version before",
  orders: 246,
  async setUp(line) {
    await line.enqueue();
    await line.pass(60_000);
    const enqueue = line.enqueues();
    const opened = line.declare(line.queue.name, { push: true, handler: HANDLER });
    return {
      calls: { enqueue, declare: mutation("lib:declare", { queues: [opened] }) },
      refusals: { enqueue: /have not been declared/ },
      rest: checkLanesRest,
    };
  },
  mutants: [
    {
      without: "the wake of a declaration that allows more",
      changes: [{ in: "queues.ts:declareQueue", condition: "mayNeedWake", is: false }],
      finds: /^a job is pending, and no lane scans/,
    },
    UNVALIDATED,
  ],
};

export const DECLARED: readonly Pair[] = [firstCalls, openingAndEnqueue];
