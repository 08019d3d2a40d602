/** Queues are configured anew while they run, and set back to the code's configuration. */
import { drawOverrides } from "../overrides.js";
import type { Part } from "../part.js";
import { isOf, PUSHED, usedQueues, type Planned } from "../plan.js";

export const configuration: Part = {
  name: "configuration",
  about:
    "queues are configured anew while they run: parallelism up, down and to nothing, shards, leases; and set back",
  chance: 0.3,
  plan(draw, plan) {
    return Array.from({ length: draw.pick([1, 2, 3]) }, (): Planned => {
      const at = draw.between(0, plan.faultsMs);
      const queue = draw.pick(usedQueues(plan));
      const what = draw.pick(["all", "parallelism", "parallelism", "shards", "reset"]);
      if (what === "reset") {
        const fields = draw.chance(0.5) ? undefined : [draw.pick(["shards", "leaseMs", "retry"])];
        return { at, do: "configuration.reset", queue, fields };
      }
      const overrides =
        what === "shards"
          ? { shards: draw.pick([1, 2, 3, 8]) }
          : what === "parallelism" && isOf(PUSHED, queue)
            ? { maxParallelism: draw.pick([0, 1, 2, 4, 30]) }
            : drawOverrides(draw, queue);
      return { at, do: "configuration.set", queue, overrides };
    });
  },
  perform: {
    set(simulation, { queue, overrides }) {
      simulation.ask("configure", { queue, overrides });
      simulation.happened(overrides.maxParallelism === 0 ? "lets nothing run" : "configures");
    },
    reset(simulation, { queue, fields }) {
      simulation.ask("resetConfig", { queue, ...(fields !== undefined && { fields }) });
      simulation.happened("sets back");
    },
  },
  marks: ["configures", "lets nothing run", "sets back"],
};
