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
    isUnfound: true,
    replace: guard(LOOKS, "the wake after the door is shut"),
    finds: ["simulation", "begun"],
    queues: ["acted", "inlined"],
    where: ({ parts }) => parts.includes("old snapshots") || parts.includes("callers"),
  },
  {
    name: "a lane that sleeps says that it looks",
    replace: [
      {
        file: "component/push/laneStep.ts",
        text: `  if (guards) await quieten(ctx, gate, queue);
  return held`,
        by: `  return held`,
      },
    ],
    finds: ["simulation", "parallelism"],
  },
  {
    name: "freed capacity does not check whether a wake waits for it",
    replace: guard(
      "a wake that finds no capacity, and the lane that frees some",
      "the check of freed capacity for a wake that waits",
    ),
    finds: ["simulation"],
  },
  {
    name: "the lanes' caps are not added up",
    replace: [
      {
        file: "component/push/lanes.ts",
        text: "lanes.reduce((sum, { cap }) => sum + cap, 0);\n}",
        by: "lanes.reduce((sum, { cap }) => Math.max(sum, cap), 0);\n}",
      },
    ],
    finds: ["parallelism"],
  },
  {
    name: "a wake takes the room of a lane that has begun a job since its look",
    replace: [
      {
        file: "component/push/lanes.ts",
        text: `return lane === null || session === null || session.state === "active" ? null : { lane, session };`,
        by: "return lane === null || session === null ? null : { lane, session };",
      },
    ],
    finds: ["parallelism", "leases", "runs as promised", "simulation", "blame"],
  },
  {
    name: "a wake reads the lanes in a snapshot",
    replace: [
      {
        file: "component/push/wake.ts",
        text: "const lanes = await lanesOf(ctx.db, waking.queue.name);",
        by: "const lanes: Lane[] = await ctx.runQuery((internal as any).push.wake.lanesSeen, { queue: waking.queue.name }, { useStaleSnapshot: true });",
      },
      {
        file: "component/push/wake.ts",
        text: "interface NotBegun {",
        by: "export const lanesSeen = internalQuery({ args: { queue: v.string() }, handler: (ctx, { queue }) => lanesOf(ctx.db, queue) });\ninterface NotBegun {",
      },
    ],
    finds: ["parallelism", "simulation"],
    needs: ["old snapshots"],
    where: isNarrow,
  },
  {
    name: "a wake does not ask how old its look is",
    replace: [
      {
        file: "component/push/beginLane.ts",
        text: "if (!snapshotIsFresh) await scheduleWake(ctx, queue, due, WAKE_AGAIN_MS);",
        by: "",
      },
    ],
    finds: ["simulation", "begun"],
    needs: ["old snapshots"],
    queues: PUSHED,
  },
  {
    name: "a lane's capacity is not free when it has gone",
    replace: [
      {
        file: "component/tend/lostLeases.ts",
        text: "if (isLost && session.lane !== undefined) await loseLane(ctx, session.lane);",
        by: "",
      },
    ],
    finds: ["simulation", "parallelism"],
    needs: ["lost actions"],
  },
  {
    name: "a lane that has gone counts as alive",
    replace: [
      {
        file: "component/push/lanes.ts",
        text: `return scheduled?.state.kind === "pending" || scheduled?.state.kind === "inProgress";`,
        by: `return scheduled !== null;`,
      },
    ],
    finds: ["simulation"],
    needs: ["lost actions"],
  },
  {
    name: "a lane does not outlive a restart, and no sweep notices",
    replace: [
      {
        file: "component/push/lanes.ts",
        text: `return scheduled?.state.kind === "pending" || scheduled?.state.kind === "inProgress";`,
        by: `return scheduled !== null && scheduled.state.kind !== "canceled";`,
      },
    ],
    finds: ["simulation"],
    needs: ["restarts"],
  },
  {
    name: "a lane to which nothing is carried does not ask for its jobs",
    replace: [
      {
        file: "lane/loop.ts",
        text: "this.heard = start.heard ?? start.n;",
        by: "this.heard = start.n;",
      },
    ],
    finds: ["simulation", "begun", "blame", "processes"],
    queues: ["acted", "inlined", "looked"],
    where: carriesNothing,
  },
  {
    name: "a wake arms no janitor",
    replace: [
      {
        file: "component/push/beginLane.ts",
        text: "await ensureLookedAfter(ctx, session, { isDone, timers, expiresAt, taken, now });",
        by: "undefined;",
      },
      {
        file: "component/push/laneStep.ts",
        text: "if (!isAwake) await comeToRest(ctx, lane, session, now);",
        by: "if (isAwake) void 0;\n  else if (!isAwake) await comeToRest(ctx, lane, session, now);",
      },
    ],
    finds: ["simulation", "timers"],
  },
  {
    name: "an older lane's call counts as today's",
    replace: guard(
      "a wake that starts a lane anew, and a late call of the lane as it was before",
      "the generation by which an older lane's call is known",
    ),
    finds: ["simulation", "leases", "parallelism", "runs as promised"],
    needs: ["lost schedules"],
    where: having("lost schedules.work"),
  },
  {
    name: "a handler for which there was no permit has failed",
    replace: [
      {
        file: "lane/blameless.ts",
        text: "if (!isBlameless(error)) return null;",
        by: "if (messageOf(error) !== null) return null;",
      },
    ],
    finds: ["blame"],
    needs: ["starved"],
    queues: ["acted", "wheel"],
    where: having("starved.occupy", { nested: true }),
  },
  {
    name: "a handler that a deploy has taken away has failed",
    replace: [{ file: "lane/blameless.ts", text: "Could not find function|", by: "" }],
    finds: ["deploys"],
    needs: ["deploys"],
  },
  {
    name: "the next version refuses the calls of lanes that still run the last one",
    replace: [
      {
        ...{ file: "shared/lanes.ts", version: "next" },
        text: "  looks: v.number(),\n  /** Attempts that",
        by: "  looks: v.number(),\n  since: v.number(),\n  /** Attempts that",
      },
      {
        ...{ file: "lane/loop.ts", version: "next" },
        text: "looks: this.looks, in: said },",
        by: "looks: this.looks, in: said, since: this.start.n } as any,",
      },
    ],
    finds: ["simulation"],
    needs: ["new version"],
  },
  {
    name: "a lane is given a job that it has already begun",
    replace: [
      {
        file: "component/push/laneStep.ts",
        text: "const missed = await leasedBefore(ctx, session, args.heard + 1);\n  const ruled",
        by: "const missed = await leasedBefore(ctx, session, args.heard);\n  const ruled",
      },
    ],
    finds: ["runs as promised"],
  },
  {
    name: "the end of a pause schedules no wake",
    replace: guard(
      "the end of a pause, and an enqueue into a push queue",
      "the wake that the end of a pause schedules",
    ),
    finds: ["simulation"],
    where: having("operators.queue", { how: "pause" }),
    needs: ["operators"],
  },
  {
    name: "a job that falls due sends no wake",
    replace: [
      {
        file: "component/edges/transitions.ts",
        text: "if (wake !== null) wakesOf(ctx.effects, queue).ofJobs.push({ job: job._id, wake, isNew: false });\n  return place;",
        by: "return place;",
      },
    ],
    finds: ["simulation"],
  },
];

export const LANES: readonly Mutant[] = planted.map((one) => ({ queues: PUSHED, ...one }));
