/** Many push queues, of all sorts at once: hot, quiet, long, hanging, failing and with a backlog. */
import type { QueueOverrides } from "../../../src/shared/index.js";
import type { Draw } from "../draw.js";
import type { Part } from "../part.js";
import type { CrowdName, Plan, Planned } from "../plan.js";

/** Larger than the numbers of all other workloads; callbacks with such numbers touch no row of the app's. */
const FIRST_N = 30_001;
const STEP_N = 3;
/** Jobs of one seed at most: so many are some 20,000 events. */
const JOBS_MAX = 160;
const SECOND = 1_000;
/** Of each queue, where all have backlogs at once that take all places of the class. */
const WIDE = 25;
const HOW = ["quiet", "quiet", "hot", "hot", "long", "hanging", "failing", "backlog"] as const;
type How = (typeof HOW)[number] | "flood";
/** Parts that may be on beside it: the promise covers only these. */
export const BESIDE_CROWD = [
  "crowd",
  "producers",
  "cancels",
  "retries",
  "operators",
  "lost actions",
  "lost processes",
  "slow processes",
  "new version",
];

/** Its queues, each with its overrides: in few seeds any, and in most of these few queues. */
export function drawCrowd(draw: Draw): Partial<Record<CrowdName, QueueOverrides>> {
  if (!draw.chance(0.15)) return {};
  const count = draw.pick([1, 2, 2, 3, 3, 5, 5, 8, 13, 30, 60]);
  const areWide = count > 2 && count < 9 && draw.chance(0.5);
  return Object.fromEntries(
    Array.from({ length: count }, (_, i): [CrowdName, QueueOverrides] => [
      `many${i}`,
      { maxParallelism: areWide ? WIDE : draw.pick([1, 2, 2, 5, 20]), maxResets: 3 },
    ]),
  );
}

/** Whether all of its queues have backlogs at one instant that take all places of the class. */
export function isFlood(queues: Plan["crowd"]): boolean {
  return Object.values(queues).every((one) => one?.maxParallelism === WIDE);
}

export const crowd: Part = {
  name: "crowd",
  about:
    "1 to 60 push queues: hot and quiet ones, long and hanging jobs, failures, backlogs, pauses",
  chance: 1,
  fits: ({ crowd: queues }) => Object.keys(queues).length > 0,
  plan(draw, { crowd: queues, faultsMs }) {
    const names = Object.keys(queues) as CrowdName[];
    const each = Math.max(2, Math.floor(JOBS_MAX / names.length));
    const floods = isFlood(queues);
    const floodAt = draw.between(0, faultsMs * 0.4);
    let n = FIRST_N - STEP_N;
    const next = () => (n += STEP_N);
    return names.flatMap((queue) => {
      const within = { until: floods ? floodAt : faultsMs * 0.8, each };
      const events = DRAWN[floods ? "flood" : draw.pick(HOW)](draw, within).map(
        ({ at, turns }): Planned => {
          const jobs = turns.map((turn) => ({ payload: { n: next(), turns: turn }, options: {} }));
          return { at, do: "crowd.enqueue", queue, jobs };
        },
      );
      return draw.chance(0.15) ? [...events, ...drawPause(draw, queue, faultsMs)] : events;
    });
  },
  perform: {
    enqueue(simulation, { queue, jobs }) {
      simulation.ask("enqueueBatch", { queue, jobs });
      simulation.happened("enqueues");
    },
    operate(simulation, { queue, how }) {
      simulation.ask("operate", { queue, how });
      simulation.happened(how);
    },
  },
  marks: ["enqueues", "pause", "resume"],
};

interface Came {
  at: number;
  turns: { ms: number; end: string }[][];
}
interface Within {
  until: number;
  each: number;
}

const DRAWN: Record<How, (draw: Draw, within: Within) => Came[]> = {
  quiet: (draw, within) => alone(draw, within, 3, () => draw.pick([0, 30, 200])),
  long: (draw, within) => alone(draw, within, 4, () => draw.between(20, 60) * SECOND),
  /** Nothing is heard of them for minutes. */
  hanging: (draw, within) => alone(draw, within, 2, () => 180 * SECOND),
  failing: (draw, within) => alone(draw, within, 4, () => draw.pick([0, 200]), "throwsForGood"),
  hot(draw, { until, each }) {
    const [everyMs, ms] = [draw.pick([50, 150, 400]), draw.pick([20, 100, 300])];
    const count = Math.min(each, 40);
    const at = draw.between(0, Math.max(0, until - count * everyMs));
    return Array.from({ length: count }, (_, i) => ({ at: at + i * everyMs, turns: [turn(ms)] }));
  },
  flood: (draw, { until, each }) => [
    { at: until, turns: Array.from({ length: each }, () => turn(draw.between(1, 3) * SECOND)) },
  ],
  backlog(draw, { until, each }) {
    const count = Math.min(each, 60);
    const turns = Array.from({ length: count }, () => turn(draw.pick([20, 200, 1_000])));
    return [{ at: draw.between(0, until), turns }];
  },
};

function alone(
  draw: Draw,
  { until, each }: Within,
  max: number,
  ms: () => number,
  end = "returns",
): Came[] {
  const count = Math.min(each, draw.between(1, max));
  return Array.from({ length: count }, () => ({
    at: draw.between(0, until),
    turns: [turn(ms(), end)],
  }));
}

function turn(ms: number, end = "returns") {
  return [
    { ms, end },
    { ms: 0, end: "returns" },
  ];
}

function drawPause(draw: Draw, queue: CrowdName, faultsMs: number): Planned[] {
  const at = draw.between(0, faultsMs * 0.7);
  const over = Math.min(faultsMs - 1, at + draw.pick([200, 2_000, 8_000]));
  return [
    { at, do: "crowd.operate", queue, how: "pause" },
    { at: over, do: "crowd.operate", queue, how: "resume" },
  ];
}
