/** Places of processes: all together never have more than the class, whichever transactions give some and take some back. */
import {
  PLACES_BY_CLASS,
  type LaneReply,
  type QueueDeclaration,
} from "../../../src/shared/index.js";
import { must } from "../../races/world.js";
import {
  HANDLER,
  awakeLane,
  checkLanesRest,
  loses,
  named,
  placesOf,
  processesOf,
  processOf,
  steps,
  type LaneRow,
  type ProcessRow,
} from "../lane.js";
import { mutation, type Line } from "../line.js";
import { UNVALIDATED, type Mutant, type Pair } from "../pair.js";
import { seenAs, showsAs } from "../staleReads.js";
import type { Call } from "../transactions.js";

type Config = Partial<QueueDeclaration["config"]>;

function push(line: Line, name: string, config: Config = {}): QueueDeclaration {
  return line.declare(name, { push: true, handler: HANDLER, maxParallelism: 4, ...config });
}

/** A lane with as many jobs, in a process of its own. */
async function started(
  line: Line,
  queue: QueueDeclaration,
  jobs = 1,
): Promise<{ lane: LaneRow; process: ProcessRow }> {
  await line.do(line.enqueues(jobs, queue));
  await line.pass(0);
  const lane = awakeLane(line, queue);
  return { lane, process: processOf(line, lane)! };
}

/** A process asks for so many places. */
function asks(process: ProcessRow, any: number): Call {
  return mutation("push/mainLoop:askForPlaces", { ...named(process), any, few: 0 });
}

const rest = (line: Line) => checkLanesRest(line);

/** More than half of the smallest class's places, so that two processes cannot have as many. */
const MANY = 40;

/** Places that were given, as a snapshot shows them. */
const STALE_GRANTS: Mutant = {
  without: "the real read of all processes' places",
  changes: [
    { in: "grants.ts:givePlaces", call: "allGrants", gives: seenAs("grants") },
    { in: "grants.ts", adds: `import { internal } from "../_generated/api.js";` },
    showsAs("grants", "await ctx.db.query('grants').collect()"),
  ],
  finds: /^processes have more places than the class/,
};
const BLIND_START: Mutant = {
  without: "the read of all processes' places, by a wake that starts one with many jobs",
  changes: [{ in: "grants.ts:placesFor", call: "allGrants", gives: "[]" }],
  finds: /^processes have more places than the class/,
};

const twoAsk: Pair = {
  of: "two processes that ask for places",
  orders: 6,
  async setUp(line) {
    const one = await started(line, push(line, line.queue.name));
    const two = await started(line, push(line, "other"));
    return {
      calls: { one: asks(one.process, MANY), two: asks(two.process, MANY) },
      check(answers) {
        const given = ["one", "two"].map((name) => answers.of<number>(name));
        must(Math.max(...given) === MANY, "neither has been given all free places");
      },
      rest,
    };
  },
  mutants: [STALE_GRANTS, UNVALIDATED],
};

const askAndClose: Pair = {
  of: "a process that asks for places, and the last lane of it, which leaves",
  orders: 12,
  async setUp(line) {
    const { lane, process } = await started(line, push(line, line.queue.name));
    return { calls: { ask: asks(process, MANY), step: steps(line, lane) }, rest };
  },
  mutants: [
    {
      without: "the check whether a process that asks for places still runs",
      changes: [{ in: "grants.ts:givePlaces", condition: `"free"`, is: false }],
      finds: /^a process that has ended has places/,
    },
    UNVALIDATED,
  ],
};

/** A process runs one job, and a wake has many. */
async function wideWake(line: Line): Promise<{ lane: LaneRow; process: ProcessRow }> {
  const of = await started(line, push(line, line.queue.name));
  const wide = push(line, "wide", { maxParallelism: WIDE });
  await line.do(line.enqueues(WIDE, wide));
  return of;
}
const WIDE = 30;

const askAndWideStart: Pair = {
  of: "a process that asks for places, and a wake that starts another with many jobs",
  orders: 51,
  async setUp(line) {
    const { process } = await wideWake(line);
    return { calls: { ask: asks(process, MANY) }, rest };
  },
  mutants: [STALE_GRANTS, BLIND_START, UNVALIDATED],
};

const giveBackAndWideStart: Pair = {
  of: "a lane's call that gives places back, and a wake that starts another process with many jobs",
  orders: 88,
  async setUp(line) {
    const { lane, process } = await wideWake(line);
    await line.do(asks(process, MANY));
    return {
      calls: { step: steps(line, lane, { ends: 0, in: { givenBack: WIDE } }) },
      check(answers, after) {
        must(!answers.of<LaneReply>("step").isOver, "the lane is over");
        must(placesOf(after, process) === 1 + MANY - WIDE, "it has not given them back");
      },
      rest,
    };
  },
  mutants: [BLIND_START],
};

/** All places that queues of many jobs share are one process's. It runs a job for long, and so does a lane of another queue. */
const giveBackAndWait: Pair = {
  of: "a lane's call that gives places back, and an enqueue to a queue that waits for them",
  orders: 162,
  async setUp(line) {
    const { lane, process } = await started(line, push(line, line.queue.name), 2);
    const other = push(line, "other");
    const busy = (await started(line, other)).lane;
    await line.do(asks(process, SHARED));
    await line.do(line.enqueues(2, other));
    await line.pass(WAITS_MS);
    must(line.rows("waitingQueues").length === 1, "the queue does not wait");
    return {
      calls: {
        step: steps(line, lane, { ends: 0, in: { givenBack: SHARED } }),
        enqueue: line.enqueues(1, other),
      },
      rest: (after) => checkLanesRest(after, lane, busy),
    };
  },
  mutants: [
    {
      without: "the wake of queues that wait, by a call that gives places back",
      changes: [
        {
          in: "mainLoop.ts:takeBackFrom",
          begins: "return void (await takeBackPlaces(ctx, back));",
        },
      ],
      finds: /^a job is pending, and no lane scans/,
    },
  ],
};
const SHARED = PLACES_BY_CLASS["s16"]!.any;
/** Longer than until the queue has been woken once more. */
const WAITS_MS = 5_000;

/** The process was taken for lost, and gives places back late. */
const lateGiveBack: Pair = {
  of: "a process that is gone and gives places back, and a wake that starts another in its slot",
  orders: 36,
  async setUp(line) {
    const oneSlot = { schedulerShare: 0.125 };
    const { lane, process } = await started(line, push(line, line.queue.name, oneSlot));
    await loses(line, lane);
    await line.pass(60_000);
    const anew = awakeLane(line);
    await line.do(steps(line, anew));
    const wide = push(line, "wide", { ...oneSlot, maxParallelism: 8 });
    await line.do(line.enqueues(8, wide));
    const from = { ...named(process), givenBack: 5 };
    return {
      calls: { rouse: mutation("push/mainLoop:rouseQueues", { from }) },
      check(_answers, after) {
        const [slot] = processesOf(after);
        const running = after.rows("jobs").filter(({ status }) => status === "running");
        must(
          placesOf(after, slot!) === running.length,
          "a process has fewer places than it was started with",
        );
      },
      rest,
    };
  },
  mutants: [
    {
      without: "the generation by which a process is known",
      changes: [{ in: "grants.ts:ownRow", condition: "generation", is: true }],
      finds: /^a process has fewer places than it was started with/,
    },
  ],
};

export const PLACES: readonly Pair[] = [
  twoAsk,
  askAndClose,
  askAndWideStart,
  giveBackAndWideStart,
  giveBackAndWait,
  lateGiveBack,
];
