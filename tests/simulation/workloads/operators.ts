/** Operators of queues: they pause and drain them, pause single jobs, and delete. */
import { atCommit } from "../moments.js";
import type { Change } from "../observed.js";
import type { Part } from "../part.js";
import { usedQueues, type Planned } from "../plan.js";

export const operators: Part = {
  name: "operators",
  about: "queues are paused, drained and resumed, jobs paused, resumed and deleted",
  chance: 0.35,
  plan(draw, plan) {
    return Array.from({ length: draw.pick([1, 2, 4]) }, (): Planned[] => {
      const at = draw.between(0, plan.faultsMs * 0.9);
      const queue = draw.pick(usedQueues(plan));
      const over = at + draw.pick([50, 500, 4_000]);
      const which = draw.next();
      const then = (event: Omit<Planned, "at">): Planned[] =>
        over < plan.faultsMs ? [{ at: over, ...event } as Planned] : [];
      const how = draw.pick(["pause", "pause", "drain", "job", "job", "delete", "deleteMany"]);
      if (how === "pause" || how === "drain") {
        return [
          { at, do: "operators.queue", queue, how },
          ...then({ do: "operators.queue", queue, how: "resume" }),
        ];
      }
      if (how === "job") {
        return [
          { at, do: "operators.job", how: "pauseJob", which },
          ...then({ do: "operators.job", how: "resumeJob", which }),
        ];
      }
      if (how === "delete") {
        return draw.chance(0.6)
          ? [{ at, do: "operators.job", how: "deleteJob", which }]
          : [{ at, do: "operators.deleteOwed" }];
      }
      const filter = draw.pick([{}, { tags: ["tag 0"] }, { statuses: ["succeeded"] }]);
      return [{ at, do: "operators.deleteMany", queue, filter }];
    }).flat();
  },
  perform: {
    queue(simulation, { queue, how }) {
      simulation.ask("operate", { queue, how });
      simulation.happened(how);
    },
    job(simulation, { how, which }) {
      const fits = how === "resumeJob" ? (paused: unknown) => paused === true : () => true;
      const job = simulation.pick(which, (row) => row !== undefined && fits(row["paused"]));
      if (job === null) return;
      simulation.ask("handle", { queue: job.queue, id: job.id, how });
      simulation.happened(how);
    },
    /** A job with an owed callback. */
    deleteOwed(simulation) {
      const isOwed = ({ table, after }: Change) =>
        table === "callbacks" && after?.["state"] === "owed";
      const owed = () => simulation.tables.all("callbacks").find(({ state }) => state === "owed");
      const then = () => {
        const job = simulation.jobs.find(({ id }) => id === owed()?.["job"]);
        if (job === undefined) return;
        simulation.ask("handle", { queue: job.queue, id: job.id, how: "deleteJob" });
        simulation.happened("deletes one with an owed callback");
      };
      atCommit(simulation, 1, then, isOwed);
    },
    deleteMany(simulation, { queue, filter }) {
      simulation.ask("changeMany", { queue, how: "deleteMany", filter });
      simulation.happened("deleteMany");
    },
  },
  marks: [
    ...["pause", "drain", "resume", "pauseJob", "resumeJob", "deleteJob", "deleteMany"],
    "deletes one with an owed callback",
  ],
};
