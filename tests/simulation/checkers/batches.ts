import { GATHERED } from "../app/names.js";
import type { Run } from "../part.js";
import type { Checker } from "../part.js";
import { changedJobs, endedBy, hasEnded, statusOf } from "./jobs.js";

/** As `app/queues.ts` declares it. */
const GATHERED_MAX = 4;

export const batchesOf: Checker = {
  name: "batches",
  promise:
    "the jobs of a batch are of one queue, as many as fit at most, and where it is by groups of one group; each has been claimed, and ends by itself, as its own handler would have ended it",
  marks: [
    "a handler is given several jobs",
    "a lane's handler is given several jobs",
    "jobs of one batch end apart",
    "a job of a batch is canceled",
    "a job of a batch is lost",
  ],
  watch({ plan, tables, broken, happened, nameOf }) {
    if (!plan.parts.includes("batches")) return {};
    const together = new Map<string, Run[]>();
    const batchOf = new Map<string, string>();
    const endedAt = new Map<string, number>();
    return {
      ran(run) {
        const { batch, what, job, attempt, queue } = run;
        if (batch === undefined || what !== "began") return;
        const all = [...(together.get(batch) ?? []), run];
        together.set(batch, all);
        batchOf.set(`${job}/${attempt}`, batch);
        if (all.length > 1)
          happened(
            `a ${queue === (GATHERED as string) ? "lane's " : ""}handler is given several jobs`,
          );
        checkBatch(all, queue);
      },
      commit(commit) {
        for (const change of changedJobs(commit)) {
          const { id, before, after } = change;
          const attempt = endedBy(change);
          const batch = attempt === null ? undefined : batchOf.get(`${id}/${attempt}`);
          if (batch === undefined || before === null || after === null) continue;
          if (hasEnded(after) && statusOf(after) === "canceled")
            happened("a job of a batch is canceled");
          if (((after["resets"] ?? 0) as number) > ((before["resets"] ?? 0) as number))
            happened("a job of a batch is lost");
          const first = endedAt.get(batch);
          if (first !== undefined && first !== commit.at) happened("jobs of one batch end apart");
          endedAt.set(batch, first ?? commit.at);
        }
      },
    };

    function checkBatch(all: readonly Run[], queue: string): void {
      const names = all.map(({ job }) => nameOf(job)).join(", ");
      if (all.some((one) => one.queue !== queue)) broken(`${names} are of one batch`);
      const specs = plan.workers.filter(({ queues }) => (queues as string[]).includes(queue));
      const sizes = specs.map(({ batch }) => batch?.size ?? 1);
      const most = queue === (GATHERED as string) ? GATHERED_MAX : Math.max(1, ...sizes);
      if (all.length > most) broken(`${all.length} jobs are of one batch: ${names}`);
      const groups = new Set(all.map(({ job }) => tables.get("jobs", job)?.["group"] as unknown));
      const isByGroup = specs.length > 0 && specs.every(({ batch }) => batch?.by === "group");
      if (isByGroup && groups.size > 1) broken(`${names} are of one batch, and of several groups`);
    }
  },
};
