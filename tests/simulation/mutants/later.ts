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
    replace: guard(
      "an enqueue into a segment of time that has two alarms, and their rings",
      "the real read of the alarm on which an enqueue relies",
    ),
    finds: ["simulation", "timers", "in time"],
    needs: ["callers"],
    where: having("callers.forOneMoment"),
  },
  {
    name: "a segment's jobs are promoted when it begins",
    replace: [
      {
        file: "component/loops/segments.ts",
        text: "Math.max(ringsAt({ start, width }), now));",
        by: "Math.max(start, now));",
      },
    ],
    finds: ["counts", "timers"],
  },
  {
    name: "a purge leaves the attempts of jobs that are gone",
    replace: [
      {
        file: "component/count/remove.ts",
        text: "for (const table of TABLES.slice(begun)) {",
        by: "for (const table of TABLES.slice(begun + 1)) {",
      },
    ],
    finds: ["retention"],
  },
  {
    name: "a purge comes before the retention is over",
    replace: [
      {
        file: "component/count/purge.ts",
        text: "const cutoff = commitTimeOf(now - config.retention[`${status}Ms`]);",
        by: "const cutoff = commitTimeOf(now - config.retention[`${status}Ms`] / 2);",
      },
    ],
    finds: ["retention"],
  },
  {
    name: "a deleted job keeps its key",
    isUnfound: true,
    replace: [{ file: "component/count/remove.ts", text: "await freeKey(ctx.db, job);", by: "" }],
    finds: ["keys", "retention"],
    needs: ["operators"],
    where: ({ events }) =>
      events.some(({ do: what, how }) => how === "deleteJob" || what === "operators.deleteMany"),
  },
  {
    name: "the roll-up counts the last job of each run twice",
    replace: [
      {
        file: "component/count/rollUp.ts",
        text: ": justAfter({ seq: last.seq as bigint, creationTime: last._creationTime });",
        by: ": { seq: last.seq as bigint, creationTime: last._creationTime };",
      },
    ],
    finds: ["simulation", "cursors", "retention"],
  },
  {
    name: "a new job is not counted when it is deleted at once",
    replace: [
      {
        file: "component/count/uncounted.ts",
        text: "if (job._creationTime <= counted.arrivals) return;",
        by: "if (job._creationTime > 0) return;",
      },
    ],
    finds: ["statistics"],
    needs: ["operators"],
    where: ({ events }) =>
      events.some(({ do: what, how }) => how === "deleteJob" || what === "operators.deleteMany"),
  },
  {
    name: "an end is not counted when a retry comes first",
    replace: [{ file: "component/manage/retry.ts", text: "await noteEndGone(ctx, job);", by: "" }],
    finds: ["statistics"],
  },
  {
    name: "a job that is not begun in time waits for ever",
    replace: [
      {
        file: "component/edges/startDeadlines.ts",
        text: "if (isOutOfTime(job, at)) await endOutOfTime(ctx, queue, job, at);",
        by: "if (job.expiresAt === 0 && isOutOfTime(job, at)) await endOutOfTime(ctx, queue, job, at);",
      },
    ],
    finds: ["in time"],
  },
  {
    name: "no alarm is armed for a deadline",
    isUnfound: true,
    replace: [
      {
        file: "component/enter/enqueue.ts",
        text: "for (const at of [expiresAt, fields.deadline?.at])",
        by: "for (const at of [expiresAt])",
      },
    ],
    finds: ["deadlines"],
    needs: ["deadlines"],
    where: (plan) => !isHeldUp(plan) && having("operators.queue", { how: "pause" })(plan),
  },
  {
    name: "an attempt may run longer than its job has time",
    replace: [
      {
        file: "component/edges/deadlines.ts",
        text: "if (deadline === undefined) return timeoutMs;",
        by: "if (deadline === undefined || now > 0) return timeoutMs;",
      },
    ],
    finds: ["deadlines"],
    needs: ["deadlines"],
    where: (plan) => !isHeldUp(plan) && hangsBeyond(plan),
  },
  {
    name: "a retry by hand has no more time than the job had before",
    replace: [
      {
        file: "component/manage/retry.ts",
        text: "return { deadline: { ms: deadline.ms, at } };",
        by: "return {};",
      },
    ],
    finds: ["deadlines"],
    needs: ["deadlines"],
  },
  {
    name: "a sweep that was taken for dead goes on when it comes after all",
    replace: [
      {
        file: "component/loops/loop.ts",
        text: "if (alarm?.kind !== kind || (",
        by: "if (alarm !== null && (",
      },
    ],
    finds: ["no surprises"],
    needs: ["late"],
    where: ({ events }) =>
      events.some(({ do: what, maxMs }) => what === "late.begin" && (maxMs as number) > 5_000),
  },
  {
    name: "an alarm that is dead is never scheduled anew",
    replace: [
      {
        file: "component/loops/loop.ts",
        text: "else if (isOverdue(timer, now)) await revive(ctx, timer, now);",
        by: "",
      },
      {
        file: "component/loops/loop.ts",
        text: 'if (timer === null || timer.kind === "janitor" || !isOverdue(timer, now)) return;',
        by: "if (timer === null || now > 0) return;",
      },
    ],
    finds: ["simulation", "timers"],
    needs: ["lost schedules"],
  },
  {
    name: "a callback with a dead plan is never planned anew",
    replace: [
      {
        file: "component/tend/janitor.ts",
        text: "for (const callback of found.overdue) await replan(ctx, callback);",
        by: "",
      },
    ],
    finds: ["simulation", "callback once"],
    needs: ["lost schedules", "callbacks"],
  },
  {
    name: "sessions are never forgotten",
    replace: [
      {
        file: "component/tend/janitor.ts",
        text: "for (const session of found.forgotten) await forget(ctx, session, now);",
        by: "void forget;",
      },
    ],
    finds: ["nothing left"],
    queues: PULLED,
  },
];
