/** The backend dies, at any commit or between two, and is started again after a while. */
import { ofComponent } from "../simulation.js";
import type { Simulation } from "../simulation.js";
import type { Part } from "../part.js";
import type { Planned } from "../plan.js";
import { kept, running } from "../moments.js";

const never = () => false;

/** Whether an event waits for it to die, or to be there again. */
const stateOf = kept(() => ({ is: "up" }));

export const restarts: Part = {
  name: "restarts",
  about: "the backend dies before or after a commit is kept, and is started again",
  chance: 0.2,
  plan(draw, plan) {
    return Array.from({ length: draw.pick([1, 1, 2, 3]) }, (): Planned => {
      return {
        at: draw.between(0, plan.faultsMs),
        do: "restarts.die",
        commits: draw.pick([1, 2, 3, 5, 8, 13]),
        isKept: draw.chance(0.5),
        downMs: draw.pick([0, 0, 300, 2_000]),
      };
    });
  },
  perform: {
    die(simulation, { commits, isKept, downMs }) {
      const state = stateOf(simulation);
      if (state.is !== "up" || running(simulation) === null) return;
      state.is = "waits";
      let left = commits;
      simulation.store.diesBefore = (commit) => {
        if (left === 0) return true;
        if (!ofComponent(commit) || --left > 0) return false;
        state.is = "down";
        simulation.world.clock.timer(0, () => void restart(simulation, downMs));
        simulation.happened(isKept ? "dies after a commit" : "dies before a commit");
        return isKept !== true;
      };
    },
  },
  async heal(simulation) {
    const state = stateOf(simulation);
    if (state.is === "waits") {
      simulation.store.diesBefore = never;
      state.is = "up";
    }
    await simulation.world.until(() => state.is === "up");
  },
  marks: ["dies after a commit", "dies before a commit"],
};

async function restart(simulation: Simulation, downMs: number): Promise<void> {
  // It is gone when this returns; a backend that is gone stores nothing any more.
  const restarting = simulation.world.restartBackend({ downMs });
  simulation.store.diesBefore = never;
  await restarting;
  stateOf(simulation).is = "up";
}
