/**
 * Reading the pending range, place by place: a *place* is one band of one shard of one route. Every scan has a budget
 * of ranges and rows, so that it never exceeds its transaction's limits, however the queue is composed.
 *
 * Reads `jobs`, from cursors on; writes nothing. A claim calls it in a snapshot; `hasWork` and `peek` call it for real:
 * the ranges read are in their read sets.
 */
import { v, type Infer } from "convex/values";
import { LOOK_BYTES_MAX, LOOK_RANGES_MAX, LOOK_ROWS_MAX } from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { DatabaseReader, QueryCtx } from "../_generated/server.js";
import {
  afterCommit,
  boundOf,
  compareKeys,
  pendingFrom,
  type Key,
  type QueueBounds,
} from "../rows/cursors.js";
import { costOf, isOfGroups, isPreferred, type Offer } from "../rows/conditions.js";
import { bytesOf } from "../rows/rowBytes.js";
import { vKey } from "../rows/stored.js";

/** Rows read at once where most are passed over: enough for a group to turn up, few enough to stop soon after. */
const PAGE = 64;
/** Rows read at the same time: a quarter of the rows of maximum size that one scan may read. */
const AT_ONCE_MAX = 128;

/**
 * Rows that a claimer passes by in one place without being able to leave them behind: rows left to another worker for
 * now. Jobs behind so many are for the workers that take them.
 */
const SKIPPED_MAX = 256;

/** The place of rows of an uncommitted transaction. */
const LAST_SEQ = 2n ** 63n - 1n;

export interface Place {
  queue: string;
  order: number;
  shard: number;
}

/** The context of a scan. */
export interface ScanContext {
  db: DatabaseReader;
  offer: Offer;
  /** Of the query itself; `null` where the platform cannot say. */
  snapshot: bigint | null;
  /** Whether this claimer leaves the job to other workers for now. */
  avoids: (job: Doc<"jobs">) => boolean;
  /** The job's time is over: no worker is given it, and the alarm of its deadline ends it. */
  isOver: (job: Doc<"jobs">) => boolean;
  /** For a lane in a queue without a handler: whether the job brings one. Jobs without one are for workers. */
  mayRun?: (job: Doc<"jobs">) => Promise<boolean>;
  /** The remaining budget. */
  left: Budget;
}

export interface Budget {
  ranges: number;
  rows: number;
  bytes: number;
}

/** The reads of one scan: fewer rows where they are large. */
export function newBudget(ranges: number = LOOK_RANGES_MAX): Budget {
  return { ranges, rows: LOOK_ROWS_MAX, bytes: LOOK_BYTES_MAX };
}

export const vSeenRow = v.object({
  id: v.id("jobs"),
  key: vKey,
  /** It can never be this claimer's under its conditions, or its time is over: its private cursor may pass it. */
  isPassed: v.boolean(),
  /** The same while it may spend no more than now. */
  isDear: v.boolean(),
});

/** A row that was seen. `cost`: of a budget; `null` for one that is not to be taken. */
export interface SeenRow extends Infer<typeof vSeenRow> {
  cost: number | null;
}

/** One place, as far as it has been read. */
export interface PlaceScan extends Place {
  /** In the order of the index. */
  rows: SeenRow[];
  /** Where to read on. */
  from: Key;
  /** Rows before it were passed as too dear: its rows say nothing about larger budgets. */
  isBehindDear: boolean;
  /** Rows that became claimable later are not read. */
  upTo: bigint | undefined;
  /** Once all rows are dealt with, nothing below this is claimable; `null` while there may be more to read. */
  end: Key | null;
  /** Rows in between that stay where they are. */
  skipped: number;
}

export function newPlaceScan(
  place: Place,
  bounds: readonly (QueueBounds | undefined)[],
  epoch: number,
  upTo?: bigint,
): PlaceScan {
  const boundIn = (some: typeof bounds) => boundOf(some, epoch, place.order, place.shard);
  const from = boundIn(bounds);
  const plain = boundIn(bounds.filter((one) => one?.maxCost === undefined));
  const isBehindDear = compareKeys(from, plain) > 0;
  return { ...place, rows: [], from, isBehindDear, upTo, end: null, skipped: 0 };
}

/** Reads on until there are `count` more rows to take, the place ends, or nothing more may be read. */
export async function readOn(
  scanning: ScanContext,
  placeScan: PlaceScan,
  count: number,
): Promise<void> {
  let found = 0;
  while (found < count && goesOn(placeScan) && !isSpent(scanning.left))
    found += await readPage(scanning, placeScan, pageOf(placeScan, count - found));
}

/** The first page has the size needed if every row fits; a second page shows that some did not. */
function pageOf({ rows }: PlaceScan, wanted: number): number {
  return Math.min(Math.max(wanted, rows.length === 0 ? 1 : PAGE), AT_ONCE_MAX);
}

/** How many of the rows are to be taken. */
async function readPage(
  scanning: ScanContext,
  placeScan: PlaceScan,
  size: number,
): Promise<number> {
  let found = 0;
  scanning.left.ranges -= placeScan.from.creationTime === 0 ? 1 : 2;
  // Rows that share the last key are read again, since more rows of that key may exist than fitted.
  const known = new Set(placeScan.rows.filter(({ key }) => isSame(key, placeScan.from)).map(idOf));
  const wanted = size + known.size;
  const jobs = await pendingFrom(scanning.db, placeScan, placeScan.from, wanted, placeScan.upTo);
  scanning.left.rows -= jobs.length;
  for (const job of jobs) scanning.left.bytes -= bytesOf(job);
  const mayRun = scanning.mayRun && (await Promise.all(jobs.map(scanning.mayRun)));
  for (const [i, job] of jobs.entries()) {
    if (known.has(job._id)) continue;
    const row = seenRow(scanning, job, mayRun?.[i]);
    placeScan.rows.push(row);
    if (row.cost !== null) found += 1;
    else if (!row.isPassed && !row.isDear) placeScan.skipped += 1;
  }
  const last = placeScan.rows.at(-1);
  if (last !== undefined) placeScan.from = last.key;
  if (jobs.length < wanted) placeScan.end = endOf(scanning.snapshot, placeScan) ?? placeScan.from;
  return found;
}

const idOf = ({ id }: SeenRow) => id;

function isSame(a: Key, b: Key): boolean {
  return compareKeys(a, b) === 0;
}

/** Whether there may be more to be had in this place. */
export function goesOn({ end, skipped }: PlaceScan): boolean {
  return end === null && skipped < SKIPPED_MAX;
}

/**
 * The same in each of these places: page by page, in several places at once, so few that their reads beyond the free
 * room stay small even for large rows.
 */
export async function readAllOn(
  scanning: ScanContext,
  placeScans: readonly PlaceScan[],
  count: number,
): Promise<void> {
  let todo = placeScans.map((placeScan) => ({ placeScan, wanted: count }));
  while (todo.length > 0 && !isSpent(scanning.left)) {
    let rows = Math.min(AT_ONCE_MAX, scanning.left.rows);
    const ranges = Math.max(1, Math.floor(scanning.left.ranges / 2));
    const end = todo.findIndex(({ placeScan, wanted }, i) => {
      rows -= pageOf(placeScan, wanted);
      return i > 0 && (rows < 0 || i === ranges);
    });
    const some = end === -1 ? todo : todo.slice(0, end);
    const read = await Promise.all(
      some.map(async ({ placeScan, wanted }) => {
        if (wanted <= 0 || !goesOn(placeScan)) return { placeScan, wanted: 0 };
        return {
          placeScan,
          wanted: wanted - (await readPage(scanning, placeScan, pageOf(placeScan, wanted))),
        };
      }),
    );
    const unread = read.filter(({ placeScan, wanted }) => wanted > 0 && goesOn(placeScan));
    todo = [...unread, ...todo.slice(some.length)];
  }
}

/** Also reads rows left out as too young, up to `newest`. */
export function lift(placeScan: PlaceScan, newest?: bigint): void {
  if (placeScan.upTo === newest) return;
  placeScan.upTo = newest;
  placeScan.end = null;
}

export function isSpent(left: Budget): boolean {
  return left.ranges <= 0 || left.rows <= 0 || left.bytes <= 0;
}

function seenRow(scanning: ScanContext, job: Doc<"jobs">, mayRun = true): SeenRow {
  const { offer } = scanning;
  const cost = costOf(job);
  // At the end of a preference the job lies behind every cursor again, and so does one that is retried after its end.
  const isPassed =
    !mayRun || !isOfGroups(job, offer) || !isPreferred(job, offer) || scanning.isOver(job);
  const isDear = cost > (offer.maxCost ?? Infinity);
  const isFit = !isPassed && !isDear && !scanning.avoids(job);
  return { id: job._id, key: keyOf(job), isPassed, isDear, cost: isFit ? cost : null };
}

export function keyOf(job: Doc<"jobs">): Key {
  // A snapshot shows resolved timestamps only. A query that is run inside the transaction of an enqueue sees that
  // transaction's rows too: they lie behind all other rows.
  const seq: unknown = job.seq;
  return { seq: typeof seq === "bigint" ? seq : LAST_SEQ, creationTime: job._creationTime };
}

/**
 * The key below which nothing is left once a range has been read to its end: the snapshot's own timestamp, or the bound
 * of the read, whichever is less. With the clock ahead of the database, rows may yet come below `upTo`.
 */
function endOf(snapshot: bigint | null, { upTo }: PlaceScan): Key | null {
  if (snapshot === null) return null;
  return afterCommit(upTo !== undefined && upTo < snapshot ? upTo : snapshot);
}

/**
 * This query's own snapshot, never the outer transaction's: the platform may give a snapshot query an older one.
 * `null` where the platform cannot say; cursors then follow the rows that were taken, and only that.
 */
export function snapshotOf(ctx: QueryCtx): bigint | null {
  try {
    return ctx.meta.getSnapshotTs();
  } catch {
    return null;
  }
}
