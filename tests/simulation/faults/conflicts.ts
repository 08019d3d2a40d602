/** Commits are refused as if another had come before them: commits of every function, with a certain chance, for a while. */
import { Draw } from "../draw.js";
import type { Part } from "../part.js";
import type { Planned } from "../plan.js";

/** The platform's own commits belong to no function, and have no such name. */
const FUNCTION = /:/;

/** The functions that record outcomes, except the ones of lanes that leave. */
export const ENDS = "complete$|push/laneStep:stepLane|lib:laneStep";

export const conflicts: Part = {
  name: "conflicts",
  about: "commits of functions are refused as if another had come before them",
  chance: 0.25,
  plan(draw, plan) {
    const at = draw.chance(0.5) ? 0 : draw.between(0, plan.faultsMs * 0.7);
    // Of all functions, or of one kind: outcomes, wakes, claims, repairs or enqueues.
    const of = draw.pick(["", ENDS, ENDS, "wake", "claim", "janitor", "enqueue"]);
    const begin: Planned = {
      at,
      do: "conflicts.begin",
      seed: draw.below(1e9),
      probability: draw.pick(of === "" ? [0.1, 0.3, 0.6] : [0.3, 0.6, 1]),
      of,
    };
    const ms = draw.chance(0.5) ? plan.faultsMs : draw.between(500, plan.faultsMs);
    const over = Math.min(plan.faultsMs - 1, at + ms);
    return [begin, { at: over, do: "conflicts.end" }];
  },
  perform: {
    begin(simulation, { seed, probability, of }) {
      const draw = new Draw(seed, "conflicts");
      const meant = new RegExp(of);
      simulation.refuses = (author) => {
        if (!FUNCTION.test(author) || !meant.test(author) || !draw.chance(probability)) {
          return false;
        }
        simulation.happened("a commit is refused");
        return true;
      };
    },
    end: (simulation) => void (simulation.refuses = () => false),
  },
  heal: (simulation) => void (simulation.refuses = () => false),
  marks: ["a commit is refused"],
};
