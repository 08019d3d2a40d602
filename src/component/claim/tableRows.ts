/**
 * Rows of the app's own table as jobs. The app's claim offers rows by id, in its order; the job of each is inserted here with
 * its lease, in the transaction that has read the row: it never waits, so that it has no place, no wake and no condition.
 * A worker that has room for a plain job may have it. So a row that waits has no job, and from its claim on leases,
 * retries, losses and `onComplete` are those of every job.
 *
 * A job has its row's id as payload and as key: a row has one active job at most. Jobs that wait for another attempt are
 * found by the claim's own search, which comes before this.
 *
 * Reads for real: per row its key. Where the app says that it has offered all: the queue's row, and its row of
 * `announced`. Writes: inserts into `jobs` and `keys`, and as a claim of these jobs; that row, where it said that
 * there are more. Conflicts with: another claim of the same row, a transaction that takes or frees its key;
 * `announce` and `advance` where they change the row of `announced`.
 */
import { getConvexSize, type Value } from "convex/values";
import {
  checkInteger,
  checkLabel,
  checkLength,
  COST_DEFAULT,
  ID_MAX_LENGTH,
  OFFERED_ROWS_MAX,
  PROGRESS_MAX_BYTES,
  type OfferedRows,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type {
  DatabaseReader,
  DatabaseWriter,
  MutationCtx,
  QueryCtx,
} from "../_generated/server.js";
import { insertLeased } from "../edges/transitions.js";
import { findKey, giveKey } from "../rows/keys.js";
import { findQueue, type Queue } from "../rows/queues.js";
import type { Session } from "../rows/sessions.js";
import { authorize, scopeOf } from "../rows/tokens.js";
import { hold, isFull, type LeaseBatch } from "./leaseBatch.js";

/**
 * Takes offered rows as far as there is room. Returns the rows whose jobs are active, of which the app's state is old, the
 * queues of which it has left none, and whether it has left any: of more than the app offers, too.
 */
export async function takeRows(
  ctx: MutationCtx,
  batch: LeaseBatch,
  offered: readonly OfferedRows[],
  before?: Announced,
): Promise<{ busyRows: string[]; hasLeft: boolean; emptied: string[] }> {
  const busyRows: string[] = [];
  const emptied: string[] = [];
  let hasLeft = false;
  // Of all queues together: each row that is passed over costs a look-up too.
  let budget = OFFERED_ROWS_MAX;
  for (const { queue, ids, all = false } of offered) {
    checkLength("The rows that a claim offers", ids, 0, OFFERED_ROWS_MAX);
    for (const id of ids) checkLabel("The id of a row", id, ID_MAX_LENGTH);
    const known = batch.queues.get(queue);
    if (known === undefined || known.isDraining) continue;
    const left = [...new Set(ids)];
    for (;;) {
      const rows = left.splice(0, Math.min(roomOf(batch), budget));
      if (rows.length === 0) break;
      budget -= rows.length;
      busyRows.push(...(await takeSome(ctx, batch, known, rows)));
    }
    if (all && left.length === 0) emptied.push(queue);
    hasLeft ||= !all || left.length > 0;
  }
  if (before === undefined) for (const queue of emptied) await setMore(ctx.db, queue, false);
  return { busyRows, hasLeft, emptied };
}

/** A row has no group, no labels, and the cost of a plain job. */
function roomOf(batch: LeaseBatch): number {
  const { offer, max, leases, cost } = batch;
  if (isFull(batch) || offer.groups.length > 0 || offer.groupPrefix !== undefined) return 0;
  const affords = Math.floor(((offer.maxCost ?? Infinity) - cost) / COST_DEFAULT);
  return Math.max(0, Math.min(max - leases.length, affords));
}

/** Returns the rows that have an active job. */
async function takeSome(
  ctx: MutationCtx,
  batch: LeaseBatch,
  queue: Queue,
  rows: readonly string[],
): Promise<string[]> {
  const { now } = batch;
  const busy: string[] = [];
  for (const row of rows) {
    const found = await findKey(ctx.db, queue.name, row, now);
    if (found.owner !== null) {
      busy.push(row);
      continue;
    }
    const fields = { payload: { inline: row }, enqueuedAt: now, key: row };
    const job = await insertLeased(ctx.db, queue, fields, batch.session, now);
    await giveKey(ctx.db, found, { queue: queue.name, key: row, job: job._id });
    const payload = { value: row, bytes: getConvexSize(row), isLeftOut: false };
    hold(batch, queue, job, queue.config, payload);
  }
  return busy;
}

/**
 * Whether a worker may take rows of the app's table now, and whether the app has announced any: for the app's own
 * subscription. `null`: the queue is paused or drained, or the worker is bound to groups, of which rows have none.
 */
export async function rowsWanted(
  ctx: QueryCtx,
  { token: secret, queue: name, groups }: { token: string; queue: string; groups?: string[] },
): Promise<{ announced: boolean } | null> {
  const token = await authorize(ctx.db, secret, [name]);
  if (groups !== undefined || scopeOf(token).groups !== null) return null;
  const queue = await findQueue(ctx.db, name);
  if (queue !== null && (queue.isPaused || queue.isDraining)) return null;
  return { announced: (await announcedOf(ctx.db, name))?.more === true };
}

// --- Announcements, and loops over batches: the only writers of `announced` -----------------------

async function announcedOf(db: DatabaseReader, queue: string): Promise<Doc<"announced"> | null> {
  return await db
    .query("announced")
    .withIndex("queue", (q) => q.eq("queue", queue))
    .unique();
}

/**
 * Writes only what says something else: a claim that finds no more rows and an announcement conflict, which is what keeps
 * either from missing the other; while rows wait no announcement writes.
 */
async function setMore(db: DatabaseWriter, queue: string, more: boolean): Promise<void> {
  const row = await announcedOf(db, queue);
  if ((row?.more ?? false) === more) return;
  if (row === null) await db.insert("announced", { queue, more });
  else await db.patch("announced", row._id, { more });
}

/** Queues with an offer of all their rows, and whether they were announced. */
export type Announced = ReadonlyMap<string, boolean>;

/**
 * For a call that runs callbacks between the app's offer and the claim: a callback may announce rows that the offer lacks. So the
 * offer's queues are announced no longer from before the callbacks on, and again where the claim leaves rows of them. Nothing is
 * written for a queue from which the claim takes nothing: all calls of its workers would conflict.
 */
export async function endAnnouncements(
  db: DatabaseWriter,
  { isQuiet }: Session,
  offered: readonly OfferedRows[] = [],
): Promise<Announced> {
  const before = new Map<string, boolean>();
  for (const { queue: name, all } of isQuiet === true ? [] : offered) {
    const queue = all === true ? await findQueue(db, name) : null;
    if (queue === null || queue.isPaused || queue.isDraining) continue;
    before.set(name, (await announcedOf(db, name))?.more === true);
    await setMore(db, name, false);
  }
  return before;
}

export async function announceAgain(
  db: DatabaseWriter,
  before: Announced,
  emptied: readonly string[] = [],
): Promise<void> {
  for (const [queue, was] of before)
    if (was && !emptied.includes(queue)) await setMore(db, queue, true);
}

export async function announce(ctx: MutationCtx, queue: string): Promise<null> {
  await setMore(ctx.db, queue, true);
  return null;
}

/** How far a loop over batches has come. */
export interface LoopState {
  turn: number;
  cursor?: Value;
}

export async function loopOf(db: DatabaseReader, queue: string): Promise<LoopState> {
  const { turn = 0, cursor } = (await announcedOf(db, queue)) ?? {};
  return { turn, ...(cursor === undefined ? {} : { cursor: cursor as Value }) };
}

/** Conflicts with: an announcement that begins the loop at the same moment, which then sees the new turn. */
export async function advance(
  ctx: MutationCtx,
  queue: string,
  { turn, cursor }: LoopState,
): Promise<null> {
  const bytes = cursor === undefined ? 0 : getConvexSize(cursor);
  checkInteger("The cursor of a loop, in bytes,", bytes, 0, PROGRESS_MAX_BYTES);
  const row = await announcedOf(ctx.db, queue);
  const to = { turn, ...(cursor === undefined ? {} : { cursor }) };
  if (row === null) await ctx.db.insert("announced", { queue, more: false, ...to });
  else await ctx.db.patch("announced", row._id, to);
  return null;
}
