/** Many callers at the same moment, and slow ones: each enqueues a job in a mutation of its own. */
import { atCommit } from "../moments.js";
import type { Part } from "../part.js";
import { usedQueues, type Planned } from "../plan.js";

const FIRST_N = 4_000;
/** They take some 200 ms from their enqueue to their end. */
const READS = 150;

export const callers: Part = {
  name: "callers",
  about: "many callers enqueue at the same moment, and some of them are slow",
  chance: 0.25,
  plan(draw, plan) {
    return Array.from({ length: draw.pick([1, 1, 1, 2]) }, (_, i): Planned => {
      return {
        at: draw.between(0, plan.faultsMs * 0.8),
        do: "callers.come",
        queue: draw.pick(usedQueues(plan)),
        // At once, or as soon as a row of this table is written so often: as a lane goes to sleep, say.
        of: draw.pick(["", "", "doors", "gates", "lanes", "holders"]),
        times: draw.between(1, 4),
        count: draw.pick([1, 2, 3, 6]),
        firstN: FIRST_N + i * 100,
        ms: draw.pick([0, 20, 200]),
        slow: draw.chance(0.4),
      };
    });
  },
  perform: {
    come(simulation, { queue, of, times, count, firstN, ms, slow }) {
      const come = () => {
        for (let i = 0; i < count; i += 1) {
          const payload = { n: firstN + i, turns: [{ ms, end: "returns" }] };
          const reads = slow === true ? { reads: READS } : {};
          simulation.ask("enqueue", { queue, jobs: [{ payload, options: {} }], ...reads });
        }
        simulation.happened(slow === true ? "slow callers come" : "many callers come");
      };
      if (of === "") come();
      else atCommit(simulation, times as number, come, ({ table }) => table === of);
    },
  },
  marks: ["many callers come", "slow callers come"],
};
