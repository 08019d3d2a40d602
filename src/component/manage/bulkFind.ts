/**
 * The search of a step over many jobs: the next ones that a filter means, as one snapshot shows them, so that the step
 * depends on no job but those that it changes, or has read ahead. The step reads each for real before it changes it.
 *
 * May not write, and may not be called but with `useStaleSnapshot`.
 */
import { v, type Infer } from "convex/values";
import {
  BULK_SCANNED,
  isFinished,
  vBulkAction,
  vJobFilter,
  vStatus,
  type BulkAction,
  type JobFilter,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import { internalQuery } from "../_generated/server.js";
import { snapshotOf } from "../index/scan.js";
import { isSameKey, walkKeyOf, walkOn, type Direction } from "../index/rowsAfter.js";

const vWalkKey = v.object({
  order: v.number(),
  shard: v.number(),
  seq: v.int64(),
  creationTime: v.number(),
});

/**
 * How far a pass has come: in which of its statuses, and at which key there; `null` for its beginning. `passed`: which rows
 * of that key have been dealt with.
 */
export const vPoint = v.object({
  status: v.number(),
  after: v.union(vWalkKey, v.null()),
  passed: v.optional(v.array(v.id("jobs"))),
});
export type Point = Infer<typeof vPoint>;

/** The point behind this row. */
export function behind({ after, passed = [] }: Point, { status, id, key }: Place): Point {
  const isTied = after !== null && isSameKey(after, key);
  return { status, after: key, passed: isTied ? [...passed, id] : [id] };
}

const vPlace = v.object({ status: v.number(), id: v.id("jobs"), key: vWalkKey });
type Place = Infer<typeof vPlace>;

const vSeen = v.object({
  jobs: v.array(vPlace),
  /** The point reached once all of them have been dealt with. */
  point: vPoint,
  /** Whether that is the end of the pass. */
  isEnd: v.boolean(),
  snapshot: v.union(v.int64(), v.null()),
});
export type Seen = Infer<typeof vSeen>;

export const findForBulk = internalQuery({
  args: {
    queue: v.string(),
    action: vBulkAction,
    statuses: v.array(vStatus),
    filter: vJobFilter,
    point: vPoint,
    limit: v.number(),
    /** Jobs that have been moved since are left. */
    upTo: v.optional(v.int64()),
    createdBefore: v.optional(v.number()),
  },
  returns: vSeen,
  handler: async (ctx, args): Promise<Seen> => {
    const { queue, action, statuses, filter, limit, upTo, createdBefore = Infinity } = args;
    const direction = directionOf(action);
    const seen: Seen = { jobs: [], point: args.point, isEnd: false, snapshot: snapshotOf(ctx) };
    let scans = BULK_SCANNED;
    while (scans > 0 && seen.jobs.length < limit) {
      const status = statuses[seen.point.status];
      if (status === undefined) return { ...seen, isEnd: true };
      const place = { queue, status, direction };
      const wanted = Math.min(scans, limit);
      const { after, passed = [] } = seen.point;
      const rows = await walkOn(ctx.db, place, after, wanted, passed);
      scans -= Math.max(rows.length, 1);
      for (const job of rows) {
        const row = { status: seen.point.status, id: job._id, key: walkKeyOf(job) };
        seen.point = behind(seen.point, row);
        // Of finished ones the order of their ends decides: see `upTo`.
        const isLater = !isFinished(job.status) && job._creationTime >= createdBefore;
        if (isLater || !isMeant(job, action, filter, upTo)) continue;
        seen.jobs.push(row);
        if (seen.jobs.length === limit) return seen;
      }
      if (rows.length < wanted) seen.point = { status: seen.point.status + 1, after: null };
    }
    return seen;
  },
});

/**
 * A cancel begins with the newest, at the other end of the line than the claims; a retry begins with the oldest, which
 * has waited longest.
 */
function directionOf(action: BulkAction): Direction {
  return action === "cancel" ? "desc" : "asc";
}

function isMeant(
  job: Doc<"jobs">,
  action: BulkAction,
  filter: JobFilter,
  upTo: bigint | undefined,
): boolean {
  if (upTo !== undefined && isFinished(job.status) && (job.seq as bigint) > upTo) return false;
  if (action === "cancel" && job.cancelRequestedAt !== undefined) return false;
  const { priority, tags, group, name, labels, enqueuedBefore, finishedBefore } = filter;
  return (
    (priority === undefined || (job.priority ?? 0) === priority) &&
    (tags === undefined || tags.some((tag) => job.tags?.includes(tag))) &&
    (group === undefined || job.group === group) &&
    (name === undefined || job.name === name) &&
    (labels === undefined || labels.every((label) => job.labels?.includes(label))) &&
    (enqueuedBefore === undefined || job.enqueuedAt < enqueuedBefore) &&
    (finishedBefore === undefined || (job.finishedAt ?? Infinity) < finishedBefore)
  );
}
