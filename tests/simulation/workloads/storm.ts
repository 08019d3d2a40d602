/** The app writes the rows of handlers and callbacks, again and again at the same moments: transactions that conflict retry. */
import type { Part } from "../part.js";

const EVERY_MS = 25;

export const storm: Part = {
  name: "storm",
  about:
    "mutations of the app write the row that handlers and callbacks write, several at the same moment",
  chance: 0.2,
  plan(draw, plan) {
    const at = draw.between(0, plan.faultsMs * 0.8);
    const bursts = draw.pick([2, 4, 8]);
    return Array.from({ length: bursts }, (_, i) => ({
      at: Math.min(plan.faultsMs - 1, at + i * EVERY_MS),
      do: "storm.meet",
      count: draw.pick([1, 2, 3]),
    }));
  },
  perform: {
    meet(simulation, { count }) {
      for (let i = 0; i < count; i += 1) simulation.ask("meet", {});
      simulation.happened("meets");
    },
  },
  marks: ["meets"],
};
