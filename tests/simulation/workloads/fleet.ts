/** Programs of a large world that come in the middle of it: faults of workers make them go, and come again. */
import type { Part } from "../part.js";
import type { Plan, Planned } from "../plan.js";

export const fleet: Part = {
  name: "fleet",
  about: "half of the programs of a large world start in the middle of it",
  chance: 1,
  fits: ({ jobs, workers }) => jobs !== undefined && workers.length > 1,
  plan(draw, { workers, faultsMs }) {
    return workers.slice(Math.ceil(workers.length / 2)).map(({ name }): Planned => {
      return { at: draw.between(0, faultsMs * 0.8), do: "fleet.come", worker: name };
    });
  },
  perform: {
    async come(simulation, { worker }) {
      const spec = simulation.plan.workers.find(({ name }) => name === worker);
      if (spec === undefined || simulation.programs.has(spec.name)) return;
      await simulation.startWorker(spec);
      simulation.happened("a program comes");
    },
  },
  marks: ["a program comes"],
};

/** Whether the worker starts later than the world. */
export function comesLater({ events }: Plan, worker: string): boolean {
  return events.some((event) => event.do === "fleet.come" && event["worker"] === worker);
}
