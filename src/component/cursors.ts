/**
 * Cursors: where to begin looking, so that the index entries of jobs long claimed are not walked over again.
 *
 * The invariant: *in one (queue, band, shard), no row with a key below the bound is claimable, or can become so
 * without a new `seq`.* It holds since rows become claimable in commit order (`seq` is the commit timestamp, and a
 * snapshot shows all commits up to its own), provided that a bound is computed from one snapshot, never passes a row
 * that was seen and not taken, comes from resolved values only, and carries the whole key: all rows of one
 * transaction share their `seq`.
 *
 * *Public* bounds hold for everyone and are written by the janitor only. *Private* ones travel with one session's
 * claims, as a string that nobody else reads. They may pass rows that this claimer can never take under its conditions
 * (rows of other groups), so the string carries these conditions, and is dropped when they change.
 */
import type { Infer } from "convex/values";
import { conveyorError, CURSOR_MAX_BYTES, type Status } from "../shared/index.js";
import type { Doc } from "./_generated/dataModel.js";
import type { DatabaseReader } from "./_generated/server.js";
import type { vBound } from "./stored.js";

/** A place in the order of one band of one shard. */
export interface Key {
  seq: bigint;
  creationTime: number;
}
export type Bound = Infer<typeof vBound>;
/** The bounds of one queue, valid for one epoch of it. */
export interface QueueBounds {
  epoch: number;
  bounds: Bound[];
  /** The bound of every place that `bounds` does not name: those that were all empty. Absent: none is known. */
  floor?: Key | undefined;
}

/** Below everything. */
export const START: Key = { seq: 0n, creationTime: 0 };

export function compareKeys(a: Key, b: Key): number {
  if (a.seq !== b.seq) return a.seq < b.seq ? -1 : 1;
  return a.creationTime - b.creationTime;
}

/**
 * The least key above this one: the rows of one transaction have consecutive floats for creation times. Rows of callers
 * that began in the same instant may share theirs, and then their whole key once one commit has written them all: only
 * who has read all of this key, or to the end of a range, may go on from here.
 */
export function justAfter({ seq, creationTime }: Key): Key {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, creationTime);
  view.setBigUint64(0, view.getBigUint64(0) + 1n);
  return { seq, creationTime: view.getFloat64(0) };
}

/** The least key that no row of these commits, or of any before, can have. */
export function afterCommit(seq: bigint): Key {
  return { seq: seq + 1n, creationTime: 0 };
}

/** The bound of a band and shard: the highest of what is known. */
export function boundOf(
  sources: readonly (QueueBounds | undefined)[],
  epoch: number,
  order: number,
  shard: number,
): Key {
  let highest = START;
  for (const source of sources) {
    if (source?.epoch !== epoch) continue;
    const bound = source.bounds.find((b) => b.order === order && b.shard === shard) ?? source.floor;
    if (bound !== undefined && compareKeys(bound, highest) > 0) highest = bound;
  }
  return { seq: highest.seq, creationTime: highest.creationTime };
}

export async function publicBounds(
  db: DatabaseReader,
  queue: string,
): Promise<Doc<"cursors"> | undefined> {
  const row = await db
    .query("cursors")
    .withIndex("queue", (q) => q.eq("queue", queue))
    .unique();
  return row ?? undefined;
}

/** A stretch of the index of jobs within which rows lie in commit order. */
export interface Place {
  queue: string;
  status: Status;
  order: number;
  shard: number;
}

/**
 * The first rows of a place from a key on, up to the commit `upTo`.
 *
 * A key within a transaction's rows needs two reads, since an index range cannot begin at a pair of fields: what is
 * left of that transaction, then everything after it.
 */
export async function jobsFrom(
  db: DatabaseReader,
  { queue, status, order, shard }: Place,
  from: Key,
  count: number,
  upTo?: bigint,
): Promise<Doc<"jobs">[]> {
  if (upTo !== undefined && upTo < from.seq) return [];
  const tie =
    from.creationTime === 0
      ? []
      : await db
          .query("jobs")
          .withIndex("status", (q) =>
            q
              .eq("queue", queue)
              .eq("status", status)
              .eq("order", order)
              .eq("shard", shard)
              .eq("seq", from.seq)
              .gte("_creationTime", from.creationTime),
          )
          .take(count);
  if (tie.length === count) return tie;
  const rest = await db
    .query("jobs")
    .withIndex("status", (q) => {
      const place = q.eq("queue", queue).eq("status", status).eq("order", order).eq("shard", shard);
      const above =
        from.creationTime === 0 ? place.gte("seq", from.seq) : place.gt("seq", from.seq);
      return upTo === undefined ? above : above.lte("seq", upTo);
    })
    .take(count - tie.length);
  return [...tie, ...rest];
}

/** The first pending rows of a band and shard from a bound on, up to `upTo`. */
export async function pendingFrom(
  db: DatabaseReader,
  place: Omit<Place, "status">,
  from: Key,
  count: number,
  upTo?: bigint,
): Promise<Doc<"jobs">[]> {
  return await jobsFrom(db, { ...place, status: "pending" }, from, count, upTo);
}

// --- The private cursor's string ----------------------------------------------------------------

/** What a session remembers from claim to claim. */
export interface PrivateCursor {
  /** Groups of whose rows alone the bounds say something; empty for all. */
  groups: readonly string[];
  queues: Map<string, QueueBounds>;
}

/**
 * Not for anybody to read, and written with every call of a lane: bounds that are alike, as those of all places that one look
 * found empty, share one entry, which names their shards by band. Numbers of 64 bits go as strings, which plain JSON would
 * round.
 */
type Wire = Record<string, [epoch: number, ...alike: Alike[]]>;
type Alike = [seq: string, creationTime: number, ...places: [order: number, ...shards: number[]][]];
/** Beside the queues' names, none of which looks like this. */
const GROUPS = "#groups";

export function encodeCursor({ groups, queues }: PrivateCursor): string {
  const wire: Wire & { [GROUPS]?: readonly string[] } = {};
  if (groups.length > 0) Object.assign(wire, { [GROUPS]: groups });
  for (const [queue, { epoch, bounds }] of queues) wire[queue] = [epoch, ...alikeOf(bounds)];
  const cursor = JSON.stringify(wire);
  // Looking from the start again is slow but right; a reply that its own repeat would be refused with is neither.
  return isTooLarge(cursor) ? "{}" : cursor;
}

function alikeOf(bounds: readonly Bound[]): Alike[] {
  const byKey = new Map<string, { alike: Alike; byOrder: Map<number, [number, ...number[]]> }>();
  for (const { order, shard, seq, creationTime } of bounds) {
    const key = `${seq} ${creationTime}`;
    let entry = byKey.get(key);
    if (entry === undefined) {
      entry = { alike: [seq.toString(), creationTime], byOrder: new Map() };
      byKey.set(key, entry);
    }
    let place = entry.byOrder.get(order);
    if (place === undefined) {
      place = [order];
      entry.byOrder.set(order, place);
      entry.alike.push(place);
    }
    place.push(shard);
  }
  return [...byKey.values()].map(({ alike }) => alike);
}

/** What the cursor knows for a claimer of these groups. One that was made for others knows nothing. */
export function decodeCursor(
  cursor: string | undefined,
  groups: readonly string[] = [],
): PrivateCursor {
  const queues = new Map<string, QueueBounds>();
  if (cursor === undefined) return { groups, queues };
  if (isTooLarge(cursor)) throw notOurs();
  let madeFor: unknown;
  try {
    const { [GROUPS]: theirs = [], ...wire } = JSON.parse(cursor) as Wire & { [GROUPS]?: unknown };
    madeFor = theirs;
    for (const [queue, [epoch, ...alike]] of Object.entries(wire)) {
      queues.set(queue, { epoch, bounds: alike.flatMap(decodeBounds) });
    }
  } catch {
    throw notOurs();
  }
  if (JSON.stringify(madeFor) !== JSON.stringify(groups)) queues.clear();
  return { groups, queues };
}

/** In bytes, as it is stored: a character may be three of them. */
function isTooLarge(cursor: string): boolean {
  if (cursor.length * 3 <= CURSOR_MAX_BYTES) return false;
  return new TextEncoder().encode(cursor).length > CURSOR_MAX_BYTES;
}

/** The cursor's bounds in these queues: bounds in others are not kept. */
export function ofQueues(
  { groups, queues }: PrivateCursor,
  names: ReadonlySet<string>,
): PrivateCursor {
  return { groups, queues: new Map([...queues].filter(([queue]) => names.has(queue))) };
}

function decodeBounds([seq, creationTime, ...places]: Alike): Bound[] {
  // Older versions wrote each bound by itself, its band first: forgotten, it costs one look from the start.
  if (typeof seq === "number") return [];
  const wide = BigInt(seq);
  // Wider than the index knows, it would be refused by the platform, in words that name no cursor.
  if (BigInt.asIntN(64, wide) !== wide) throw notOurs();
  return places.flatMap(([order, ...shards]) =>
    shards.map((shard) => {
      if (![order, shard, creationTime].every(Number.isFinite)) throw notOurs();
      return { order, shard, seq: wide, creationTime };
    }),
  );
}

function notOurs(): Error {
  return conveyorError(
    "invalidArgument",
    "This is no cursor that a claim returned. Pass the last claim's cursor unchanged, or none to look from the start.",
    { argument: "cursor" },
  );
}
