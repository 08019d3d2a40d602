/** Bugs in leases: the session of a job, the lease's length, and the detection of a lost session. */
import { isHeard } from "../checkers/heard.js";
import { PULLED } from "../plan.js";
import { guard } from "./guards.js";
import { having, type Mutant } from "./mutant.js";

export const HOLDING: readonly Mutant[] = [
  {
    name: "any attempt of a job is its session's to report",
    replace: guard("late words of a lost attempt, and the claim of the next", "fencing by attempt"),
    finds: ["simulation", "leases", "runs as promised", "counts"],
    needs: ["liars"],
    where: having("liars.own"),
    queues: PULLED,
  },
  {
    name: "a sweep ends the leases of a worker that has beaten meanwhile",
    replace: guard(
      "a beat, and the sweep that ends its session's leases",
      "the second check whether the session has expired",
    ),
    finds: ["leases", "blame"],
    needs: ["old snapshots"],
    queues: PULLED,
  },
  {
    name: "the leases of a lost worker are never ended",
    replace: [
      {
        file: "component/tend/janitor.ts",
        text: "for (const session of lost.expired) await takeOver(ctx, session, now);",
        by: "",
      },
      {
        file: "component/claim/claim.ts",
        text: "if (!isFull(batch) && seen.expired !== null) {",
        by: "if (!isFull(batch) && seen.expired !== null && now < 0) {",
      },
    ],
    finds: ["simulation", "timers"],
    needs: ["worker crash"],
    queues: PULLED,
  },
  {
    name: "a claim arms no janitor",
    replace: [
      {
        file: "component/claim/claim.ts",
        text: "if (closed.leases.length > 0) await ensureJanitor(",
        by: "if (closed.leases.length > 1_000) await ensureJanitor(",
      },
    ],
    finds: ["simulation", "timers"],
    queues: PULLED,
  },
  {
    name: "the janitor goes while something is leased",
    replace: guard(
      "a claim, and the sweep that disarms",
      "the real read of the sessions before a sweep arms its next, or goes",
    ),
    finds: ["simulation", "timers"],
  },
  {
    name: "a timer that is dead counts for ever",
    replace: [
      {
        file: "component/loops/loop.ts",
        text: "return now > timer.dueAt + JANITOR_OVERDUE_MS;",
        by: "return now > timer.dueAt + 1_000 * 60 * 60;",
      },
    ],
    finds: ["simulation", "timers"],
    needs: ["lost schedules"],
  },
  {
    name: "a job may lose one worker more than maxResets",
    replace: [
      {
        file: "component/tend/lostLeases.ts",
        text: "if (resets < maxResets) {",
        by: "if (resets <= maxResets) {",
      },
    ],
    finds: ["counts"],
  },
  {
    name: "a reset is not counted",
    replace: [
      {
        file: "component/edges/transitions.ts",
        text: "resets: (job.resets ?? 0) + 1 });",
        by: "resets: job.resets });",
      },
    ],
    finds: ["state machine", "counts"],
    where: ({ parts }) => parts.some((part) => ["worker crash", "lost actions"].includes(part)),
  },
  {
    name: "a session that was lost and comes back is not looked after any more",
    replace: [
      {
        file: "component/rows/sessions.ts",
        text: "const changed = { ...alive(leases, now), acknowledged",
        by: `const changed = { ...alive(leases, now), ...(session.state === "gone" ? { state: "gone" as const } : {}), acknowledged`,
      },
      {
        file: "component/rows/sessions.ts",
        text: "    n: call.n,\n    // A new call acknowledges",
        by: `    ...(session.lane === undefined && session.state === "gone" ? { state: "gone" as const } : {}),\n    n: call.n,\n    // A new call acknowledges`,
      },
    ],
    finds: ["leases"],
    needs: ["worker pause"],
    queues: PULLED,
  },
  {
    name: "any valid token may report on any job that runs",
    replace: [
      {
        file: "component/attempts/report.ts",
        text: "job.attempt !== attempt || job.session !== session) {",
        by: "job.attempt !== attempt || session === undefined) {",
      },
    ],
    finds: ["simulation", "reports"],
    needs: ["liars"],
    queues: PULLED,
  },
  {
    name: "a worker that stops leaves its jobs lying",
    replace: [
      {
        file: "worker/stopping.ts",
        text: `return this.phase === "stopping" && !this.deps.isBusy();`,
        by: `return this.phase === "stopping";`,
      },
    ],
    finds: ["blame"],
    where: isHeard,
    needs: ["worker stop"],
    queues: PULLED,
  },
];
