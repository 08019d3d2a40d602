/**
 * Cuts leave parts of a plan out, to make it smaller. A cut is a short text, so that a line of them replays the rest:
 * `part:restarts`, `event:12` (as the seed's own plan numbers them), `job:12.3`, `worker:worker 2`, `even` (all work takes the
 * same time). Times stay as they are.
 */
import type { NewJob } from "./work.js";
import type { Plan, Planned } from "./plan.js";

export type Cut = string;

const ENQUEUES = "producers.enqueue";

export function cutPlan(plan: Plan, cuts: readonly Cut[]): Plan {
  const gone = new Set(cuts);
  const events = plan.events.flatMap((event, i): Planned[] => {
    const part = event.do.split(".")[0]!;
    if (gone.has(`event:${i}`) || gone.has(`part:${part}`)) return [];
    if (event.do !== ENQUEUES) return [event];
    const jobs = jobsOf(event).filter((_, k) => !gone.has(`job:${i}.${k}`));
    return jobs.length === 0 ? [] : [{ ...event, jobs }];
  });
  return {
    ...plan,
    events,
    parts: plan.parts.filter((part) => !gone.has(`part:${part}`)),
    workers: plan.workers.filter(({ name }) => !gone.has(`worker:${name}`)),
    ...(gone.has("even") && { jitter: 0 }),
  };
}

/** All that could be left out, the largest first. */
export function candidates(plan: Plan): Cut[] {
  return [
    ...plan.parts.filter((part) => part !== "producers").map((part) => `part:${part}`),
    // The first worker serves queues that no other worker serves.
    ...plan.workers.slice(1).map(({ name }) => `worker:${name}`),
    ...plan.events.map((_, i) => `event:${i}`),
    ...plan.events.flatMap((event, i) =>
      event.do === ENQUEUES && jobsOf(event).length > 1
        ? jobsOf(event).map((_, k) => `job:${i}.${k}`)
        : [],
    ),
    "even",
  ];
}

function jobsOf(event: Planned): NewJob[] {
  return event["jobs"] as NewJob[];
}
