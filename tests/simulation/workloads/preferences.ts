/** Jobs that prefer workers for a time: by labels, by a name, by both, also where no worker fits. */
import type { Part } from "../part.js";
import { isOf, usedQueues, type Plan, type Planned, type QueueName } from "../plan.js";

const FIRST_N = 16_000;
const KINDS = ["pulled", "mixed"] as const;

function preferring(plan: Plan): QueueName[] {
  return usedQueues(plan).filter((name) => isOf(KINDS, name));
}

export const preferences: Part = {
  name: "preferring",
  about: "jobs prefer workers for a time, by labels and by name, also workers that are not there",
  chance: 0.04,
  fits: (plan) => plan.jobs === undefined && preferring(plan).length > 0,
  plan(draw, plan) {
    let n = FIRST_N;
    return Array.from({ length: draw.pick([2, 4, 6]) }, (): Planned => {
      const queue = draw.pick(preferring(plan));
      const jobs = Array.from({ length: draw.pick([1, 1, 2, 5]) }, () => {
        const how = draw.pick(["labels", "worker", "worker", "both"]);
        const worker = draw.chance(0.8) ? draw.pick(plan.workers).name : "none that is there";
        const prefer = {
          ...(how !== "worker" && { labels: [draw.pick(["gpu", "eu", "warm"])] }),
          ...(how !== "labels" && { worker }),
          forMs: draw.pick([1_000, 1_500, 4_000]),
        };
        const turns = [{ ms: draw.pick([0, 30, 200]), end: "returns" }];
        const runAfter = draw.pick([0, 0, 0, 1_000]);
        return { payload: { n: ++n, turns }, options: { prefer, runAfter } };
      });
      return { at: draw.between(0, plan.faultsMs * 0.9), do: "preferring.enqueue", queue, jobs };
    });
  },
  perform: {
    enqueue(simulation, { queue, jobs }) {
      simulation.ask("enqueueBatch", { queue, jobs });
      simulation.happened("enqueues jobs that prefer workers");
    },
  },
  marks: ["enqueues jobs that prefer workers"],
};
