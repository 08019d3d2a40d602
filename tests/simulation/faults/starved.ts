/** The app has so much of its own to run that the component's scheduled functions and nested actions wait for room. */
import type { Part } from "../part.js";
import type { Planned } from "../plan.js";

export const starved: Part = {
  name: "starved",
  about: "the app's own scheduled actions fill the executor, and all permits of actions",
  chance: 0.2,
  plan(draw, plan) {
    return Array.from({ length: draw.pick([1, 2]) }, (): Planned => {
      const at = draw.between(0, plan.faultsMs * 0.8);
      const [slots, ms] = [draw.pick([8, 12]), draw.pick([500, 3_000, 8_000, 30_000])];
      // On the smallest class eight scheduled actions run at once, and 64 actions in all; an action that waits for ten seconds is
      // refused.
      return draw.chance(0.4)
        ? { at, do: "starved.occupy", nested: true, count: 80, ms: 14_000 }
        : { at, do: "starved.occupy", nested: false, count: slots, ms };
    });
  },
  perform: {
    occupy(simulation, { count, ms, nested }) {
      simulation.ask("occupy", { count, ms, nested });
      simulation.happened(nested === true ? "all permits are taken" : "the executor is filled");
    },
  },
  marks: ["the executor is filled", "all permits are taken"],
};
