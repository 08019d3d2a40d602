/** Many callers at the same moment, and slow ones: each enqueues a job in a mutation of its own. */
import type { Part } from "../part.js";
import { usedQueues, type Planned } from "../plan.js";

const FIRST_N = 4_000;
/** They take some 200 ms from their enqueue to their end. */
const READS = 150;

export const callers: Part = {
  name: "callers",
  about: "many callers enqueue at the same moment, and some of them are slow",
  chance: 0.2,
  plan(draw, plan) {
    return Array.from({ length: draw.pick([1, 1, 1, 2]) }, (_, i): Planned => {
      return {
        at: draw.between(0, plan.faultsMs * 0.8),
        do: "callers.come",
        queue: draw.pick(usedQueues(plan)),
        count: draw.pick([2, 3, 4, 8]),
        firstN: FIRST_N + i * 100,
        ms: draw.pick([0, 20, 200]),
        slow: draw.chance(0.4),
      };
    });
  },
  perform: {
    come(simulation, { queue, count, firstN, ms, slow }) {
      for (let i = 0; i < count; i += 1) {
        const payload = { n: firstN + i, turns: [{ ms, end: "returns" }] };
        const reads = slow === true ? { reads: READS } : {};
        simulation.ask("enqueue", { queue, jobs: [{ payload, options: {} }], ...reads });
      }
      simulation.happened(slow === true ? "slow callers come" : "many callers come");
    },
  },
  marks: ["many callers come", "slow callers come"],
};
