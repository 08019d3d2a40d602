/**
 * Where a job lies among the claimable ones: its band, a random shard of its route, and the wake that it needs there.
 *
 * Reads: the queue's row, its routes; what `wakes.ts` reads. Writes: a new route, and the band of its priority. Conflicts with: an
 * enqueue of the same new route.
 */
import { bandsOf, ORDER_PAUSED, PRIORITY_DEFAULT, placeOf } from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { MutationCtx } from "../_generated/server.js";
import type { EdgeCtx } from "../rows/effects.js";
import { wakesOf, type Queue } from "../rows/queues.js";
import { ensureRoute } from "../rows/routes.js";
import { needsWake } from "./wakes.js";

type Job = Doc<"jobs">;

/** How a job becomes claimable: for the first time, again, or for its next round. */
type Came = "new" | "back" | "round";

/** The place of a job that becomes claimable again. Adds the wake that it needs. */
export async function pendingPlace(
  ctx: EdgeCtx,
  queue: Queue,
  job: Job,
  came: Came,
): Promise<{ order: number; shard: number }> {
  const place = await placeFor(ctx, queue, job, came);
  const wake = await needsWake(ctx, queue, job, place);
  if (wake !== null) wakesOf(ctx.effects, queue).ofJobs.push({ job: job._id, wake, isNew: false });
  return place;
}

/** Where a pending job lies: its band, and a random shard of its route. Ensures that claims read that place. */
export async function placeFor(
  ctx: MutationCtx,
  queue: Queue,
  job: Pick<Job, "priority" | "labels" | "cost" | "paused" | "ofWorker" | "rounds">,
  came: Came,
): Promise<{ order: number; shard: number }> {
  if (job.paused === true) return { order: ORDER_PAUSED, shard: 0 };
  const { circular, shards } = queue.config;
  const [first, second] = bandsOf(job.priority ?? PRIORITY_DEFAULT);
  // In a circular queue: unworked items go first.
  const goesFirst = came === "back" || (circular && (job.rounds ?? 0) === 0);
  const route = await ensureRoute(ctx, queue, job, came === "new" ? "new" : "back");
  const shard = placeOf(route, Math.floor(Math.random() * shards));
  return { order: goesFirst ? first : second, shard };
}
