/** Push queues: calls that make jobs claimable, calls that free capacity, and lanes that stop scanning. */
import { must } from "../../races/world.js";
import { HANDLER, awakeLane, checkLanesRest, goes, guard, lanesOf, steps } from "../lane.js";
import { mutation, type Line, type Row } from "../line.js";
import { UNVALIDATED, type Mutant, type Pair } from "../pair.js";

function push(line: Line, maxParallelism: number): void {
  line.declare(line.queue.name, { push: true, handler: HANDLER, maxParallelism });
}

const rest = (line: Line) => checkLanesRest(line);

/** A job that a lane has been started with, once the wake has run. */
async function started(line: Line): Promise<Row> {
  await line.enqueue();
  await line.pass(0);
  return awakeLane(line);
}

/** There are a gate, a door and a lane that sleeps: else wakes would conflict over these. */
async function slept(line: Line): Promise<void> {
  await started(line);
  await line.enqueue(2);
  for (let looks = 0; looks < 5; looks += 1) {
    await line.pass(0);
    const awake = lanesOf(line).filter(({ state }) => state === "awake");
    for (const lane of awake) await goes(line, lane, { looks });
  }
  must(
    lanesOf(line).every(({ state }) => state === "asleep"),
    "the lane has not gone",
  );
  await line.pass(1);
}

/** A lane that has just become the one that scans, beside another that is busy. */
async function guarded(line: Line, { ends = Infinity } = {}): Promise<{ busy: Row; lane: Row }> {
  push(line, 4);
  const busy = await started(line);
  await line.enqueue(2);
  await line.pass(0);
  const lane = guard(line);
  await line.do(steps(line, lane, { ends, looks: 0 }));
  await line.do(steps(line, lane, { ends: 0, looks: 1 }));
  const [gate] = line.rows("gates");
  must(gate!.state === "leaving", "it does not say that it is about to go");
  return { busy, lane };
}

/** A caller's snapshot shows that a lane scans: the gate as it was before it began to send newcomers away. */
const STALE_GATE: Mutant["changes"] = [
  {
    in: "wakes.ts:isGuarded",
    condition: `"guarded" "full"`,
    is: `state !== "quiet" && state !== undefined`,
  },
];
const NO_DOOR: Mutant = {
  without: "the real read of the door by a caller with a snapshot of a scanning lane",
  changes: [...STALE_GATE, { in: "wakes.ts:isLookedAfter", condition: "findDoor", is: true }],
  finds: /^a job is pending, and no lane scans/,
};
const NO_LOOK_AFTER: Mutant = {
  without: "the wake after the door is shut",
  changes: [...STALE_GATE, { in: "wakes.ts:quieten", without: "wakeBlindly" }],
  finds: /^a job is pending, and no lane scans/,
};

const enqueueAndLeave: Pair = {
  of: "an enqueue, and a lane that leaves with its last job",
  orders: 119,
  async setUp(line) {
    push(line, 4);
    const lane = await started(line);
    return { calls: { enqueue: line.enqueues(), step: steps(line, lane) }, rest };
  },
  mutants: [
    {
      without: "the rule that a gate is relied on, and never a lane because it is awake",
      changes: [
        {
          in: "wakes.ts:isGuarded",
          condition: `"guarded" "full"`,
          is: `state === "guarded" || state === "full" || (await Promise.all((await ctx.db.query("lanes").withIndex("queue", (q) => q.eq("queue", queue)).collect()).map(({ session }) => ctx.db.get("sessions", session)))).some((one) => one?.state === "active")`,
        },
        { in: "wakes.ts:isLookedAfter", condition: "findDoor", is: true },
      ],
      finds: /^a job is pending, and no lane scans/,
    },
  ],
};

// Rules out P6.
const enqueueAndOldWake: Pair = {
  of: "two jobs of one mutation, and their wake, with a scan that may be older than they are",
  orders: 4,
  async setUp(line) {
    push(line, 4);
    await line.do(mutation("lib:declare", { queues: line.queues }));
    return {
      calls: { enqueue: line.enqueues(2) },
      async rest(line) {
        // Its lane ends before any repair could take a job with a wake for forgotten.
        await line.do(steps(line, awakeLane(line)));
        await checkLanesRest(line);
      },
    };
  },
  mutants: [
    {
      without: "the check how old a wake's snapshot is",
      changes: [
        { in: "beginLane.ts:takeAndBegin", without: "scheduleWake", with: "WAKE_AGAIN_MS" },
      ],
      finds: /^a job is pending, and no lane scans/,
    },
  ],
};

// Shows WP-02, WP-12, WP-14, WP-31.
// Rules out D2.
const enqueueAndGuardGoes: Pair = {
  of: "an enqueue, and the polling lane, which shuts the door and goes",
  orders: 1_006,
  async setUp(line) {
    const { busy, lane } = await guarded(line);
    const step = steps(line, lane, { looks: 3 });
    const calls = { enqueue: line.enqueues(), step };
    return { calls, rest: (line) => checkLanesRest(line, busy) };
  },
  mutants: [NO_DOOR, NO_LOOK_AFTER],
};

// Shows WP-12.
const enqueueAndGuardRests: Pair = {
  of: "an enqueue, and the polling lane, which shuts the door and waits for its jobs",
  orders: 1_008,
  async setUp(line) {
    const { busy, lane } = await guarded(line, { ends: 1 });
    const step = steps(line, lane, { ends: 0, looks: 3 });
    const calls = { enqueue: line.enqueues(), step };
    return { calls, rest: (line) => checkLanesRest(line, busy, lane) };
  },
  mutants: [NO_DOOR],
};

// Shows WP-13, H18.
// Rules out P18.
/** It has only one job to run, and that is running. */
const wakeAndFree: Pair = {
  of: "a wake that finds no capacity, and the lane that frees some",
  orders: 24,
  async setUp(line) {
    push(line, 1);
    const lane = await started(line);
    await line.enqueue();
    return { calls: { step: steps(line, lane) }, rest };
  },
  mutants: [
    {
      without: "the check of freed capacity for a wake that waits",
      changes: [{ in: "laneStep.ts:decideNext", condition: `gate "full"`, is: false }],
      finds: /./,
    },
    {
      without: "the real read, by a wake that finds no room, of lanes which have gone to sleep",
      changes: [{ in: "wake.ts:beginWithAll", call: "asleepSince", gives: "[]" }],
      finds: /^a job is pending, and no lane scans/,
    },
    UNVALIDATED,
  ],
};

// Shows WP-14.
const twoWakes: Pair = {
  of: "two wakes of a queue",
  orders: 280,
  async setUp(line) {
    push(line, 1);
    await slept(line);
    await line.enqueue(2);
    await line.enqueue(2);
    return { calls: {}, rest };
  },
  mutants: [UNVALIDATED],
};

const twoLoneWakes: Pair = {
  of: "two wakes of jobs that came alone, and one spare",
  orders: 24,
  async setUp(line) {
    push(line, 1);
    await line.do(steps(line, await started(line)));
    await line.enqueue();
    await line.enqueue();
    return { calls: {}, rest };
  },
  mutants: [UNVALIDATED],
};

/** The one has read nothing but its spare; the other needs all the room there is. */
const loneWakeAndRoom: Pair = {
  of: "the wake of a job that came alone, and one that takes the room of its spare",
  orders: 168,
  async setUp(line) {
    push(line, 2);
    await slept(line);
    must(
      lanesOf(line).some(({ cap, state }) => cap === 1 && state === "asleep"),
      "no lane has kept room",
    );
    await line.enqueue(2);
    await line.enqueue();
    return {
      calls: {},
      check(_answers, line) {
        const running = line.rows("jobs").filter(({ status }) => status === "running");
        must(running.length <= 2, "more is running than is allowed");
      },
      rest,
    };
  },
  mutants: [UNVALIDATED],
};

/** The lane gives away room that it does not use, or takes it back, while the wake starts another with it. */
const wakeAndCap: Pair = {
  of: "a wake, and a lane that raises its cap",
  orders: 519,
  async setUp(line) {
    const { busy, lane } = await guarded(line, { ends: 1 });
    await line.enqueue(2);
    const calls = { step: steps(line, lane, { ends: 0 }) };
    return { calls, rest: (line) => checkLanesRest(line, busy) };
  },
  mutants: [UNVALIDATED],
};

// Shows WP-14.
// Rules out D16.
const resumeAndEnqueue: Pair = {
  of: "the end of a pause, and an enqueue into a push queue",
  orders: 246,
  async setUp(line) {
    push(line, 2);
    await started(line).then((lane) => line.do(steps(line, lane)));
    await line.do(mutation("operate:pauseQueue", { queue: line.queue.name }));
    const resume = mutation("operate:resumeQueue", { queue: line.queue.name });
    return { calls: { enqueue: line.enqueues(), resume }, rest };
  },
  mutants: [
    {
      without: "the wake that the end of a pause schedules",
      changes: [{ in: "control.ts:change", condition: "mayNeedWake", is: false }],
      finds: /^a job is pending, and no lane scans/,
    },
  ],
};

const lowerAndWake: Pair = {
  of: "a lower maxParallelism, and a wake",
  orders: 54,
  async setUp(line) {
    push(line, 2);
    await started(line);
    await line.enqueue(2);
    const queue = line.queue.name;
    const args = { queue, overrides: { maxParallelism: 1 } };
    const lower = mutation("operate:configureQueue", args);
    return {
      calls: { lower },
      check(answers, line) {
        const running = line.rows("jobs").filter(({ status }) => status === "running");
        const isLate = answers.isBefore("lower", "push/wake:wake");
        must(!isLate || running.length <= 1, "a job was begun above the limit of that time");
      },
      rest,
    };
  },
  mutants: [UNVALIDATED],
};

// Shows H12.
// Rules out D16.
const raiseAndWake: Pair = {
  of: "a higher maxParallelism, and a wake that finds no capacity",
  orders: 492,
  async setUp(line) {
    push(line, 1);
    await started(line);
    await line.enqueue();
    const queue = line.queue.name;
    const raise = mutation("operate:configureQueue", { queue, overrides: { maxParallelism: 2 } });
    return {
      calls: { raise },
      async check(_answers, line) {
        const [gate] = line.rows("gates");
        const running = line.rows("jobs").filter(({ status }) => status === "running");
        must(running.length === 2 || gate?.state !== "full", "there is room, and no lane scans");
      },
      rest,
    };
  },
  mutants: [
    {
      without: "the wake that more capacity schedules",
      changes: [{ in: "control.ts:change", condition: "mayNeedWake", is: false }],
      finds: /^there is room, and no lane scans/,
    },
  ],
};

// Shows WP-14.
// Rules out D16.
const promoteAndGuardGoes: Pair = {
  of: "a job that falls due, and the polling lane, which shuts the door and goes",
  orders: 930,
  async setUp(line) {
    push(line, 4);
    await line.do(line.enqueuesOne({ runAt: line.now + 300 }));
    const { busy, lane } = await guarded(line);
    const [alarm] = line.rows("timers").filter(({ kind }) => kind === "dispatcher");
    line.transactions.now = alarm!["dueAt"] as number;
    const calls = { step: steps(line, lane, { looks: 3 }) };
    return { calls, rest: (line) => checkLanesRest(line, busy) };
  },
  mutants: [NO_DOOR],
};

export const LANES: readonly Pair[] = [
  enqueueAndOldWake,
  enqueueAndLeave,
  enqueueAndGuardGoes,
  enqueueAndGuardRests,
  promoteAndGuardGoes,
  wakeAndFree,
  twoWakes,
  twoLoneWakes,
  loneWakeAndRoom,
  wakeAndCap,
  resumeAndEnqueue,
  lowerAndWake,
  raiseAndWake,
];
