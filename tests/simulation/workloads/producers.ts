/** Callers that enqueue: one at a time, many at once, in batches, and some that change their mind at the end. */
import type { Part } from "../part.js";
import { CIRCULAR, isOf, usedQueues, type Planned } from "../plan.js";
import { newJob, type NewJob } from "../work.js";

const FEW = [1, 1, 1, 2, 4];
/** Of a large world. */
const MANY = [1, 1, 1, 2, 4, 10, 25, 60];

export const producers: Part = {
  name: "producers",
  about: "jobs are enqueued one at a time, many at once and in batches, with all options",
  chance: 1,
  plan(draw, plan) {
    const events: Planned[] = [];
    let n = 0;
    const isLarge = plan.jobs !== undefined;
    const calls = isLarge ? Infinity : draw.pick([1, 1, 2, 2, 3, 5]);
    const most = plan.jobs ?? Infinity;
    for (let i = 0; i < calls && n < most; i += 1) {
      const queue = draw.pick(usedQueues(plan));
      const count = Math.min(draw.pick(isLarge && !isOf(CIRCULAR, queue) ? MANY : FEW), most - n);
      const jobs = Array.from({ length: count }, () => newJob(draw, plan, queue, ++n));
      const at = draw.between(0, plan.faultsMs * 0.8);
      events.push({
        at,
        do: "producers.enqueue",
        queue,
        jobs,
        batch: draw.chance(0.5),
        throws: draw.chance(0.05),
      });
    }
    return events;
  },
  perform: {
    enqueue(simulation, { queue, jobs, batch, throws }) {
      const isBatch = batch === true && throws !== true && noKeys(jobs);
      const asked = { queue, jobs, ...(throws === true && { throws }) };
      simulation.ask(isBatch ? "enqueueBatch" : "enqueue", asked);
      simulation.happened(isBatch ? "enqueues a batch" : "enqueues");
      if (throws === true) simulation.happened("a caller throws after its enqueue");
    },
  },
  marks: ["enqueues", "enqueues a batch", "a caller throws after its enqueue"],
};

const noKeys = (jobs: NewJob[]) => jobs.every(({ options }) => options["key"] === undefined);
