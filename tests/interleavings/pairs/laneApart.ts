/** Jobs of lanes that end in transactions of their own, beside the calls of their lanes. */
import type { Answer, Finished, LaneReply } from "../../../src/shared/index.js";
import { must } from "../../races/world.js";
import { HANDLER, awakeLane, checkLanesRest, steps } from "../lane.js";
import { mutation, type Line } from "../line.js";
import { UNVALIDATED, type Pair } from "../pair.js";
import type { Call } from "../transactions.js";

/** A lane has a job, and another waits for its room. */
async function held(line: Line) {
  line.declare(line.queue.name, { push: true, handler: HANDLER, maxParallelism: 1 });
  const [first] = await line.enqueue();
  await line.pass(0);
  const lane = awakeLane(line);
  await line.enqueue();
  await line.pass(0);
  const { args } = steps(line, lane) as Call & { args: { finished: Finished[] } };
  const [finished] = args.finished;
  const { id, attempt } = finished!;
  const over = [{ id, attempt }];
  return {
    first: first!,
    apart: mutation("push/laneApart:runApart", { id, attempt, finished }),
    says: (call: Call): Call => ({ ...call, args: { ...call.args, over } }),
    lane,
  };
}

function checkOnce(line: Line, first: string): void {
  const { status, attempt } = line.job(first);
  must(status === "succeeded" && attempt === 1, `the first job is ${String(status)}`);
}

/** This cannot happen; if it did, the job would be lost. */
const saidEarly: Pair = {
  of: "an outcome that goes apart, and a call of its lane that says too early that it is over",
  orders: 7,
  async setUp(line) {
    const { first, apart, says, lane } = await held(line);
    return {
      calls: { apart, step: says(steps(line, lane, { ends: 0 })) },
      check(answers, after) {
        must(answers.of<Answer>("apart").answer === "ok", "the outcome does not stand");
        const { jobs } = answers.of<LaneReply>("step");
        must(jobs.length === 0 || answers.isBefore("apart", "step"), "more run than may");
        checkOnce(after, first);
      },
      rest: checkLanesRest,
    };
  },
  mutants: [
    {
      without: "the real read of a job that is said to be over",
      changes: [{ in: "undelivered.ts:dropOver", condition: `"running" attempt`, is: false }],
      finds: /^running, in no lease/,
    },
  ],
};

const saidTwice: Pair = {
  of: "an outcome that goes apart twice, since it seemed to be refused",
  orders: 6,
  async setUp(line) {
    const { first, apart } = await held(line);
    return {
      calls: { apart, again: apart },
      check(answers, after) {
        const said = ["apart", "again"].map((name) => answers.of<Answer>(name).answer).sort();
        must(said.join() === "ok,recorded", `it was answered ${said.join()}`);
        checkOnce(after, first);
      },
      rest: checkLanesRest,
    };
  },
  mutants: [UNVALIDATED],
};

export const LANE_APART: readonly Pair[] = [saidEarly, saidTwice];
