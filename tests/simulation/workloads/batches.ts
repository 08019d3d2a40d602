/** Handlers of several jobs at once: of programs outside, whose handlers take batches then, and of a lane's own process. */
import { GATHERED } from "../app/names.js";
import type { Draw } from "../draw.js";
import type { Part } from "../part.js";
import { isOf, PULLED, usedQueues, type Planned, type WorkerSpec } from "../plan.js";
import { newJob } from "../work.js";

const FIRST_N = 11_000;

export const batches: Part = {
  name: "batches",
  about: "handlers are given several jobs at once, outside and in a lane's own process",
  chance: 0.025,
  fits: ({ crowd }) => Object.keys(crowd).length === 0,
  plan(draw, plan) {
    let n = FIRST_N;
    const queues = [GATHERED, ...usedQueues(plan).filter((name) => isOf(PULLED, name))] as never[];
    return Array.from({ length: draw.pick([1, 2, 4]) }, (): Planned => {
      const queue = draw.pick(queues);
      const jobs = Array.from({ length: draw.pick([2, 3, 5, 8]) }, () => {
        const { payload, options } = newJob(draw, plan, queue, ++n);
        delete options["key"];
        delete options["labels"];
        return { payload, options };
      });
      return { at: draw.between(0, plan.faultsMs * 0.8), do: "batches.enqueue", queue, jobs };
    });
  },
  perform: {
    enqueue(simulation, { queue, jobs }) {
      simulation.ask("enqueueBatch", { queue, jobs });
      simulation.happened(queue === GATHERED ? "enqueues for a lane" : "enqueues for workers");
    },
  },
  marks: ["enqueues for a lane", "enqueues for workers"],
};

/** Some workers are given batches, others not. */
export function drawBatches(draw: Draw, workers: readonly WorkerSpec[]): WorkerSpec[] {
  return workers.map((spec) => {
    const batch = { size: draw.pick([2, 4, 16]), waitMs: draw.pick([0, 100, 1_000]) };
    const by = draw.chance(0.3) ? ({ by: "group" } as const) : {};
    return draw.chance(0.8) ? { ...spec, batch: { ...batch, ...by } } : spec;
  });
}
