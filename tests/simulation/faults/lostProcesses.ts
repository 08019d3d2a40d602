/** A process in which lanes of several queues run is lost, or canceled by hand, at the moment that is worst for them. */
import type { Part } from "../part.js";
import type { Planned } from "../plan.js";
import { atCommit, running } from "../moments.js";
import type { Change } from "../observed.js";
import type { Simulation } from "../simulation.js";
import { cancelOne } from "./scheduled.js";

const PROCESSES = ["push/laneAction:laneProcess", "handlers:inline"];
/** Tables with rows that change as lanes are handed over, places given and processes ended. */
const MOMENTS = ["handOvers", "grants", "processes", "waitingQueues"];

export const lostProcesses: Part = {
  name: "lost processes",
  about:
    "a process that runs lanes of several queues is lost or canceled as a lane is handed to it, places are given, or it ends",
  chance: 0.2,
  fits: ({ crowd }) => Object.keys(crowd).length > 1,
  plan(draw, plan) {
    return Array.from({ length: draw.pick([1, 1, 2]) }, (): Planned => {
      return {
        at: draw.between(0, plan.faultsMs * 0.8),
        do: "lost processes.lose",
        of: draw.pick(MOMENTS),
        times: draw.between(1, 4),
        isCanceled: draw.chance(0.3),
      };
    });
  },
  perform: {
    lose(simulation, { of, times, isCanceled }) {
      const isMeant = ({ table, after }: Change) => table === of && after !== null;
      const then = () => {
        const id = busiest(simulation);
        if (id === undefined) return;
        if (isCanceled === true) simulation.world.clock.timer(0.01, () => cancel(simulation, id));
        else lose(simulation);
      };
      atCommit(simulation, times, then, isMeant);
    },
  },
  marks: ["a process of several queues is lost", "a process of several queues is canceled"],
};

/** The scheduled function in which lanes of most queues are awake, if they are of more than one. */
function busiest({ tables }: Simulation): string | undefined {
  const queues = new Map<string, Set<string>>();
  for (const { lane, state, runsIn, queues: of } of tables.all("sessions")) {
    if (lane === undefined || state !== "active" || runsIn === undefined) continue;
    const known = queues.get(runsIn as string) ?? new Set();
    queues.set(runsIn as string, known.add((of as string[])[0]!));
  }
  const [first] = [...queues].sort(([, a], [, b]) => b.size - a.size);
  return first !== undefined && first[1].size > 1 ? first[0] : undefined;
}

/** All processes of the mount are on the machine that is lost: of which one it is, the runner does not say. */
function lose(simulation: Simulation): void {
  running(simulation)?.runner.loseActions(({ address: { path } }) => PROCESSES.includes(path));
  simulation.happened("a process of several queues is lost");
}

function cancel(simulation: Simulation, id: string): void {
  void cancelOne(simulation, id).then((isDone) => {
    if (!isDone) return;
    simulation.happened("a process of several queues is canceled");
    simulation.given.trace.add("fault", "canceled a process", id);
  });
}
