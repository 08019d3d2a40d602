/** Operators retry finished jobs: one by one, and many at once. */
import { isFinished, type Status } from "../../../src/shared/index.js";
import type { Part } from "../part.js";
import { usedQueues, type Planned } from "../plan.js";

export const retries: Part = {
  name: "retries",
  about: "jobs that have ended are retried by hand, alone and many at once",
  chance: 0.3,
  plan(draw, plan) {
    return Array.from({ length: draw.pick([1, 2, 3]) }, (): Planned => {
      const at = draw.between(plan.faultsMs * 0.2, plan.faultsMs);
      if (draw.chance(0.6)) return { at, do: "retries.one", which: draw.next() };
      const queue = draw.pick(usedQueues(plan));
      const statuses = draw.pick([["failed", "timedOut"], ["canceled"], ["succeeded"], undefined]);
      return { at, do: "retries.many", queue, filter: statuses === undefined ? {} : { statuses } };
    });
  },
  perform: {
    one(simulation, { which }) {
      const job = simulation.pick(
        which,
        (row) => row !== undefined && isFinished(row["status"] as Status),
      );
      if (job === null) return;
      simulation.ask("retry", { queue: job.queue, id: job.id });
      simulation.happened("retries one");
    },
    many(simulation, { queue, filter }) {
      simulation.ask("changeMany", { queue, how: "retryMany", filter });
      simulation.happened("retries many");
    },
  },
  marks: ["retries one", "retries many"],
};
