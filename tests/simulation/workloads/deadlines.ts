/** Jobs that have to end by a deadline: they wait, run, fail, sleep and hang beyond it, and some are tried again behind it. */
import { CIRCULAR, isOf, usedQueues, type Plan, type Planned, type QueueName } from "../plan.js";
import type { Part } from "../part.js";
import { newJob } from "../work.js";

const FIRST_N = 9_000;
const DEADLINES_MS = [1_000, 1_500, 3_000, 6_000, 15_000];

export const deadlines: Part = {
  name: "deadlines",
  about: "jobs with deadlines are enqueued, and retried by hand after the deadline has passed",
  chance: 0.15,
  fits: (plan) => endingQueues(plan).length > 0,
  plan(draw, plan) {
    let n = FIRST_N;
    const enqueues = Array.from({ length: draw.pick([1, 2, 4]) }, (): Planned => {
      const queue = draw.pick(endingQueues(plan));
      const jobs = Array.from({ length: draw.pick([1, 2, 4]) }, () => {
        const { payload, options } = newJob(draw, plan, queue, ++n);
        const deadlineMs = draw.pick(DEADLINES_MS);
        // One that falls due behind its deadline is refused.
        const { runAfter = 0 } = options as { runAfter?: number };
        if (runAfter >= deadlineMs) delete options["runAfter"];
        return { payload, options: { ...options, deadlineMs } };
      });
      return { at: draw.between(0, plan.faultsMs * 0.6), do: "deadlines.enqueue", queue, jobs };
    });
    const retries = Array.from({ length: draw.pick([0, 1, 2]) }, (): Planned => {
      const at = draw.between(plan.faultsMs * 0.3, plan.faultsMs);
      return { at, do: "deadlines.retry", which: draw.next() };
    });
    return [...enqueues, ...retries];
  },
  perform: {
    enqueue(simulation, { queue, jobs }) {
      simulation.ask("enqueue", { queue, jobs });
      simulation.happened("enqueues with deadlines");
    },
    retry(simulation, { which }) {
      const job = simulation.pick(which, (row) => row?.["code"] === "deadlineExceeded");
      if (job === null) return;
      simulation.ask("retry", { queue: job.queue, id: job.id });
      simulation.happened("retries one after its deadline");
    },
  },
  marks: ["enqueues with deadlines", "retries one after its deadline"],
};

/** Items of a ring end at no time by themselves, and have no deadlines. */
function endingQueues(plan: Plan): QueueName[] {
  return usedQueues(plan).filter((name) => !isOf(CIRCULAR, name));
}
