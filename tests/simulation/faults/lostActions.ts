/** The machine of a lane, or of a handler that is an action, is lost at any commit: it hears and does nothing more. */
import type { Part } from "../part.js";
import { isOf, PUSHED, usedQueues, type Planned } from "../plan.js";
import { atCommit, running } from "../moments.js";

const LANES = ["push/laneAction:laneProcess", "handlers:inline"];
const HANDLERS = ["handlers:act"];

export const lostActions: Part = {
  name: "lost actions",
  about: "the machine of a lane or of an action handler is lost, at any commit",
  chance: 0.25,
  fits: (plan) => usedQueues(plan).some((name) => isOf(PUSHED, name)),
  plan(draw, plan) {
    return Array.from({ length: draw.pick([1, 2, 4]) }, (): Planned => {
      return {
        at: draw.between(0, plan.faultsMs),
        do: "lost actions.lose",
        commits: draw.between(1, 12),
        what: draw.pick(["lanes", "lanes", "handlers", "all"]),
        // The first of them, or all.
        one: draw.chance(0.5),
      };
    });
  },
  perform: {
    lose(simulation, { commits, what, one }) {
      const paths = [...(what === "handlers" ? [] : LANES), ...(what === "lanes" ? [] : HANDLERS)];
      atCommit(simulation, commits, () => {
        let lost = 0;
        running(simulation)?.runner.loseActions(({ address: { path } }) => {
          if (!paths.includes(path) || (one && lost > 0)) return false;
          lost += 1;
          simulation.happened(LANES.includes(path) ? "loses a lane" : "loses a handler");
          return true;
        });
      });
    },
  },
  marks: ["loses a lane", "loses a handler"],
};
