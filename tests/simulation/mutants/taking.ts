/** Bugs in how a job is taken, and in cursors. */
import { PULLED, PUSHED } from "../plan.js";
import { guard } from "./guards.js";
import { having, type Mutant } from "./mutant.js";

export const TAKING: readonly Mutant[] = [
  {
    name: "a job that comes back keeps its old seq",
    changes: guard(
      "a claim that passes its cursor, and a release of a job that it has passed",
      "a new seq for a job that comes back",
    ),
    finds: ["state machine"],
  },
  {
    name: "a claim's cursor passes jobs that it has seen and not taken",
    changes: [{ in: "nextCursor.ts:deadBelow", condition: "isLeft", is: false }],
    finds: ["simulation", "cursors"],
  },
  {
    name: "a cursor goes on after the whole transaction of the last job taken",
    changes: guard(
      "a claim that goes on within a batch, and a claim of another",
      "the creation time in a cursor",
    ),
    finds: ["simulation", "cursors"],
  },
  {
    name: "a cursor is published above jobs that wait",
    changes: [{ in: "publishPlan.ts:boundsOf", condition: "first isWhole", is: "isWhole" }],
    finds: ["simulation", "cursors"],
  },
  {
    name: "a cursor is published up to now, not up to the snapshot",
    changes: [
      {
        in: "publishPlan.ts:boundsOf",
        call: "afterCommit",
        gives: "afterCommit(BigInt(Math.floor(Date.now())) * 1_000_000n)",
      },
    ],
    finds: ["cursors"],
    needs: ["old snapshots"],
  },
  {
    name: "the priorities' order is written as a negative number, and looked for as a positive one",
    changes: [
      {
        in: "pendingPlace.ts:placeFor",
        from: "goesFirst ? first : second",
        to: "first < 0 ? first : -2 * (job.priority ?? 0) + (goesFirst ? -0 : 1)",
      },
      { in: "order.ts:pendingOrder", from: "PRIORITY_MAX - priority", to: "0 - priority" },
    ],
    finds: ["simulation", "cursors"],
  },
  {
    name: "lower priorities go first",
    changes: [
      {
        in: "order.ts:pendingOrder",
        from: "PRIORITY_MAX - priority",
        to: "PRIORITY_MAX + priority",
      },
    ],
    finds: ["order"],
  },
  {
    name: "an item of a ring that has come round goes first again",
    changes: [{ in: "pendingPlace.ts:placeFor", condition: "rounds", is: true }],
    finds: ["order", "simulation"],
    queues: ["ring"],
  },
  {
    name: "a paused queue is claimed from",
    changes: [
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
    changes: [
      { in: "wake.ts:wake", condition: "isPaused", is: false },
      { in: "wakes.ts:needsWake", condition: "isPaused", is: false },
      { in: "mayTake.ts:mayTake", condition: "isPaused", is: false },
    ],
    finds: ["paused"],
    needs: ["operators"],
    queues: PUSHED,
    where: having("operators.queue", { how: "pause" }),
  },
  {
    name: "a queue that drains takes new jobs",
    changes: guard("a drain of a queue, and an enqueue", "refusing jobs of a queue that drains"),
    where: having("operators.queue", { how: "drain" }),
    finds: ["paused"],
    needs: ["operators"],
  },
  {
    name: "a paused job stays where claims look",
    changes: [
      {
        in: "transitions.ts:pause",
        from: "order: ORDER_PAUSED",
        to: "order: job.order, shard: job.shard",
      },
      { in: "mayTake.ts:isClaimable", condition: "paused", is: true },
    ],
    finds: ["paused"],
    needs: ["operators"],
    where: having("operators.job", { how: "pauseJob" }),
  },
  {
    name: "a job past its time is begun all the same",
    changes: [{ in: "mayTake.ts:mayTake", condition: "isOutOfTime", is: false }],
    finds: ["timers", "counts"],
  },
  {
    name: "an operator's overrides are forgotten",
    changes: guard(
      "a change of a queue's configuration, and a claim",
      "an override winning over the declaration",
    ),
    finds: ["parallelism", "counts", "retention"],
  },
  {
    name: "a wake takes its job without looking whether it is still to be had",
    changes: [
      { in: "wake.ts:wakeOne", condition: "isClaimable", is: true },
      { in: "mayTake.ts:mayTake", condition: "isClaimable", is: false },
    ],
    finds: ["no surprises", "simulation"],
    queues: PUSHED,
  },
];
