/** How much of a class's limits was taken: jobs that ran at once, places of the scheduler, permits. */
import { CLASS_LIMITS, type DeploymentClass } from "../../local/functions/classes.js";
import type { Watched } from "../watch/jobs.js";
import type { Sample } from "../watch/occupancy.js";

/** On average and at most, of so many. */
export interface Taken {
  mean: number;
  most: number;
  of: number;
}

export interface Used {
  scheduled: Taken;
  mutations: Taken;
  queries: Taken;
  actions: Taken;
}

export function used(samples: readonly Sample[], of: DeploymentClass): Used {
  const { scheduledJobs, mutations, queries, v8Actions } = CLASS_LIMITS[of];
  const taken = (kind: Exclude<keyof Sample, "at">, limit: number): Taken => {
    const values = samples.map((sample) => sample[kind]);
    const sum = values.reduce((all, value) => all + value, 0);
    return { mean: sum / Math.max(1, values.length), most: Math.max(0, ...values), of: limit };
  };
  return {
    scheduled: taken("scheduled", scheduledJobs),
    mutations: taken("mutations", mutations),
    queries: taken("queries", queries),
    actions: taken("actions", v8Actions),
  };
}

/** The most that ran at one time. */
export function mostAtOnce({ began, ended }: Pick<Watched, "began" | "ended">): number {
  const changes = [
    ...[...began.values()].map((at) => ({ at, by: 1 })),
    ...[...ended.values()].map((at) => ({ at, by: -1 })),
  ].sort((a, b) => a.at - b.at || a.by - b.by);
  let [now, most] = [0, 0];
  for (const { by } of changes) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}
