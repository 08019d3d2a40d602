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

/** Between a number's name and the least that a job needs of it, as in `vramGb>=24`. No other label holds it. */
export const AT_LEAST = ">=";
const NUMBER = /^\d+(\.\d+)?$/;

/**
 * Whether a claimer with these labels has one that a job needs: the very same; or, of a number, one like `vramGb=40`, with at
 * least as much.
 */
export function hasLabel(offered: readonly string[], needed: string): boolean {
  const at = needed.indexOf(AT_LEAST);
  if (at < 0) return offered.includes(needed);
  const name = `${needed.slice(0, at)}=`;
  const least = Number(needed.slice(at + AT_LEAST.length));
  const amounts = offered
    .filter((one) => one.startsWith(name))
    .map((one) => one.slice(name.length));
  return amounts.some((amount) => NUMBER.test(amount) && Number(amount) >= least);
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
  return route.labels.every((label) => hasLabel(labels, label));
}
