/** Bugs in leases: the session of a job, the lease's length, and the detection of a lost session. */
import { isHeard } from "../checkers/heard.js";
import { PULLED } from "../plan.js";
import { guard } from "./guards.js";
import { having, type Mutant } from "./mutant.js";

export const HOLDING: readonly Mutant[] = [
  {
    name: "any attempt of a job is its session's to report",
    changes: guard("late words of a lost attempt, and the claim of the next", "fencing by attempt"),
    finds: ["simulation", "leases", "runs as promised", "counts"],
    needs: ["liars"],
    where: having("liars.own"),
    queues: PULLED,
  },
  {
    name: "a sweep ends the leases of a worker that has beaten meanwhile",
    changes: guard(
      "a beat, and the sweep that ends its session's leases",
      "the second check whether the session has expired",
    ),
    finds: ["leases", "blame"],
    needs: ["old snapshots"],
    queues: PULLED,
  },
  {
    name: "a session that is checked before its lease is over has lost it",
    changes: [
      {
        in: "lostLeases.ts:isGone",
        returns:
          "lostAt(leases, lastSeenAt) < now || !leases.some((held) => isOverlong(held, now))",
      },
    ],
    finds: ["blame"],
    queues: PULLED,
  },
  {
    name: "the leases of a lost worker are never ended",
    changes: [{ in: "janitor.ts:sweepOnce", without: "endLeases" }],
    finds: ["simulation", "timers"],
    needs: ["worker crash"],
    queues: PULLED,
  },
  {
    name: "a claim arms no janitor",
    changes: [{ in: "claim.ts:claim", without: "ensureJanitor" }],
    finds: ["simulation", "timers"],
    queues: PULLED,
  },
  {
    name: "the janitor goes while something is leased",
    changes: guard(
      "a claim, and the sweep that disarms",
      "the real read of the sessions before a sweep arms its next, or goes",
    ),
    finds: ["simulation", "timers"],
  },
  {
    name: "a timer that is dead counts for ever",
    changes: [{ in: "loop.ts:isOverdue", returns: "now > timer.dueAt + 1_000 * 60 * 60" }],
    finds: ["simulation", "timers"],
    needs: ["lost schedules"],
  },
  {
    name: "a job may lose one worker more than maxResets",
    changes: [
      { in: "lostLeases.ts:endLost", condition: "resets maxResets", is: "resets <= maxResets" },
    ],
    finds: ["counts"],
  },
  {
    name: "a reset is not counted",
    changes: [{ in: "transitions.ts:reset", value: "resets", is: "job.resets" }],
    finds: ["state machine", "counts"],
    where: ({ parts }) => parts.some((part) => ["worker crash", "lost actions"].includes(part)),
  },
  {
    name: "a session that was lost and comes back is not looked after any more",
    changes: [
      {
        in: "sessions.ts:renew",
        call: "alive",
        gives: `{ ...$it, ...(session.state === "gone" ? { state: "gone" as const } : {}) }`,
      },
      {
        in: "sessions.ts:closeCall",
        call: "alive",
        gives: `{ ...$it, ...(session.state === "gone" ? { state: "gone" as const } : {}) }`,
      },
    ],
    finds: ["leases"],
    needs: ["worker pause"],
    queues: PULLED,
  },
  {
    name: "any valid token may report on any job that runs",
    changes: [{ in: "report.ts:judgeLease", condition: "session", is: false }],
    finds: ["simulation", "reports"],
    needs: ["liars"],
    queues: PULLED,
  },
  {
    name: "a worker that stops leaves its jobs lying",
    changes: [{ in: "stopping.ts:Stopping.isOver", condition: "isBusy", is: true }],
    finds: ["blame"],
    where: isHeard,
    needs: ["worker stop"],
    queues: PULLED,
  },
];
