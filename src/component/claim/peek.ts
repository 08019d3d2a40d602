/**
 * Peek: the first jobs that a worker could claim now, for a process that decides whether to start a worker. Nothing is
 * promised: the next claimer may be faster, and shards and turns may give these jobs to another.
 *
 * Reads for real: the token, the queues' rows, routes, public cursors, the first pending rows of each place. Writes
 * nothing. A subscription to it is invalidated by each job that comes or goes at the head.
 */
import {
  checkInteger,
  checkLength,
  COST_DEFAULT,
  PEEK_DEFAULT,
  PEEK_MAX,
  PRIORITY_DEFAULT,
  QUEUES_MAX,
  type PeekedJob,
  withoutUndefined,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { QueryCtx } from "../_generated/server.js";
import { compareKeys } from "../rows/cursors.js";
import type { LookRequest } from "./hasWork.js";
import { isSpent, newPlaceScan, readAllOn } from "../index/scan.js";
import { authorize, within } from "../rows/tokens.js";
import { waitingRoom } from "./claimablePlaces.js";

export async function peek(
  ctx: QueryCtx,
  { limit = PEEK_DEFAULT, ...args }: LookRequest & { limit?: number },
): Promise<PeekedJob[]> {
  checkInteger("limit", limit, 1, PEEK_MAX);
  checkLength("The queues of a worker", args.queues, 1, QUEUES_MAX);
  const token = await authorize(ctx.db, args.token, args.queues);
  const request = await within(ctx, token, args);
  const { scanning, look } = waitingRoom(ctx, request);
  const jobs: PeekedJob[] = [];
  for (const queue of request.queues) {
    if (isSpent(scanning.left)) return jobs;
    const waiting = await look(queue);
    if (waiting === null) continue;
    const { bands, bounds, epoch } = waiting;
    for (const places of bands) {
      if (jobs.length >= limit || isSpent(scanning.left)) return jobs;
      const placeScans = places.map((place) => newPlaceScan(place, bounds, epoch));
      await readAllOn(scanning, placeScans, limit - jobs.length);
      const rows = placeScans.flatMap((placeScan) =>
        placeScan.rows.filter(({ cost }) => cost !== null),
      );
      rows.sort((a, b) => compareKeys(a.key, b.key));
      for (const { id } of rows.slice(0, limit - jobs.length)) {
        jobs.push(describe((await ctx.db.get("jobs", id))!));
      }
    }
  }
  return jobs;
}

function describe(job: Doc<"jobs">): PeekedJob {
  const { queue, enqueuedAt, attempt, payload, name, group, tags, labels } = job;
  const told = {
    ...{ id: job._id, queue, enqueuedAt, attempt, name, group, tags, labels },
    priority: job.priority ?? PRIORITY_DEFAULT,
    cost: job.cost ?? COST_DEFAULT,
    payload: "inline" in payload ? (payload.inline as unknown) : undefined,
  };
  return withoutUndefined(told) as PeekedJob;
}
