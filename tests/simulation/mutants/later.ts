/** Bugs in later work: due times, deadlines, counting and purging. */
import { isHeldUp } from "../checkers/inTime.js";
import { guard } from "./guards.js";
import { isOf, PULLED, type Plan, type QueueName } from "../plan.js";
import type { NewJob } from "../work.js";
import { having, type Mutant } from "./mutant.js";

/** A job with a deadline hangs in a queue that says of no attempt how long it may take. */
function hangsBeyond({ queues, events }: Plan): boolean {
  return events.some(
    ({ do: what, queue, jobs }) =>
      what === "deadlines.enqueue" &&
      !isOf(["written", "looked"], queue) &&
      queues[queue as QueueName]?.timeoutMs === undefined &&
      (jobs as NewJob[]).some(
        ({ payload: { turns }, options: { timeoutMs, deadlineMs } }) =>
          turns[0]?.end === "hangs" && timeoutMs === undefined && (deadlineMs as number) <= 1_500,
      ),
  );
}

export const LATER: readonly Mutant[] = [
  {
    name: "an enqueue relies on an alarm that a snapshot shows",
    changes: guard(
      "an enqueue into a segment of time that has two alarms, and their rings",
      "the real read of the alarm on which an enqueue relies",
    ),
    finds: ["simulation", "timers", "in time"],
    needs: ["callers"],
    where: having("callers.forOneMoment"),
  },
  {
    name: "a segment's jobs are promoted when it begins",
    changes: [{ in: "segments.ts:ensureSegment", call: "ringsAt", gives: "start" }],
    finds: ["counts", "timers"],
  },
  {
    name: "a purge leaves the attempts of jobs that are gone",
    changes: [{ in: "remove.ts:removeRows", from: "slice(begun)", to: "slice(begun + 1)" }],
    finds: ["retention"],
  },
  {
    name: "a purge comes before the retention is over",
    changes: [
      {
        in: "purge.ts:deleteFinished",
        value: "cutoff",
        is: "commitTimeOf(now - config.retention[`${status}Ms`] / 2)",
      },
    ],
    finds: ["retention"],
  },
  {
    name: "a deleted job keeps its key",
    shownBy: "tests/planted/shown.long.test.ts",
    changes: [{ in: "remove.ts:removeJob", without: "freeKey" }],
    finds: ["keys", "retention"],
    needs: ["operators"],
    where: ({ events }) =>
      events.some(({ do: what, how }) => how === "deleteJob" || what === "operators.deleteMany"),
  },
  {
    name: "the roll-up counts the last job of each run twice",
    changes: [
      {
        in: "rollUp.ts:findEnds",
        call: "justAfter",
        gives: "{ seq: last.seq as bigint, creationTime: last._creationTime }",
      },
    ],
    finds: ["simulation", "cursors", "retention"],
  },
  {
    name: "a new job is not counted when it is deleted at once",
    changes: [
      { in: "uncounted.ts:noteDeleted", condition: "counted.arrivals _creationTime", is: true },
    ],
    finds: ["statistics"],
    needs: ["operators"],
    where: ({ events }) =>
      events.some(({ do: what, how }) => how === "deleteJob" || what === "operators.deleteMany"),
  },
  {
    name: "an end is not counted when a retry comes first",
    changes: [{ in: "retry.ts:retryJob", without: "noteEndGone" }],
    finds: ["statistics"],
  },
  {
    name: "a job that is not begun in time waits for ever",
    changes: [{ in: "startDeadlines.ts:expireOne", condition: "isOutOfTime", is: false }],
    finds: ["in time"],
  },
  {
    name: "no alarm is armed for a deadline",
    shownBy: "tests/planted/shown.long.test.ts",
    changes: [{ in: "enqueue.ts:insert", from: ", fields.deadline?.at", to: "" }],
    finds: ["deadlines"],
    needs: ["deadlines"],
    where: (plan) => !isHeldUp(plan) && having("operators.queue", { how: "pause" })(plan),
  },
  {
    name: "an attempt may run longer than its job has time",
    changes: [{ in: "deadlines.ts:withinDeadline", returns: "timeoutMs" }],
    finds: ["deadlines"],
    needs: ["deadlines"],
    where: (plan) => !isHeldUp(plan) && hangsBeyond(plan),
  },
  {
    name: "a retry by hand has no more time than the job had before",
    changes: [
      { in: "retry.ts:renewDeadline", from: "{ deadline: { ms: deadline.ms, at } }", to: "{}" },
    ],
    finds: ["deadlines"],
    needs: ["deadlines"],
  },
  {
    name: "a sweep that was taken for dead goes on when it comes after all",
    changes: [
      { in: "loop.ts:defineLoop", from: "alarm?.kind !== kind ||", to: "alarm !== null &&" },
    ],
    finds: ["no surprises"],
    needs: ["late"],
    where: ({ events }) =>
      events.some(({ do: what, maxMs }) => what === "late.begin" && (maxMs as number) > 5_000),
  },
  {
    name: "an alarm that is dead is never scheduled anew",
    changes: [
      { in: "loop.ts:ensureAlarm", condition: "isOverdue", is: false },
      { in: "loop.ts:reviveDead", without: "revive" },
    ],
    finds: ["simulation", "timers"],
    needs: ["lost schedules"],
  },
  {
    name: "a callback with a dead plan is never planned anew",
    changes: [{ in: "janitor.ts:repair", without: "replan" }],
    finds: ["simulation", "callback once"],
    needs: ["lost schedules", "callbacks"],
  },
  {
    name: "sessions are never forgotten",
    changes: [{ in: "janitor.ts:repair", without: "forget" }],
    finds: ["nothing left"],
    queues: PULLED,
  },
];
