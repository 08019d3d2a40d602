/**
 * A lost lane, with a scheduled function that is gone: the sweep that finds it, the wake of the next caller, and its late calls.
 * And the lane that takes its sweep with it.
 */
import type { Finished, LaneReply } from "../../../src/shared/index.js";
import { must } from "../../races/world.js";
import { HANDLER, awakeLane, checkLanesRest, lanesOf, loses, steps } from "../lane.js";
import { mutation, type Line, type Row } from "../line.js";
import { UNVALIDATED, type Answers, type Meeting, type Mutant, type Pair } from "../pair.js";
import { Worker } from "../worker.js";

const GENERATION: Mutant = {
  without: "the generation by which an older lane's call is known",
  changes: [{ in: "laneStep.ts:stepOf", condition: "generationOf", is: false }],
  finds: /^a lane that is gone goes on/,
};
const ALIVE: Mutant = {
  without: "the question whether the function of a lane that calls still runs",
  changes: [{ in: "laneStep.ts:stepOf", condition: "isLaneAlive", is: false }],
  finds: /^a lane that is gone goes on/,
};

/** Longer than the janitor leaves a lane alone that has called. */
const WATCHED_MS = 30_000;

/** It has been started, it alone may run, a second job waits, its function is gone, and a sweep for it is due. */
async function lostLane(line: Line): Promise<{ lane: Row; first: string }> {
  line.declare(line.queue.name, { push: true, handler: HANDLER, maxParallelism: 1 });
  const [first] = await line.enqueue();
  await line.pass(0);
  const lane = awakeLane(line);
  await line.enqueue();
  await line.pass(0);
  await loses(line, lane);
  await line.untilSweep();
  return { lane, first: first! };
}

/** The condition on the first job, in every order, and on everything else. */
function checkLoss(line: Line, first: string): void {
  const { status, attempt, resets = 0 } = line.job(first);
  must(
    status === "succeeded" ? attempt === 1 || resets === 1 : resets === 1,
    `the first job is ${String(status)} after ${String(attempt)} attempts`,
  );
  const running = line.rows("jobs").filter((job) => job.status === "running");
  must(running.length <= 1, "more jobs run than may");
  for (const job of line.rows("jobs").filter(({ _id }) => _id !== first))
    must((job["resets"] ?? 0) === 0, "a lane that is gone has taken a job");
}

/** Every pending job begins soon. */
async function checkBegun(after: Line): Promise<void> {
  await after.pass(SOON_MS);
  const waits = after.rows("jobs").some(({ status }) => status === "pending");
  const runs = after.rows("jobs").some(({ status }) => status === "running");
  must(runs || !waits, "a job is pending, and no lane scans");
}
const SOON_MS = 4_000;

/** All rows may say that its function is gone, while its last call is still on its way. */
const lateStep: Pair = {
  of: "the sweep that finds a lane gone, the wake that follows, and the lane's late call that reports its job",
  orders: 366,
  async setUp(line): Promise<Meeting> {
    const { lane, first } = await lostLane(line);
    return {
      calls: { late: steps(line, lane) },
      check(answers: Answers, after) {
        const { isOver, jobs } = answers.of<LaneReply>("late");
        must(isOver && jobs.length === 0, "a lane that is gone goes on");
        checkLoss(after, first);
      },
      // A lane that still speaks is left alone for as long as any other, though its function is gone.
      async rest(after) {
        await after.pass(WATCHED_MS);
        await checkLanesRest(after);
      },
    };
  },
  mutants: [GENERATION, ALIVE, UNVALIDATED],
};

/** An outcome is on its way apart when its lane is found gone. */
const lateOutcome: Pair = {
  of: "the sweep that finds a lane gone, the wake that follows, and an outcome that goes apart",
  orders: 384,
  async setUp(line): Promise<Meeting> {
    const { lane, first } = await lostLane(line);
    const { args } = steps(line, lane);
    const [finished] = (args as { finished: Finished[] }).finished;
    const { id, attempt } = finished!;
    return {
      calls: { record: mutation("push/laneApart:runApart", { id, attempt, finished }) },
      check: (_answers, after) => checkLoss(after, first),
      // A sweep with a snapshot older than the process's end leaves the lane to the next sweep.
      async rest(after) {
        await checkBegun(after);
        await after.pass(WATCHED_MS);
        await checkLanesRest(after);
      },
    };
  },
  mutants: [UNVALIDATED],
};

// Shows WP-03, F26.
// Rules out D21, P11.
/** The lane was taken for dead, and started anew; its late call is still on its way. */
const oldGeneration: Pair = {
  of: "a wake that starts a lane anew, and a late call of the lane as it was before",
  orders: 60,
  async setUp(line) {
    line.declare(line.queue.name, { push: true, handler: HANDLER, maxParallelism: 1 });
    await line.enqueue();
    await line.pass(0);
    const lane = awakeLane(line);
    const late = steps(line, lane);
    await line.do(steps(line, lane));
    await line.enqueue(2);
    const { args } = late;
    const callSeq = 10;
    return {
      calls: { late: { ...late, args: { ...args, callSeq } } },
      check(answers, after) {
        must(answers.of<LaneReply>("late").isOver, "a lane that is gone goes on");
        const [only] = lanesOf(after);
        must(only!.state === "awake" || only!.state === "asleep", "it drains");
        const succeeded = after.rows("jobs").filter(({ status }) => status === "succeeded");
        must(succeeded.length === 1, "a late call has ended another's job");
      },
      rest: (after) => checkLanesRest(after),
    };
  },
  mutants: [GENERATION],
};

/** The claim begins while a sweep is armed, and counts on it; then its worker falls silent. */
const sweepCalledOff: Pair = {
  of: "the last lane, which calls off its sweep, and a claim",
  orders: 22,
  async setUp(line) {
    // So long that the lane's sweep comes in time for it, too.
    const pulled = line.declare(line.queue.name, { leaseMs: LEASE_MS });
    const pushed = line.declare("pushed", { push: true, handler: HANDLER });
    await line.enqueue();
    await line.do(line.enqueues(1, pushed));
    await line.pass(0);
    const lane = awakeLane(line, pushed);
    must(lane.sweep !== undefined, "the sweep is not the lane's");
    const claim = new Worker(line, "worker").claims(1, [pulled]);
    return {
      calls: { claim, step: steps(line, lane) },
      async rest(after) {
        await after.pass(SILENCE_MS);
        const leased = after.rows("jobs").filter(({ status }) => status === "running");
        must(leased.length === 0, "a lease has run out, and no sweep is due");
      },
    };
  },
  mutants: [
    {
      without: "the check for sessions with leases, before the sweep is canceled",
      changes: [
        { in: "idleShutdown.ts:callOffSweep", condition: "mayRest", is: false },
        { in: "idleShutdown.ts:callOffSweep", condition: "isNeeded", is: false },
        // Nor is one left to come by lot.
        { in: "idleShutdown.ts:callOffSweep", condition: "random", is: false },
      ],
      finds: /^leased without a timer/,
    },
    UNVALIDATED,
  ],
};
const LEASE_MS = 60_000;
/** Longer than that, and than a sweep is put off. */
const SILENCE_MS = 120_000;

export const LANE_LOSSES: readonly Pair[] = [lateStep, lateOutcome, oldGeneration, sweepCalledOff];
