/** Draws the plan of a seed: see `plan.ts`. */
import { Draw } from "./draw.js";
import { drawLarge, isLarge } from "./large.js";
import { newVersion } from "./faults/newVersion.js";
import { drawOverrides } from "./overrides.js";
import { PARTS } from "./parts.js";
import { BESIDE_CREW, drawCrew } from "./workloads/onCall.js";
import { BESIDE_CROWD, drawCrowd } from "./workloads/crowd.js";
import { batches, drawBatches } from "./workloads/batches.js";
import { deploys } from "./workloads/deploys.js";
import {
  CIRCULAR,
  isOf,
  PULLED,
  PUSHED,
  type Plan,
  type QueueName,
  type WorkerSpec,
} from "./plan.js";

export interface DrawOptions {
  /** Only these parts, instead of the seed's own. */
  only?: readonly string[];
}

export function drawPlan(seed: number, { only }: DrawOptions = {}): Plan {
  const draw = new Draw(seed, "plan");
  const queues = drawQueues(draw);
  const many = new Draw(seed, "crowd of queues");
  // Beside a ring the largest worlds would not end within their events.
  const crew = isLarge(seed) ? null : drawCrew(seed);
  const crowd = usesRings(queues) || isLarge(seed) || crew !== null ? {} : drawCrowd(many);
  const isCrowd = Object.keys(crowd).length > 0;
  const plan: Plan = {
    seed,
    class: draw.chance(0.8) ? "s16" : "s256",
    jitter: draw.pick([0, 0.5, 0.5, 1.2]),
    queues,
    crowd,
    workers: drawWorkers(draw, Object.keys(queues) as QueueName[]),
    parts: [],
    faultsMs: draw.pick(
      usesRings(queues) ? [2_000, 4_000, 8_000] : [3_000, 5_000, 8_000, 15_000, 40_000],
    ),
    events: [],
  };
  if (isLarge(seed)) Object.assign(plan, drawLarge(new Draw(seed, "large")));
  if (isCrowd) plan.class = many.pick(["s16", "s16", "s256", "d1024"]);
  if (isCrowd) plan.faultsMs = many.pick([8_000, 15_000, 30_000]);
  if (crew !== null) Object.assign(plan, crew);
  const candidates = PARTS.filter((part) => part.fits === undefined || part.fits(plan));
  plan.parts = candidates
    .filter(({ name, chance = 0.5 }) => new Draw(seed, `${name} is on`).chance(chance))
    .map(({ name }) => name)
    .filter((name) => only === undefined || only.includes(name))
    .filter((name) => !isCrowd || BESIDE_CROWD.includes(name))
    .filter((name) => crew === null || BESIDE_CREW.includes(name));
  // Each part adds its events to the plan.
  if (plan.parts.includes(deploys.name))
    plan.parts = plan.parts.filter((name) => name !== newVersion.name);
  const parts = PARTS.filter(({ name }) => plan.parts.includes(name));
  if (parts.includes(batches)) plan.workers = drawBatches(new Draw(seed, "batches"), plan.workers);
  plan.workers.push(...parts.flatMap(({ serves = [] }) => serves));
  for (const part of parts) {
    plan.events.push(...part.plan(new Draw(seed, part.name), plan));
  }
  plan.events.sort((a, b) => a.at - b.at);
  return plan;
}

/**
 * Items of rings are processed without end: the longest phase, which gives late functions time to be noticed, is for queues
 * without rings.
 */
function usesRings(queues: Plan["queues"]): boolean {
  return CIRCULAR.some((name) => queues[name] !== undefined);
}

/** One or two, so that a seed's events concern few queues. */
function drawQueues(draw: Draw): Plan["queues"] {
  const count = draw.pick([1, 1, 1, 2]);
  const names = new Set<QueueName>();
  while (names.size < count) names.add(draw.pick([...PULLED, ...PUSHED]));
  return Object.fromEntries([...names].map((name) => [name, drawOverrides(draw, name)]));
}

function drawWorkers(draw: Draw, names: readonly QueueName[]): WorkerSpec[] {
  const served = names.filter((name) => isOf(PULLED, name));
  if (served.length === 0) return [];
  const count = draw.pick([1, 2, 2, 3]);
  return Array.from({ length: count }, (_, i) => ({
    name: `worker ${i + 1}`,
    queues: i === 0 ? served : draw.chance(0.7) ? served : [draw.pick(served)],
    concurrency: draw.pick([1, 2, 5]),
    // The first may do everything: nothing waits for want of a worker for ever.
    labels: i === 0 ? ["gpu", "eu"] : draw.some(["gpu", "eu"], 0.5),
    ...(i > 0 && draw.chance(0.2) ? { maxCost: 4 } : {}),
    ...(i > 0 && draw.chance(0.15) ? { groups: ["group 0"] } : {}),
  }));
}
