/**
 * Routes: the parts of a queue's pending range that jobs with the same needs have to themselves. A claimer looks at the
 * routes that it can serve, so that no cursor is ever held up by a job that it may not take. Pure.
 *
 * A job's place in the index is `number × 64 + shard`: route 0, of jobs with no labels and of cost 1, is where all jobs
 * lay before there were routes.
 */
import { COST_DEFAULT, SHARDS_MAX } from "./limits.js";

/** The properties of a job that decide its route. */
export interface Needs {
  labels?: readonly string[] | undefined;
  cost?: number | undefined;
}

/** The jobs that a claimer can serve. */
export interface Offer {
  labels?: readonly string[] | undefined;
  /** The rest of its budget; absent: any cost. */
  maxCost?: number | undefined;
}

/** Jobs of one class cost from 2^class up to twice that, so that a budget shuts out whole routes and looks into one. */
export function costClassOf(cost: number): number {
  return Math.floor(Math.log2(cost));
}

/** The name of a route within its queue. Labels hold no comma. */
export function routeKey({ labels = [], cost = COST_DEFAULT }: Needs): string {
  return `${costClassOf(cost)}:${labels.join(",")}`;
}

/** Sorted, each once: the form in which labels are stored and compared. */
export function normalLabels(labels: readonly string[]): string[] {
  return [...new Set(labels)].sort();
}

/** The value of `jobs.shard` for this shard of a route. */
export function placeOf(route: number, shard: number): number {
  return route * SHARDS_MAX + shard;
}

/** Whether a claimer with this offer may find a job to take in the route. */
export function serves(
  route: { labels: readonly string[]; costClass: number },
  { labels = [], maxCost }: Offer,
): boolean {
  if (maxCost !== undefined && 2 ** route.costClass > maxCost) return false;
  return route.labels.every((label) => labels.includes(label));
}
