/** Many callers at the same moment, and slow ones: each enqueues a job in a mutation of its own. */
import type { Draw } from "../draw.js";
import { atCommit } from "../moments.js";
import type { Change } from "../observed.js";
import type { Part } from "../part.js";
import { isOf, usedQueues, type Kind, type Plan, type Planned } from "../plan.js";
import type { Simulation } from "../simulation.js";

const FIRST_N = 4_000;
/** They take some 200 ms from their enqueue to their end. */
const READS = 150;
/** Of a stream: each comes sooner than the one before it has finished. */
const STREAM = 5;
const STREAM_MS = 100;
const STREAM_WORK_MS = 400;

/** Kinds with lanes that stay awake for the length of their jobs, and so have company. */
const LONG_LANES: readonly Kind[] = ["acted", "inlined"];

export const callers: Part = {
  name: "callers",
  about: "many callers enqueue at the same moment, and some of them are slow",
  chance: 0.25,
  plan(draw, plan) {
    return Array.from({ length: draw.pick([1, 1, 1, 2]) }, (_, i): Planned[] => {
      const how = draw.pick(["come", "come", "forOneMoment", "whenNobodyLooks", "whenNobodyLooks"]);
      return DRAWN[how]!(draw, plan, FIRST_N + i * 100);
    }).flat();
  },
  perform: {
    /** At once, or as soon as a row of this table is written so often: as a lane goes to sleep, say. */
    come(simulation, { queue, of, times, count, firstN, ms, slow }) {
      const then = () => {
        for (let i = 0; i < count; i += 1) {
          enqueue(simulation, queue, { n: firstN + i, ms, isSlow: slow });
        }
        simulation.happened(slow === true ? "slow callers come" : "many callers come");
      };
      if (of === "") then();
      else atCommit(simulation, times, then, ({ table }) => table === of);
    },
    /** The first arms an alarm; it may have rung by the time at which the callers commit that saw it armed. */
    forOneMoment(simulation, { queue, count, firstN, ms, afterMs }) {
      const options = { runAt: simulation.date() + (afterMs as number) };
      enqueue(simulation, queue, { n: firstN, ms, isSlow: false, options });
      const then = () => {
        for (let i = 1; i <= count; i += 1) {
          enqueue(simulation, queue, { n: firstN + i, ms, isSlow: true, options });
        }
        simulation.happened("slow callers come for a moment that is near");
      };
      atCommit(simulation, 1, then, isAlarm);
    },
    /** A few in a row, so that a lane scans for more; and as soon as it has stopped, a caller with an older snapshot. */
    whenNobodyLooks(simulation, { queue, firstN, ms }) {
      for (let i = 0; i < STREAM; i += 1) {
        simulation.world.clock.timer(i * STREAM_MS, () => {
          enqueue(simulation, queue, { n: firstN + i, ms: STREAM_WORK_MS, isSlow: false });
        });
      }
      const then = () => {
        enqueue(simulation, queue, { n: firstN + STREAM, ms, isSlow: true });
        simulation.happened("a slow caller comes after the last scan");
      };
      atCommit(simulation, 1, then, isShut);
    },
  },
  marks: [
    "many callers come",
    "slow callers come",
    "slow callers come for a moment that is near",
    "a slow caller comes after the last scan",
  ],
};

const DRAWN: Record<string, (draw: Draw, plan: Plan, firstN: number) => Planned[]> = {
  come: (draw, plan, firstN) => [
    {
      at: draw.between(0, plan.faultsMs * 0.8),
      do: "callers.come",
      queue: draw.pick(usedQueues(plan)),
      of: draw.pick(["", "", "gates", "lanes", "sessions"]),
      times: draw.pick([1, 1, 2, 4]),
      count: draw.pick([1, 2, 3, 6]),
      firstN,
      ms: draw.pick([0, 20, 200]),
      slow: draw.chance(0.4),
    },
  ],
  forOneMoment: (draw, plan, firstN) => [
    {
      at: draw.between(0, plan.faultsMs * 0.8),
      do: "callers.forOneMoment",
      queue: draw.pick(usedQueues(plan)),
      count: draw.pick([1, 2, 3]),
      firstN,
      ms: draw.pick([0, 20, 200]),
      afterMs: draw.pick([100, 150]),
    },
  ],
  whenNobodyLooks(draw, plan, firstN) {
    const queues = usedQueues(plan).filter((name) => isOf(LONG_LANES, name));
    if (queues.length === 0) return DRAWN.come!(draw, plan, firstN);
    return [
      {
        at: draw.between(0, plan.faultsMs * 0.5),
        do: "callers.whenNobodyLooks",
        queue: draw.pick(queues),
        firstN,
        ms: draw.pick([0, 20, 200]),
      },
    ];
  },
};

interface Job {
  n: number;
  ms: number;
  isSlow: boolean;
  options?: object;
}

function enqueue(
  simulation: Simulation,
  queue: unknown,
  { n, ms, isSlow, options = {} }: Job,
): void {
  const payload = { n, turns: [{ ms, end: "returns" }] };
  const reads = isSlow ? { reads: READS } : {};
  simulation.ask("enqueue", { queue, jobs: [{ payload, options }], ...reads });
}

const isShut = ({ table, after }: Change): boolean =>
  table === "doors" && after?.["open"] === false;
const isAlarm = ({ table, before, after }: Change): boolean =>
  table === "timers" && before === null && after?.["kind"] === "dispatcher";
