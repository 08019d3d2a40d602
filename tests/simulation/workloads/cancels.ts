/** People change their mind: jobs that wait, are due later or run are canceled or replaced, alone and many at once. */
import { usedQueues, type Planned } from "../plan.js";
import type { Part, Row } from "../part.js";
import { atCommit } from "../moments.js";
import { newJob } from "../work.js";

const FIRST_N = 2_000;

export const cancels: Part = {
  name: "cancels",
  about: "jobs are canceled in every status, replaced, and canceled many at once",
  chance: 0.35,
  plan(draw, plan) {
    return Array.from({ length: draw.pick([1, 2, 4]) }, (_, i): Planned => {
      const at = draw.between(0, plan.faultsMs * 0.9);
      const status = draw.pick(["pending", "scheduled", "running", "running", "any"]);
      const [which, commits] = [draw.next(), draw.between(1, 4)];
      const what = draw.pick(["cancel", "cancel", "cancel", "replace", "many"]);
      if (what === "cancel") return { at, do: "cancels.cancel", status, which, commits };
      const queue = draw.pick(usedQueues(plan));
      if (what === "many") {
        const filter = draw.pick([{}, { tags: ["tag 0"] }, { group: "group 0" }]);
        return { at, do: "cancels.many", queue, filter };
      }
      const job = newJob(draw, plan, queue, FIRST_N + i);
      delete job.options["key"];
      return { at, do: "cancels.replace", queue, which, job };
    });
  },
  perform: {
    /** At a commit, so that it comes in the middle of other transactions. */
    cancel(simulation, { status, which, commits }) {
      const isMeant = (row: Row | null | undefined): boolean =>
        row?.["queue"] !== undefined && (status === "any" || row["status"] === status);
      const then = () => {
        const job = simulation.pick(which, isMeant);
        if (job === null) return;
        simulation.ask("cancel", { queue: job.queue, id: job.id });
        simulation.happened(`cancels one that is ${status}`);
      };
      atCommit(simulation, commits, then, (one) => one.table === "jobs" && isMeant(one.after));
    },
    replace(simulation, { queue, which, job: { payload, options } }) {
      const there = simulation.pick(
        which,
        (row) => row?.["queue"] === queue && row?.["status"] !== undefined,
      );
      if (there === null) return;
      simulation.ask("replace", { queue, id: there.id, job: { payload, options } });
      simulation.happened("replaces");
    },
    many(simulation, { queue, filter }) {
      simulation.ask("changeMany", { queue, how: "cancelMany", filter });
      simulation.happened("cancels many");
    },
  },
  marks: [
    ...["pending", "scheduled", "running", "any"].map((status) => `cancels one that is ${status}`),
    "replaces",
    "cancels many",
  ],
};
