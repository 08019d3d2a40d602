/**
 * Large worlds, which every tenth seed plays: hundreds of jobs in up to 200 queues of all kinds, with all priorities and labels,
 * on every class, and dozens of programs that come and go. Faults that need many jobs show here: a limit that is reached, a
 * notification that reaches only some programs.
 */
import { QUEUES_MAX } from "../../src/shared/index.js";
import { DEPLOYMENT_CLASSES } from "../../local/functions/classes.js";
import type { Draw } from "./draw.js";
import { NUMBERS, type Kind } from "./app/names.js";
import { drawOverrides } from "./overrides.js";
import { CIRCULAR, isOf, PULLED, PUSHED, SERVED } from "./plan.js";
import type { Plan, QueueName, WorkerSpec } from "./plan.js";

const EVERY = 10;
const JOBS = [100, 100, 100, 100, 100, 150, 150, 200, 300, 1_000];
const QUEUES = [2, 5, 10, 20, 40, 80, 140, 200];
const WORKERS = [2, 4, 8, 16, 30];
const RINGS_MAX = 2;

export const isLarge = (seed: number): boolean => seed % EVERY === 0;

export function drawLarge(
  draw: Draw,
): Pick<Plan, "jobs" | "queues" | "class" | "workers" | "faultsMs"> {
  const jobs = draw.pick(JOBS);
  const queues = drawQueues(draw, Math.min(draw.pick(QUEUES), jobs));
  return {
    jobs,
    queues,
    class: draw.pick(["s16", ...DEPLOYMENT_CLASSES]),
    workers: drawFleet(draw, Object.keys(queues) as QueueName[]),
    faultsMs: draw.pick([10_000, 20_000, 40_000]),
  };
}

/** Rings are few: their items are processed all the time. Jobs that continue a job go to `pulled`. */
function drawQueues(draw: Draw, count: number): Plan["queues"] {
  const kinds: Kind[] = [...new Set([...PULLED, ...PUSHED])];
  const names = new Set<QueueName>(["pulled"]);
  let rings = 0;
  while (names.size < count) {
    const kind = draw.pick(kinds);
    if (CIRCULAR.includes(kind) && ++rings > RINGS_MAX) continue;
    names.add(`${kind}${draw.between(1, NUMBERS)}`);
  }
  return Object.fromEntries([...names].map((name) => [name, drawOverrides(draw, name)]));
}

/** The first of them serve all queues together, and may do everything: nothing waits for want of a worker for ever. */
function drawFleet(draw: Draw, queues: readonly QueueName[]): WorkerSpec[] {
  const served = queues.filter((name) => isOf(SERVED, name));
  const able = Array.from({ length: Math.ceil(served.length / QUEUES_MAX) }, (_, i) =>
    served.slice(i * QUEUES_MAX, (i + 1) * QUEUES_MAX),
  );
  const more = Math.max(1, draw.pick(WORKERS) - able.length);
  return [
    ...able.map((of) => ({
      queues: of,
      labels: ["gpu", "eu"],
      concurrency: draw.pick([5, 20, 50]),
    })),
    ...Array.from({ length: more }, () => ({
      queues: drawSome(draw, served),
      labels: draw.some(["gpu", "eu"], 0.5),
      concurrency: draw.pick([1, 2, 5, 20]),
      ...(draw.chance(0.2) ? { maxCost: 4 } : {}),
      ...(draw.chance(0.15) ? { groups: ["group 0"] } : {}),
    })),
  ].map((spec, i) => ({ name: `worker ${i + 1}`, ...spec }));
}

function drawSome(draw: Draw, served: readonly QueueName[]): QueueName[] {
  const count = Math.min(served.length, draw.pick([1, 3, 10, QUEUES_MAX]));
  const from = draw.below(served.length);
  return Array.from({ length: count }, (_, i) => served[(from + i) % served.length]!);
}
