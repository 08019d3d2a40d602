/** The app has so much of its own to run that the component's scheduled functions and nested actions wait for room. */
import type { Part } from "../part.js";
import type { Planned } from "../plan.js";

export const starved: Part = {
  name: "starved",
  about: "the app's own scheduled actions fill the executor, and all permits of actions",
  chance: 0.15,
  plan(draw, plan) {
    return Array.from({ length: draw.pick([1, 2]) }, (): Planned => {
      return {
        at: draw.between(0, plan.faultsMs * 0.8),
        do: "starved.occupy",
        // On the smallest class eight scheduled actions run at once.
        count: draw.pick([8, 16, 40]),
        ms: draw.pick([500, 3_000, 8_000]),
      };
    });
  },
  perform: {
    occupy(simulation, { count, ms }) {
      simulation.ask("occupy", { count, ms });
      simulation.happened("the executor is filled");
    },
  },
  marks: ["the executor is filled"],
};
