/** Operators have single workers claim nothing for a while. */
import type { Part } from "../part.js";
import type { Planned } from "../plan.js";
import { atLease } from "../moments.js";

export const quiet: Part = {
  name: "quiet workers",
  about: "workers are made quiet from outside, also in the middle of their jobs, and claim again",
  chance: 0.03,
  fits: ({ workers }) => workers.length > 0,
  plan(draw, { workers, faultsMs }) {
    return Array.from({ length: draw.pick([1, 2, 4]) }, (): Planned[] => {
      const worker = draw.pick(workers).name;
      const at = draw.between(0, faultsMs * 0.8);
      const over = at + draw.pick([300, 2_000, 8_000]);
      const holding = draw.pick([0, 1, 1, 2]);
      return [
        { at, do: "quiet workers.begin", worker, holding },
        ...(over < faultsMs ? [{ at: over, do: "quiet workers.end", worker, holding: 0 }] : []),
      ];
    }).flat();
  },
  perform: {
    begin: (simulation, { worker, holding }) =>
      atLease(simulation, worker as string, holding as number, () => {
        const session = simulation.tables
          .all("sessions")
          .find(({ name, state }) => name === worker && state !== "gone");
        if (session === undefined) return;
        simulation.ask("quiet", { id: session._id, isQuiet: true });
        simulation.happened(session["leases"].length > 0 ? "quiets one that works" : "quiets one");
      }),
    end(simulation, { worker }) {
      for (const { _id: id, name, isQuiet } of simulation.tables.all("sessions")) {
        if (name !== worker || isQuiet !== true) continue;
        simulation.ask("quiet", { id, isQuiet: false });
        simulation.happened("lets one claim again");
      }
    },
  },
  marks: ["quiets one", "quiets one that works", "lets one claim again"],
};
