/** Bugs in the wakes of push queues, and in their lanes. */
import { isOf, PUSHED, type Plan } from "../plan.js";
import type { NewJob } from "../work.js";
import { guard } from "./guards.js";
import { having, type Mutant } from "./mutant.js";

const LOOKS = "an enqueue, and the polling lane, which shuts the door and goes";

/** More than is carried to a lane. */
const LARGE = 64 * 2 ** 10;

/** A job is too large to be carried to its lane. */
function carriesNothing({ events }: Plan): boolean {
  return events.some(
    ({ do: what, queue, jobs }) =>
      what === "producers.enqueue" &&
      isOf(["acted", "inlined", "looked"], queue) &&
      (jobs as NewJob[]).some(({ payload }) => (payload.padding?.length ?? 0) > LARGE),
  );
}

/** Few jobs may run at once, and snapshots are old. */
function isNarrow(plan: Plan): boolean {
  const caps = Object.values(plan.queues).map((one) => one?.maxParallelism ?? Infinity);
  return Math.min(...caps) <= 2 && having("old snapshots.begin", { maxMs: 1_000 })(plan);
}

const planted: readonly Mutant[] = [
  {
    name: "a lane stops looking without a last look",
    shownBy: "tests/interleavings/interleavings.long.test.ts",
    changes: guard(LOOKS, "the wake after the door is shut"),
    finds: ["simulation", "begun"],
    queues: ["acted", "inlined"],
    where: ({ parts }) => parts.includes("old snapshots") || parts.includes("callers"),
  },
  {
    name: "a lane that sleeps says that it looks",
    changes: [{ in: "laneStep.ts:decideNext", without: "quieten" }],
    finds: ["simulation", "parallelism"],
  },
  {
    name: "freed capacity does not check whether a wake waits for it",
    changes: guard(
      "a wake that finds no capacity, and the lane that frees some",
      "the check of freed capacity for a wake that waits",
    ),
    finds: ["simulation"],
  },
  {
    name: "the lanes' caps are not added up",
    changes: [{ in: "lanes.ts:freeOf", from: "sum + cap", to: "Math.max(sum, cap)" }],
    finds: ["parallelism"],
  },
  {
    name: "a wake takes the room of a lane that has begun a job since its look",
    changes: [{ in: "lanes.ts:ifAsleep", condition: `"active"`, is: false }],
    finds: ["parallelism", "leases", "runs as promised", "simulation", "blame"],
  },
  {
    name: "a wake reads the lanes in a snapshot",
    changes: [
      {
        in: "wake.ts:beginWithAll",
        call: "lanesOf",
        gives:
          "await ctx.runQuery((internal as any).push.wake.lanesSeen, { queue: waking.queue.name }, { useStaleSnapshot: true })",
      },
      {
        in: "wake.ts",
        adds: "export const lanesSeen = internalQuery({ args: { queue: v.string() }, handler: (ctx, { queue }) => lanesOf(ctx.db, queue) });",
      },
    ],
    finds: ["parallelism", "simulation"],
    needs: ["old snapshots"],
    where: isNarrow,
  },
  {
    name: "a wake does not ask how old its look is",
    changes: [{ in: "beginLane.ts:takeAndBegin", without: "scheduleWake", with: "WAKE_AGAIN_MS" }],
    finds: ["simulation", "begun"],
    needs: ["old snapshots"],
    queues: PUSHED,
  },
  {
    name: "a lane's capacity is not free when it has gone",
    changes: [{ in: "lostLeases.ts:expireSession", without: "loseLane" }],
    finds: ["simulation", "parallelism"],
    needs: ["lost actions"],
  },
  {
    name: "a lane that has gone counts as alive",
    changes: [
      { in: "lanes.ts:runs", condition: `"pending" "inProgress"`, is: "scheduled !== null" },
    ],
    finds: ["simulation"],
    needs: ["lost actions"],
  },
  {
    name: "a lane does not outlive a restart, and no sweep notices",
    changes: [
      {
        in: "lanes.ts:runs",
        condition: `"pending" "inProgress"`,
        is: `scheduled !== null && scheduled.state.kind !== "canceled"`,
      },
    ],
    finds: ["simulation"],
    needs: ["restarts"],
  },
  {
    name: "a lane to which nothing is carried does not ask for its jobs",
    changes: [{ in: "lane/loop.ts:Loop.constructor", value: "lastAckedCall", is: "start.callSeq" }],
    finds: ["simulation", "begun", "blame", "processes"],
    queues: ["acted", "inlined", "looked"],
    where: carriesNothing,
  },
  {
    name: "a wake arms no janitor",
    changes: [{ in: "beginLane.ts:beginLane", without: "ensureLookedAfter" }],
    finds: ["simulation", "timers"],
  },
  {
    name: "an older lane's call counts as today's",
    changes: guard(
      "a wake that starts a lane anew, and a late call of the lane as it was before",
      "the generation by which an older lane's call is known",
    ),
    finds: ["simulation", "leases", "parallelism", "runs as promised"],
    needs: ["lost schedules"],
    where: having("lost schedules.work"),
  },
  {
    name: "a handler for which there was no permit has failed",
    changes: [{ in: "blameless.ts:blameless", condition: "isBlameless", is: true }],
    finds: ["blame"],
    needs: ["starved"],
    queues: ["acted", "wheel"],
    where: having("starved.occupy", { nested: true }),
  },
  {
    name: "a handler that a deploy has taken away has failed",
    changes: [
      {
        in: "blameless.ts:isBlameless",
        returns: `BLAMELESS.test(messageOf(error).replace(/Could not find function/i, ""))`,
      },
    ],
    finds: ["deploys"],
    needs: ["deploys"],
  },
  {
    name: "a declaration stands for ten seconds, whatever a deploy says meanwhile",
    changes: [
      {
        in: "queues.ts:findDeclared",
        value: "isSettled",
        is: "Math.abs(now - row.configuredAt) >= 10_000",
      },
    ],
    finds: ["simulation", "deploys"],
    needs: ["deploys"],
  },
  {
    name: "a lane that reports a missing handler apart is taken for a worker",
    changes: [{ in: "laneApart.ts:apartOf", from: `"lane"`, to: `"worker"` }],
    finds: ["deploys"],
    needs: ["deploys"],
  },
  {
    name: "the next version refuses the calls of lanes that still run the last one",
    changes: [
      {
        in: "lanes.ts:vLaneStep",
        from: "looks: v.number()",
        to: "looks: v.number(), since: v.number()",
        version: "next",
      },
      {
        in: "lane/loop.ts:Loop.step",
        from: "in: reported",
        to: "in: reported, since: this.start.callSeq",
        version: "next",
      },
    ],
    finds: ["simulation"],
    needs: ["new version"],
  },
  {
    name: "a lane is given a job that it has already begun",
    changes: [
      {
        in: "laneStep.ts:goOn",
        call: "leasedBefore",
        gives: "await leasedBefore(ctx, session, args.lastAckedCall)",
      },
    ],
    finds: ["runs as promised"],
  },
  {
    name: "the end of a pause schedules no wake",
    changes: guard(
      "the end of a pause, and an enqueue into a push queue",
      "the wake that the end of a pause schedules",
    ),
    finds: ["simulation"],
    where: having("operators.queue", { how: "pause" }),
    needs: ["operators"],
  },
  {
    name: "a job that falls due sends no wake",
    changes: [{ in: "pendingPlace.ts:pendingPlace", without: "ofJobs.push" }],
    finds: ["simulation"],
  },
];

export const LANES: readonly Mutant[] = planted.map((one) => ({ queues: PUSHED, ...one }));

/** Lanes that a snapshot shows. */
export const LANES_SEEN: readonly Mutant[] = [
  {
    name: "a lane that sleeps has the cap that a snapshot shows",
    changes: [{ in: "wake.ts:beginWithAll", call: "withCaps", gives: "waking.seen.asleep" }],
    finds: ["begun", "parallelism"],
    needs: ["old snapshots"],
  },
];
