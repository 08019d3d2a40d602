/** The app's `onComplete` throws, for a while. */
import type { Part } from "../part.js";

export const callbacks: Part = {
  name: "callbacks",
  about: "onComplete throws for a while",
  chance: 0.2,
  plan(draw, plan) {
    const at = draw.between(0, plan.faultsMs * 0.7);
    const over = at + draw.between(500, 8_000);
    return [
      { at, do: "callbacks.break" },
      ...(over < plan.faultsMs ? [{ at: over, do: "callbacks.mend" }] : []),
    ];
  },
  perform: {
    break(simulation) {
      simulation.ask("breakCallbacks", {});
      simulation.happened("callbacks are broken");
    },
    mend: (simulation) => void simulation.ask("mendCallbacks", {}),
  },
  heal: (simulation) => void simulation.ask("mendCallbacks", {}),
  marks: ["callbacks are broken"],
};
