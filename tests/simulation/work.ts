/** A simulation's jobs: how their handlers behave at each attempt, and the options of their enqueue. */
import type { Turn, Work } from "./app/payload.js";
import { Draw } from "./draw.js";
import { isOf, kindOf, PULLED, SERVED, usedQueues, type Plan, type QueueName } from "./plan.js";

export interface NewJob {
  payload: Work;
  options: Record<string, unknown>;
}

/** Its number is unique: each workload has a thousand of its own. */
export function newJob(draw: Draw, plan: Plan, queue: QueueName, n: number): NewJob {
  return { payload: drawWork(draw, plan, n), options: drawOptions(draw, plan, queue, n) };
}

export function drawWork(draw: Draw, plan: Plan, n: number): Work {
  const turns: Turn[] = Array.from({ length: draw.pick([1, 1, 2]) }, () => drawTurn(draw, plan));
  // A job that hangs or snoozes for ever would never end: the last turn of every job returns or throws.
  turns.push({ ms: draw.pick([0, 20, 200]), end: draw.chance(0.8) ? "returns" : "throws" });
  return {
    n,
    turns,
    ...(draw.chance(0.05) && { padding: "x".repeat(draw.pick([600, 9_000, 80_000])) }),
  };
}

const TIMES_MS = [0, 0, 30, 200, 1_500, 5_000];
/** Of a large world: long backlogs are processed soon. */
const SHORTER_MS = [0, 0, 0, 30, 30, 200, 200, 1_500];

function drawTurn(draw: Draw, plan: Plan): Turn {
  // Jobs that continue a job go to a queue of programs outside.
  const continues = usedQueues(plan).includes("pulled") ? (["continues"] as const) : [];
  const end = draw.chance(0.6)
    ? "returns"
    : draw.pick([
        "throws",
        "throws",
        "throwsForGood",
        "throwsUntil",
        "snoozes",
        "hangs",
        "returnsBadly",
        "throwsText",
        ...(draw.chance(0.2) ? (["goesTooFar"] as const) : []),
        ...continues,
      ] as const);
  return {
    ms: draw.pick(plan.jobs === undefined ? TIMES_MS : SHORTER_MS),
    end,
    ...(draw.chance(0.25) && { talks: true }),
    ...(draw.chance(0.3) && { listens: true }),
  };
}

/** Shares few keys, groups and labels among many jobs, so that they conflict. */
export function drawOptions(
  draw: Draw,
  plan: Plan,
  queue: QueueName,
  n: number,
): Record<string, unknown> {
  const options: Record<string, unknown> = {};
  if (draw.chance(0.2)) options["runAfter"] = draw.pick([0, 100, 1_000, 5_000, 30_000]);
  if (draw.chance(0.2)) options["priority"] = draw.pick(prioritiesOf(plan, queue));
  if (draw.chance(0.2)) {
    const value = `key ${draw.below(plan.jobs ?? 2)}`;
    const windowMs = draw.chance(0.3) ? draw.pick([500, 5_000]) : undefined;
    const onConflict = draw.pick(["existing", "replace", "refuse"]);
    options["key"] = { value, onConflict, ...(windowMs !== undefined && { windowMs }) };
  }
  if (draw.chance(0.1)) options["group"] = `group ${draw.below(2)}`;
  if (draw.chance(0.1)) options["tags"] = [`tag ${draw.below(2)}`];
  if (mayHaveLabels(plan, queue) && draw.chance(0.1)) {
    options["labels"] = draw.some(["gpu", "eu"], 0.7);
  }
  if (draw.chance(0.1)) options["cost"] = draw.pick([1, 2, 5]);
  if (draw.chance(0.1)) options["timeoutMs"] = draw.pick([1_000, 4_000]);
  if (draw.chance(0.1)) options["maxResets"] = draw.pick([0, 2]);
  if (draw.chance(0.1)) options["expiresAfterMs"] = draw.pick([1_000, 20_000]);
  if (draw.chance(0.1)) options["context"] = { of: n };
  if (draw.chance(0.1)) options["name"] = `job ${n}`;
  if (draw.chance(0.1)) options["onCompleteExclude"] = [draw.pick(["canceled", "succeeded"])];
  return options;
}

/** All 21 in some queues of a large world, and two in most, since claims scan each priority. */
function prioritiesOf({ jobs, seed }: Plan, queue: QueueName): number[] {
  if (jobs === undefined) return [-10, -1, 1, 10];
  const draw = new Draw(seed, `priorities of ${queue}`);
  const all = Array.from({ length: 21 }, (_, i) => i - 10);
  return draw.chance(0.05) ? all : [draw.pick(all), draw.pick(all)];
}

/** Lanes have none: in a large world programs serve queues of actions too, for such jobs. */
function mayHaveLabels({ jobs }: Plan, queue: QueueName): boolean {
  if (jobs !== undefined) return isOf(SERVED, queue);
  return isOf(PULLED, queue) && kindOf(queue) !== "mixed";
}
