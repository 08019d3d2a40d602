/** Jobs that are due later or expire, and the alarms that come for them. */
import type { Outcome } from "../../../src/shared/index.js";
import { must } from "../../races/world.js";
import type { Line } from "../line.js";
import { UNVALIDATED, withSkew, type Mutant, type Pair } from "../pair.js";
import { mutation } from "../line.js";
import type { Call } from "../transactions.js";
import { Worker, type ClaimReply } from "../worker.js";

/** Two jobs put in by one caller, both due at this instant. */
function schedules(line: Line, runAt: number, options: object = {}): Call {
  const jobs = [1, 2].map((n) => ({ payload: { n }, options: { runAt, ...options } }));
  return mutation("lib:enqueue", { queue: line.queue, jobs });
}

/** Until just when an alarm is due, and before it rings. */
async function untilAlarm(line: Line): Promise<void> {
  const [alarm] = line.rows("timers").filter(({ kind }) => kind !== "janitor");
  must(alarm !== undefined, "no alarm is armed");
  await line.pass((alarm!["dueAt"] as number) - 1 - line.now);
  line.transactions.now += 1;
}

/** A second past the minute's 20th, so that its alarm is wide when it is armed, and has rung 30 seconds later. */
const FAR_MS = 45_000;

// Rules out D15.
/** By a clock that is behind, the segment is still to come. */
const enqueueAndRing: Pair = withSkew(
  {
    of: "an enqueue into a segment of time, and the ring of its alarm",
    orders: 6,
    async setUp(line) {
      const runAt = line.now + 1_000;
      await line.do(schedules(line, runAt));
      await untilAlarm(line);
      return { calls: { enqueue: schedules(line, runAt) } };
    },
    mutants: [UNVALIDATED],
  },
  -500,
);

const enqueueAndHandOver: Pair = withSkew(
  {
    of: "an enqueue into a wide segment, and its alarm that hands over to narrow ones",
    orders: 222,
    async setUp(line) {
      const runAt = line.now + FAR_MS;
      await line.do(schedules(line, runAt));
      await untilAlarm(line);
      return { calls: { enqueue: schedules(line, runAt + 1_000) } };
    },
    mutants: [
      {
        without: "marking that it hands over before its snapshot read",
        changes: [
          { in: "segments.ts:handOver", call: "handedOverTo", gives: "$it ?? segment.start" },
        ],
        finds: /job is stuck|no alarm will ring/,
      },
      UNVALIDATED,
    ],
  },
  -6_000,
);

// Rules out D15.
/** It has written so, and its scan is due. */
const enqueueAndLook: Pair = withSkew(
  {
    of: "an enqueue into a wide segment with an alarm that is handing over, and its scan",
    orders: 72,
    async setUp(line) {
      const runAt = line.now + FAR_MS;
      await line.do(schedules(line, runAt));
      await untilAlarm(line);
      const [ring] = line.transactions.due(line.point);
      await line.do(ring!);
      return { calls: { enqueue: schedules(line, runAt + 1_000) } };
    },
    mutants: [
      {
        without: "writing the row of an alarm that hands over",
        changes: [
          {
            in: "segments.ts:ensureSegment",
            condition: "from null",
            is: "from !== null && at < from",
          },
        ],
        finds: /job is stuck|no alarm will ring/,
      },
    ],
  },
  -6_000,
);

/** As if the alarm in a snapshot could not have gone in the meantime. */
const TRUSTED_LOOK: Mutant = {
  without: "the real read of the alarm on which an enqueue relies",
  changes: [{ in: "segments.ts:ensureSegment", begins: "if (alarm !== null) return;" }],
  finds: /job is stuck|no alarm will ring/,
};

/** Two calls that find a segment without an alarm, by clocks that are a millisecond apart, arm one each. */
async function armTwice(line: Line, runAt: number): Promise<void> {
  // The queue's row, over which they would conflict.
  await line.enqueue();
  await line.meet(schedules(line, runAt), { ...schedules(line, runAt), skewMs: 1 });
  const alarms = line.rows("timers").filter(({ kind }) => kind === "dispatcher");
  must(alarms.length === 2, "two overlapping calls have not armed an alarm each");
  await untilAlarm(line);
}

const enqueueAndRings: Pair = withSkew(
  {
    of: "an enqueue into a segment of time that has two alarms, and their rings",
    orders: 300,
    async setUp(line) {
      const runAt = line.now + 1_000;
      await armTwice(line, runAt);
      return { calls: { enqueue: schedules(line, runAt) } };
    },
    mutants: [TRUSTED_LOOK],
  },
  -500,
);

/** By a clock that is behind, the job is delayed to a time with an alarm that is about to ring: another must follow it. */
const reportAndRing: Pair = withSkew(
  {
    of: "a report that puts a job off for a moment, and the ring of the alarm of that time",
    orders: 27,
    async setUp(line) {
      await line.enqueue();
      const worker = new Worker(line, "worker");
      const jobs = await worker.claim();
      await line.do(schedules(line, line.now + 150));
      await untilAlarm(line);
      const outcome: Outcome = { kind: "snoozed", runAfter: 10 };
      return { calls: { report: worker.completes(jobs, { outcome }) } };
    },
    mutants: [
      {
        without: "the alarm that the report arms beside the one that is about to ring",
        changes: [{ in: "segments.ts:ensureSegments", without: "ensureOneMore" }],
        finds: /job is stuck|no alarm will ring/,
      },
      UNVALIDATED,
    ],
  },
  -60,
);

const cancelAndRing: Pair = {
  of: "a cancel of a job that falls due, and the ring of its alarm",
  orders: 6,
  async setUp(line) {
    const [job] = await line.do<{ id: string }[]>(schedules(line, line.now + 1_000));
    await untilAlarm(line);
    return {
      calls: { cancel: line.cancels(job!.id) },
      check(answers, line) {
        const { canceled } = answers.of<{ canceled: boolean }>("cancel");
        must(canceled, "a waiting job could not be canceled");
        must(line.job(job!.id).status === "canceled", "a canceled job came back");
      },
    };
  },
  mutants: [UNVALIDATED],
};

/** By a clock that is behind, the job's time is not yet over. */
const claimAndExpire: Pair = withSkew(
  {
    of: "a claim of a job, and the ring of the alarm that expires it",
    orders: 76,
    async setUp(line) {
      const jobs = [{ payload: {}, options: { expiresAfterMs: 1_500 } }];
      const [job] = await line.do<{ id: string }[]>(
        mutation("lib:enqueue", { queue: line.queue, jobs }),
      );
      await untilAlarm(line);
      return {
        calls: { claim: new Worker(line, "worker").claims() },
        check(answers, line) {
          const { status, attempt } = line.job(job!.id);
          const { jobs } = answers.of<ClaimReply>("claim");
          must(status === (jobs.length > 0 ? "running" : "failed"), "handed out, and expired");
          must(attempt === jobs.length, "it expired after it was begun");
        },
      };
    },
    mutants: [UNVALIDATED],
  },
  -2_000,
);

const watchAndRing: Pair = {
  of: "a watchdog that takes an alarm for dead, and its late ring",
  orders: 27,
  async setUp(line) {
    const runAt = line.now + 1_000;
    await line.do(schedules(line, runAt));
    await untilAlarm(line);
    line.transactions.now += 6_000;
    return { calls: { watch: mutation("lib:watch") } };
  },
  mutants: [],
};

export const SCHEDULES: readonly Pair[] = [
  enqueueAndRing,
  enqueueAndRings,
  enqueueAndHandOver,
  enqueueAndLook,
  reportAndRing,
  cancelAndRing,
  claimAndExpire,
  watchAndRing,
];
