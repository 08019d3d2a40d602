/**
 * Processes that run lanes of many queues: wakes that take a slot, hand a lane over, or find neither, and processes that end
 * or are lost meanwhile.
 */
import type { LaneReply, QueueDeclaration } from "../../../src/shared/index.js";
import { must } from "../../races/world.js";
import { HANDLER, awakeLane, checkLanesRest, goes, loses, steps, type LaneRow } from "../lane.js";
import { mutation, type Line } from "../line.js";
import { UNVALIDATED, type Mutant, type Pair } from "../pair.js";
import { seenAs, showsAs } from "../staleReads.js";

/** Of the smallest class: one slot, so that the first lane's process receives the lanes of all other queues. */
const ONE_SLOT = 0.125;
const MINUTE_MS = 60_000;
/** Longer than the janitor leaves a lane alone that has called. */
const WATCHED_MS = 30_000;

type Config = Partial<QueueDeclaration["config"]>;

function push(line: Line, name: string, config: Config = {}): QueueDeclaration {
  const pushed = {
    ...{ push: true, handler: HANDLER, maxParallelism: 4, schedulerShare: ONE_SLOT },
    ...config,
  };
  return line.declare(name, pushed);
}

/** A job of the queue that a lane has been started with. */
async function started(line: Line, queue: QueueDeclaration): Promise<LaneRow> {
  await line.do(line.enqueues(1, queue));
  await line.pass(0);
  return awakeLane(line, queue);
}

const rest = (line: Line) => checkLanesRest(line);

/** The process as a snapshot shows it, where a wake is to have read it for real. */
const STALE_PROCESS: Mutant = {
  without: "the real read of the process to which a wake hands its lane",
  changes: [
    {
      in: "mainLoop.ts:targetAmong",
      call: "db.get",
      with: `"processes"`,
      gives: seenAs("process", "choice.to"),
    },
    showsAs("process", `await ctx.db.get("processes", about)`),
  ],
  finds: /^a lane was handed to a process that does not receive/,
};

const handOverAndClose: Pair = {
  of: "a wake that hands its lane to a process, and the last lane of that process, which leaves",
  orders: 24,
  async setUp(line) {
    const first = await started(line, push(line, line.queue.name));
    await line.do(line.enqueues(1, push(line, "other")));
    return {
      calls: { step: steps(line, first) },
      check(answers, after) {
        const { isClosed, handedOver } = answers.of<LaneReply>("step");
        const isHandedOver = answers.isBefore("push/wake:wake", "step");
        must(
          isClosed !== isHandedOver,
          "a process ends that has been handed a lane, or does not end",
        );
        const { length } = after.rows("handOvers");
        must((handedOver?.lanes.length ?? 0) === length, "it does not receive the lane");
      },
      rest,
    };
  },
  mutants: [
    {
      without: "the check of a process that ends for lanes handed to it",
      changes: [{ in: "mainLoop.ts:closeOf", call: "rowsHandedTo", gives: "[]" }],
      finds: /^a lane was handed to a process that does not receive/,
    },
    STALE_PROCESS,
    UNVALIDATED,
  ],
};

const wakesAndSlot: Pair = {
  of: "two wakes of two queues, and one free slot",
  orders: 24,
  async setUp(line) {
    const queues = [push(line, line.queue.name), push(line, "other")];
    for (const queue of queues) await goes(line, await started(line, queue));
    for (const queue of queues) await line.do(line.enqueues(1, queue));
    return { calls: {}, rest };
  },
  mutants: [
    {
      without: "the real read whether the slot that a wake takes is free",
      changes: [{ in: "mainLoop.ts:freeSlot", condition: `"free"`, is: true }],
      finds: /^a job is pending, and no lane scans/,
    },
    UNVALIDATED,
  ],
};

/** A lane runs in the only process, which is too old for a job that may run for so long. */
async function tooOld(line: Line): Promise<{ lane: LaneRow; long: QueueDeclaration }> {
  const lane = await started(line, push(line, line.queue.name));
  const long = push(line, "long", { timeoutMs: 25 * MINUTE_MS });
  await line.pass(5 * MINUTE_MS);
  return { lane, long };
}

const waitAndClose: Pair = {
  of: "a wake that finds no slot, and the process that ends",
  orders: 23,
  async setUp(line) {
    const { lane, long } = await tooOld(line);
    await line.do(line.enqueues(1, long));
    return { calls: { step: steps(line, lane) }, rest };
  },
  mutants: [
    {
      without: "the second check of a queue that waits",
      changes: [{ in: "mainLoop.ts:waitFor", without: "scheduleWake" }],
      finds: /^a job is pending, and no lane scans/,
    },
  ],
};

const waitsAndClose: Pair = {
  of: "the second check of a queue that waits for a slot, and the process that ends",
  orders: 306,
  async setUp(line) {
    const { lane, long } = await tooOld(line);
    await line.do(line.enqueues(1, long));
    await line.pass(0);
    must(line.rows("waitingQueues").length === 1, "the queue does not wait");
    line.transactions.now += 100;
    return { calls: { step: steps(line, lane) }, rest };
  },
  mutants: [
    {
      without: "the check of a process that ends for queues that wait",
      changes: [{ in: "mainLoop.ts:free", call: "first", with: `"waitingQueues"`, gives: "null" }],
      finds: /^a job is pending, and no lane scans/,
    },
  ],
};

/** A lane of another queue has been handed to the process, and has made no call. */
const lossAndHandOver: Pair = {
  of: "the sweep that finds a process lost, and a wake that would hand its lane to it",
  orders: 35,
  async setUp(line) {
    const first = await started(line, push(line, line.queue.name));
    await started(line, push(line, "other"));
    must(line.rows("handOvers").length === 1, "no lane was handed over");
    await loses(line, first);
    // Jobs that the sweep takes back stay pending, so that they have no wakes.
    const queues = [line.queue.name, "other"];
    for (const queue of queues) await line.do(mutation("operate:pauseQueue", { queue }));
    await line.untilSweep();
    const third = push(line, "third");
    await line.do(line.enqueues(1, third));
    return {
      calls: {},
      async restore(after) {
        for (const queue of queues) await after.do(mutation("operate:resumeQueue", { queue }));
      },
      async rest(after) {
        await after.pass(WATCHED_MS);
        await checkLanesRest(after);
        for (const { queue, resets = 0 } of after.rows("jobs"))
          must(
            queue === "third" ? resets === 0 : resets === 1,
            "a job is handed to a process that is gone, or is not missed",
          );
      },
    };
  },
  mutants: [
    {
      without: "the rule that any lane handed to a lost process is forgotten",
      changes: [{ in: "mainLoop.ts:loseProcess", without: "forgetHandOvers" }],
      finds: /^a lane was handed to a process/,
    },
    {
      without: "the sweep's real read whether a process is lost",
      changes: [{ in: "mainLoop.ts:freeLost", condition: "runs", is: false }],
      finds: /^a lane is awake, and its process has ended|^a lane was handed/,
    },
    {
      without: "the question of the wake whether the process still runs",
      changes: [{ in: "mainLoop.ts:targetAmong", condition: "runs", is: true }],
      finds: /^a job is handed to a process that is gone/,
    },
    UNVALIDATED,
  ],
};

export const PROCESSES: readonly Pair[] = [
  handOverAndClose,
  wakesAndSlot,
  waitAndClose,
  waitsAndClose,
  lossAndHandOver,
];
