/** Bugs in how a job is taken, and in cursors. */
import { PULLED, PUSHED } from "../plan.js";
import { guard } from "./guards.js";
import { having, type Mutant } from "./mutant.js";

export const TAKING: readonly Mutant[] = [
  {
    name: "a job that comes back keeps its old seq",
    replace: guard(
      "a claim that passes its cursor, and a release of a job that it has passed",
      "a new seq for a job that comes back",
    ),
    finds: ["state machine"],
  },
  {
    name: "a claim's cursor passes jobs that it has seen and not taken",
    replace: [
      {
        file: "component/claim/nextCursor.ts",
        text: "if (isLeft && !(passesDear && row.isDear)) return below;",
        by: "",
      },
    ],
    finds: ["simulation", "cursors"],
  },
  {
    name: "a cursor goes on after the whole transaction of the last job taken",
    replace: guard(
      "a claim that goes on within a batch, and a claim of another",
      "the creation time in a cursor",
    ),
    finds: ["simulation", "cursors"],
  },
  {
    name: "a cursor is published above jobs that wait",
    replace: [
      {
        file: "component/tend/sweepPlan.ts",
        text: "if (first === undefined && isWhole) continue;",
        by: "if (isWhole) continue;",
      },
    ],
    finds: ["simulation", "cursors"],
  },
  {
    name: "a cursor is published up to now, not up to the snapshot",
    replace: [
      {
        file: "component/tend/sweepPlan.ts",
        text: "const end = snapshot === null ? null : afterCommit(snapshot);",
        by: "const end = snapshot === null ? null : afterCommit(BigInt(Math.floor(Date.now())) * 1_000_000n);",
      },
    ],
    finds: ["cursors"],
    needs: ["old snapshots"],
  },
  {
    name: "the priorities' order is written as a negative number, and looked for as a positive one",
    replace: [
      {
        file: "component/edges/transitions.ts",
        text: "return { order: goesFirst ? first : second, shard };",
        by: "return { order: first < 0 ? first : -2 * (job.priority ?? 0) + (goesFirst ? -0 : 1), shard };",
      },
      {
        file: "shared/order.ts",
        text: "return 2 * (PRIORITY_MAX - priority) + (returned ? 0 : 1);",
        by: "return 0 - 2 * priority + (returned ? 0 : 1);",
      },
    ],
    finds: ["simulation", "cursors"],
  },
  {
    name: "lower priorities go first",
    replace: [
      {
        file: "shared/order.ts",
        text: "2 * (PRIORITY_MAX - priority)",
        by: "2 * (PRIORITY_MAX + priority)",
      },
    ],
    finds: ["order"],
  },
  {
    name: "an item of a ring that has come round goes first again",
    replace: [
      {
        file: "component/edges/transitions.ts",
        text: "(circular && (job.rounds ?? 0) === 0)",
        by: "circular",
      },
    ],
    finds: ["order", "simulation"],
    queues: ["ring"],
  },
  {
    name: "a paused queue is claimed from",
    replace: [
      ...guard("a pause of a queue, and a claim", "leaving out queues that are paused"),
      ...guard(
        "the end of a pause, an enqueue, and an idle worker's subscription",
        "reading in hasWork whether the queue is paused",
      ),
    ],
    where: having("operators.queue", { how: "pause" }),
    finds: ["paused"],
    needs: ["operators"],
    queues: PULLED,
  },
  {
    name: "a wake starts a lane for a paused queue",
    replace: [
      {
        file: "component/push/wake.ts",
        text: "if (queue === null || queue.isPaused || !queue.config.push) return null;",
        by: "if (queue === null || !queue.config.push) return null;",
      },
      {
        file: "component/edges/wakes.ts",
        text: "if (!queue.config.push || queue.isPaused || place.order",
        by: "if (!queue.config.push || place.order",
      },
      {
        file: "component/edges/mayTake.ts",
        text: "queue === undefined || queue.isPaused ||",
        by: "queue === undefined ||",
      },
    ],
    finds: ["paused"],
    needs: ["operators"],
    queues: PUSHED,
    where: having("operators.queue", { how: "pause" }),
  },
  {
    name: "a queue that drains takes new jobs",
    replace: guard("a drain of a queue, and an enqueue", "refusing jobs of a queue that drains"),
    where: having("operators.queue", { how: "drain" }),
    finds: ["paused"],
    needs: ["operators"],
  },
  {
    name: "a paused job stays where claims look",
    replace: [
      {
        file: "component/edges/transitions.ts",
        text: `return await move(db, job, "pause", { order: ORDER_PAUSED, paused: true });`,
        by: `return await move(db, job, "pause", { order: job.order, shard: job.shard, paused: true });`,
      },
      {
        file: "component/edges/mayTake.ts",
        text: `return status === "pending" && paused !== true;`,
        by: `return status === "pending" && (paused === true || paused !== true);`,
      },
    ],
    finds: ["paused"],
    needs: ["operators"],
    where: having("operators.job", { how: "pauseJob" }),
  },
  {
    name: "a job past its time is begun all the same",
    replace: [
      {
        file: "component/edges/mayTake.ts",
        text: "if (isOutOfTime(job, now)) return",
        by: "if (isOutOfTime(job, Infinity) && now < 0) return",
      },
    ],
    finds: ["timers", "counts"],
  },
  {
    name: "an operator's overrides are forgotten",
    replace: guard(
      "a change of a queue's configuration, and a claim",
      "an override winning over the declaration",
    ),
    finds: ["parallelism", "counts", "retention"],
  },
  {
    name: "a wake takes its job without looking whether it is still to be had",
    replace: [
      {
        file: "component/push/wake.ts",
        text: "const own = row !== undefined && row !== null && isClaimable(row) ? row : null;",
        by: "const own = row !== undefined && row !== null && (row.paused === true || !isClaimable(row) || isClaimable(row)) ? row : null;",
      },
      {
        file: "component/edges/mayTake.ts",
        text: "queue.isPaused || !isClaimable(job)",
        by: "queue.isPaused",
      },
    ],
    finds: ["no surprises", "simulation"],
    queues: PUSHED,
  },
];
