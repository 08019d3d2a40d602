/**
 * The cost of a plain job over its whole life, counted in virtual time: no key, a small payload, the first attempt, in
 * a queue with a backlog. And the cost of a queue with nothing to do.
 */
import type { StatsSnapshot } from "../../local/stats/types.js";
import { squared, type Session } from "./session.js";
import { startVirtualApp, type VirtualApp } from "./virtualApp.js";

export interface JobCost {
  /** Documents written by enqueues and by the worker. */
  writes: number;
  /** Their mutations. */
  mutations: number;
  /** Function calls, as the platform counts them, other than mutations: reads of subscriptions. */
  otherCalls: number;
  /** Functions that the component schedules for itself: janitor, roll-up, retention. By function. */
  behind: Record<string, { calls: number; writes: number }>;
}

/** The component's own scheduled functions, as the counters call them. */
const OWN = /^conveyor\//;
const UNTIL_COUNTED_MS = 5 * 60_000;
const UNTIL_PURGED_MS = 30 * 3_600_000;
const HOUR_MS = 3_600_000;

/**
 * Of one job more in a backlog, `batch` in a call, from its being enqueued to its being purged, with one busy worker: the
 * difference between a backlog of `jobs` and one of twice as many. The costs of a backlog's ends, such as a claim by
 * itself, are the same for both.
 */
export async function costOfJob(options: { jobs: number; batch: number }): Promise<JobCost> {
  const { jobs, batch } = options;
  const app = await startVirtualApp({ seed: 1 });
  try {
    const worker = app.session("worker");
    const backlog = async (size: number): Promise<JobCost> => {
      app.world.stats.reset();
      await workOff(app, worker, size, batch);
      await app.world.advance(UNTIL_PURGED_MS);
      return costOf(app.world.stats.snapshot());
    };
    // The queue and the session get their rows.
    await backlog(1);
    const [one, two] = [await backlog(jobs), await backlog(2 * jobs)];
    return difference(two, one, jobs);
  } finally {
    await app.world.close();
  }
}

async function workOff(
  { world }: VirtualApp,
  worker: Session,
  jobs: number,
  batch: number,
): Promise<void> {
  for (let n = 0; n < jobs; n += batch) {
    const payloads = Array.from({ length: Math.min(batch, jobs - n) }, (_, i) => ({ n: n + i }));
    await world.call("races:enqueue", { queue: "races", payloads });
  }
  let held: { id: string; attempt: number }[] = [];
  for (let done = 0; done < jobs;) {
    if (held.length === 0) {
      ({ jobs: held } = await world.run(worker.claim(batch)));
      continue;
    }
    const finished = held.map(({ id, attempt }) => ({ id, attempt, outcome: squared(1) }));
    done += finished.length;
    ({ jobs: held } = await world.run(worker.completeAndClaim(finished, batch)));
  }
}

function costOf({ functions }: StatsSnapshot): JobCost {
  const cost: JobCost = { writes: 0, mutations: 0, otherCalls: 0, behind: {} };
  for (const [name, { billed, io }] of Object.entries(functions)) {
    if (OWN.test(name)) {
      cost.behind[name] = { calls: billed, writes: io.documentsWritten };
    } else if (io.documentsWritten > 0) {
      cost.mutations += billed;
      cost.writes += io.documentsWritten;
    } else {
      cost.otherCalls += billed;
    }
  }
  return cost;
}

function difference(more: JobCost, less: JobCost, jobs: number): JobCost {
  return {
    writes: (more.writes - less.writes) / jobs,
    mutations: (more.mutations - less.mutations) / jobs,
    otherCalls: (more.otherCalls - less.otherCalls) / jobs,
    // Rounds that come by the clock differ by the jobs that fall into them: here an average says more.
    behind: Object.fromEntries(
      Object.entries(more.behind).map(([name, { calls, writes }]) => [
        name,
        { calls: calls / (2 * jobs), writes: writes / (2 * jobs) },
      ]),
    ),
  };
}

/** Every function that an hour with nothing to do calls, with how often: after some work, with `workers` that wait. */
export async function idleHour(workers: number): Promise<Record<string, number>> {
  const app = await startVirtualApp({ seed: 1 });
  const { world } = app;
  try {
    for (let i = 0; i < workers; i++) await app.worker(`waiting-${i}`, 2);
    await workOff(app, app.session("worker"), 8, 1);
    await world.advance(UNTIL_COUNTED_MS);
    world.stats.reset();
    await world.advance(HOUR_MS);
    const called = Object.entries(world.stats.snapshot().functions);
    return Object.fromEntries(
      called.filter(([, { billed }]) => billed > 0).map(([name, { billed }]) => [name, billed]),
    );
  } finally {
    await world.close();
  }
}
