/**
 * One step over many jobs: cancels, retries or deletes the next ones that a filter means, and says where the next step
 * begins.
 *
 * Snapshot reads: the jobs meant. Reads for real: each job that it changes, up to 15 behind one at which it stops,
 * and as `cancel`, `retry`, `deleteJob` do. Writes: as the functions for one job; `onComplete` is always owed and
 * never run here. Conflicts with: a transaction that moves one of these very jobs or writes a note in its row; and as
 * the functions for one job.
 */
import {
  BULK_CHANGED,
  BULK_PASSES,
  conveyorError,
  FINISHED_STATUSES,
  isFinished,
  type BulkAction,
  type JobFilter,
  type Status,
} from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import type { DatabaseReader, MutationCtx } from "../_generated/server.js";
import { behind, type Point, type Seen } from "./bulkFind.js";
import { withEffects } from "../edges/applyEffects.js";
import type { EdgeCtx } from "../rows/effects.js";
import { cancelJob } from "./cancel.js";
import { askToStop } from "../rows/cancels.js";
import { logDeleted } from "../rows/log.js";
import { ensureWindowPurged } from "../count/purge.js";
import { getQueue } from "../rows/queues.js";
import { TABLES, newRoom, removeJob, type Place, type Room } from "../count/remove.js";
import { retryJob } from "./retry.js";
import type { WalkKey } from "../index/rowsAfter.js";

/** An action, and the jobs that it applies to. */
export interface Order {
  queue: string;
  action: BulkAction;
  filter: JobFilter;
  reason?: string;
}

/** Where the next step begins. Opaque outside: see {@link encodeCursor}. */
export interface Cursor {
  point: Point;
  /** Passes that have ended, and whether this one has changed anything. */
  passes: number;
  hasChanged: boolean;
  /** Finished jobs that were moved after the first step began are left. */
  upTo: bigint | null;
  /** A job of which a part is deleted. */
  place: Place | null;
}

export interface Step {
  changed: number;
  /** `null` when no job is left. */
  next: Cursor | null;
}

export const FIRST: Cursor = {
  point: { status: 0, after: null },
  passes: 0,
  hasChanged: false,
  upTo: null,
  place: null,
};

const ACTIVE = ["scheduled", "pending", "running"] as const satisfies readonly Status[];

/** The statuses searched if the filter names none, and the statuses that it may name. */
const STATUSES: Record<BulkAction, { usual: readonly Status[]; possible: readonly Status[] }> = {
  cancel: { usual: ACTIVE, possible: ACTIVE },
  retry: { usual: ["failed", "timedOut"], possible: FINISHED_STATUSES },
  delete: { usual: FINISHED_STATUSES, possible: [...ACTIVE, ...FINISHED_STATUSES] },
};

/** The statuses that an order is about, in the order in which jobs go through them. */
export function statusesOf({ action, filter }: Order): Status[] {
  const { usual, possible } = STATUSES[action];
  const asked = filter.statuses ?? usual;
  const wrong = asked.find((status) => !possible.includes(status));
  if (wrong !== undefined || asked.length === 0) {
    throw conveyorError(
      "invalidArgument",
      `To ${action} many jobs, name one or more of ${possible.map((s) => `"${s}"`).join(", ")} as statuses, or none for ` +
        `${usual.map((s) => `"${s}"`).join(", ")}; got ${JSON.stringify(asked)}.`,
      { argument: "statuses", got: [...asked] },
    );
  }
  return possible.filter((status) => asked.includes(status));
}

interface StepOptions {
  limit?: number;
  /** The first job meant is passed over instead, and named. */
  skip?: boolean;
  /** Of a task: jobs that came later are left. */
  createdBefore?: number;
}

export async function step(
  ctx: MutationCtx,
  order: Order,
  cursor: Cursor,
  options: StepOptions = {},
): Promise<Step & { skipped?: Id<"jobs"> }> {
  return await withEffects(ctx, {}, (ctx) => changeNext(ctx, order, cursor, options));
}

async function changeNext(
  ctx: EdgeCtx,
  order: Order,
  cursor: Cursor,
  { limit = BULK_CHANGED, skip = false, createdBefore }: StepOptions,
): Promise<Step & { skipped?: Id<"jobs"> }> {
  const statuses = statusesOf(order);
  const { queue, action, filter } = order;
  const seen: Seen = await ctx.runQuery(
    internal.manage.bulkFind.findForBulk,
    {
      ...{ queue, action, statuses, filter, point: cursor.point },
      limit: skip ? 1 : limit,
      ...(cursor.upTo === null ? {} : { upTo: cursor.upTo }),
      ...(createdBefore === undefined ? {} : { createdBefore }),
    },
    { useStaleSnapshot: true },
  );
  const next: Cursor = {
    ...cursor,
    upTo: cursor.upTo ?? ctx.meta.getSnapshotTs(),
    place: null,
  };
  const [first] = seen.jobs;
  if (skip && first !== undefined) {
    return { changed: 0, next: { ...next, point: behind(next.point, first) }, skipped: first.id };
  }
  const room = newRoom();
  let changed = 0;
  let some: (Doc<"jobs"> | null)[] = [];
  for (const [i, row] of seen.jobs.entries()) {
    const ahead = i % READ_AHEAD;
    if (ahead === 0) some = await jobsOf(ctx.db, seen.jobs.slice(i, i + READ_AHEAD));
    const job = some[ahead] ?? null;
    if (job !== null && statuses.includes(job.status)) {
      const done = await act(ctx, order, job, { room, from: cursor.place });
      if (typeof done === "object") {
        next.place = done.place;
        return pause(ctx, queue, changed, next);
      }
      if (done) changed += 1;
    }
    next.point = behind(next.point, row);
  }
  next.point = seen.point;
  next.hasChanged ||= changed > 0;
  if (!seen.isEnd) return pause(ctx, queue, changed, next);
  if (action !== "retry") ctx.effects.toCount.add(queue);
  // A pass that fits in one step has seen all jobs at one time, so none can have moved past it.
  const isWhole = cursor.point.status === 0 && cursor.point.after === null && cursor.place === null;
  // The platform may have chosen an older snapshot than that of the first step.
  const hasSeenAll = seen.snapshot !== null && seen.snapshot >= next.upTo!;
  const isDone = hasSeenAll && (isWhole || isSettled(statuses, action, next));
  return { changed, next: isDone ? null : nextPass(next) };
}

/**
 * Rows that are read at the same time: one after the other took 1.5 ms a job. A change of one job changes no other's row. A step
 * that stops at a job of many rows depends on the ones that it has read ahead.
 */
const READ_AHEAD = 16;

async function jobsOf(db: DatabaseReader, rows: Seen["jobs"]): Promise<(Doc<"jobs"> | null)[]> {
  return await Promise.all(rows.map(({ id }) => db.get("jobs", id)));
}

function pause({ effects }: EdgeCtx, queue: string, changed: number, next: Cursor): Step {
  if (changed > 0) effects.toCount.add(queue);
  return { changed, next: { ...next, hasChanged: next.hasChanged || changed > 0 } };
}

/**
 * Jobs in progress move between statuses during a pass, also into a status that it has already covered: another pass
 * follows the first, and one more each that found something. Not for a retry: a retried job that fails again stays
 * failed.
 */
function isSettled(statuses: readonly Status[], action: BulkAction, done: Cursor): boolean {
  const mayMove = action !== "retry" && statuses.some((status) => !isFinished(status));
  return !mayMove || (done.passes > 0 && !done.hasChanged);
}

function nextPass({ passes, upTo }: Cursor): Cursor | null {
  return passes + 1 >= BULK_PASSES ? null : { ...FIRST, upTo, passes: passes + 1 };
}

/** Changes one job. Whether it did, or the place from which its deletion has to go on. */
async function act(
  ctx: EdgeCtx,
  { action, reason }: Order,
  job: Doc<"jobs">,
  { room, from }: { room: Room; from: Place | null },
): Promise<boolean | { place: Place | null }> {
  switch (action) {
    case "cancel": {
      const { canceled, requested } = await cancelJob(ctx, job, reason);
      return canceled || (requested && job.cancelRequestedAt === undefined);
    }
    case "retry":
      return (await retryJob(ctx, job)).retried;
    case "delete": {
      if (room.rows <= 0 || room.bytes <= 0) return { place: null };
      const place = await removeJob(ctx, job, room, { from: from ?? undefined });
      if (place !== null) return { place };
      await ensureWindowPurged(ctx, job, ctx.now);
      logDeleted((await getQueue(ctx.db, job.queue)).config, job);
      if (job.status === "running" && job.cancelRequestedAt === undefined) {
        await askToStop(ctx, job);
      }
      return true;
    }
  }
}

// --- The cursor as callers see it ----------------------------------------------------------------

export function encodeCursor(cursor: Cursor): string {
  return JSON.stringify(cursor, (_key, value: unknown) =>
    typeof value === "bigint" ? { $: value.toString() } : value,
  );
}

/** It comes from outside. Its place is valid for this queue and filter only, and is checked when it is used. */
function isCursor(db: DatabaseReader, value: unknown): value is Cursor {
  const { point, passes, hasChanged, upTo, place } = value as Cursor;
  // Wider than the index knows, each step of a task would be refused by the platform, for ever.
  const isSeq = (seq: unknown) => typeof seq === "bigint" && BigInt.asIntN(64, seq) === seq;
  const isKey = ({ order, shard, seq, creationTime }: WalkKey) =>
    [order, shard, creationTime].every((field) => typeof field === "number") && isSeq(seq);
  const isPlace = ({ job, table, attempt, within }: Place) =>
    typeof job === "string" &&
    TABLES.includes(table) &&
    typeof attempt === "number" &&
    (within === null || typeof within === "number");
  return (
    [point.status, passes].every((count) => Number.isInteger(count) && count >= 0) &&
    (point.after === null || isKey(point.after)) &&
    (point.passed ?? []).every((id) => db.normalizeId("jobs", id) !== null) &&
    typeof hasChanged === "boolean" &&
    (upTo === null || isSeq(upTo)) &&
    (place === null || isPlace(place))
  );
}

export function decodeCursor(db: DatabaseReader, cursor: string): Cursor {
  try {
    const decoded = JSON.parse(cursor, (_key, value: unknown) =>
      typeof value === "object" && value !== null && "$" in value
        ? BigInt(value.$ as string)
        : value,
    ) as unknown;
    if (isCursor(db, decoded)) return decoded;
  } catch {
    // Refused below, like one that is of the right form and says nothing.
  }
  throw conveyorError(
    "invalidArgument",
    "This is no cursor that a call over many jobs returned. Pass the last call's cursor unchanged, or none to begin.",
    { argument: "cursor" },
  );
}
