/**
 * Cursors: where a scan begins, so that the index entries of jobs long claimed are not walked over again.
 *
 * The invariant: *in one (queue, band, shard), no row with a key below the bound is claimable, or can become so without
 * a new `seq`.* Rows become claimable in commit order: `seq` is the commit timestamp, and a snapshot shows all commits
 * up to its own. So the invariant holds, provided that a bound is computed from one snapshot, never passes a row that
 * was seen and not taken, comes from resolved values only, and carries the whole key: all rows of one transaction share
 * their `seq`.
 *
 * *Public* bounds hold for everyone and are written by the janitor only. *Private* ones travel with one session's
 * claims, as a string that no other session reads. They may pass rows that this claimer can never take under its
 * conditions (rows of other groups, or that prefer other labels), so the string names these conditions, and is dropped
 * when they change. The budget for its jobs changes from claim to claim: bounds that pass rows which are too dear stand
 * beside the other bounds, each with the budget up to which it holds.
 */
import type { OrderedQuery } from "convex/server";
import type { Infer } from "convex/values";
import { conveyorError, CURSOR_MAX_BYTES, type Status } from "../../shared/index.js";
import type { DataModel, Doc } from "../_generated/dataModel.js";
import type { DatabaseReader } from "../_generated/server.js";
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
  /** The bound of every place that `bounds` does not name: these places were all empty. Absent: none is known. */
  floor?: Key | undefined;
  /** They pass rows that cost more: they hold for claims that may spend no more than this. Absent: for all. */
  maxCost?: number | undefined;
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
 * a scan that has read all rows of this key, or to the end of a range, may go on from here.
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

/** The bound of a band and shard: the highest known one. */
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
 * A key within a transaction's rows needs two reads, since an index range cannot begin at a pair of fields: the
 * remaining rows of that transaction, then everything after it.
 */
export async function jobsFrom(
  db: DatabaseReader,
  { queue, status, order, shard }: Place,
  from: Key,
  count: number,
  upTo?: bigint,
  take: (range: OrderedQuery<DataModel["jobs"]>, count: number) => Promise<Doc<"jobs">[]> = async (
    range,
    most,
  ) => await range.take(most),
): Promise<Doc<"jobs">[]> {
  if (upTo !== undefined && upTo < from.seq) return [];
  const tie =
    from.creationTime === 0
      ? []
      : await take(
          db
            .query("jobs")
            .withIndex("status", (q) =>
              q
                .eq("queue", queue)
                .eq("status", status)
                .eq("order", order)
                .eq("shard", shard)
                .eq("seq", from.seq)
                .gte("_creationTime", from.creationTime),
            ),
          count,
        );
  if (tie.length === count) return tie;
  const rest = await take(
    db.query("jobs").withIndex("status", (q) => {
      const place = q.eq("queue", queue).eq("status", status).eq("order", order).eq("shard", shard);
      const above =
        from.creationTime === 0 ? place.gte("seq", from.seq) : place.gt("seq", from.seq);
      return upTo === undefined ? above : above.lte("seq", upTo);
    }),
    count - tie.length,
  );
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

/** The bounds that a session keeps from claim to claim. */
export interface PrivateCursor {
  /** The bounds hold only under these conditions; empty for jobs of every group and a worker without labels. */
  conditions: readonly string[];
  queues: Map<string, QueueBounds>;
  /** The bounds that hold up to a budget, by queue, the latest last. */
  dear: Map<string, QueueBounds[]>;
}

/** Budgets for which bounds of a queue are kept: as a worker's jobs come and go, the same few budgets recur. */
const DEAR_KEPT = 4;

/** The cursor's bounds in a queue for a claim with this budget. */
export function boundsFor(
  { queues, dear }: PrivateCursor,
  queue: string,
  maxCost = Infinity,
): (QueueBounds | undefined)[] {
  const holding = (dear.get(queue) ?? []).filter((one) => maxCost <= one.maxCost!);
  return [queues.get(queue), ...holding];
}

/** The bounds of a queue in this epoch for all budgets, or for this one, to be raised. */
export function boundsToRaise(
  { queues, dear }: PrivateCursor,
  queue: string,
  epoch: number,
  maxCost?: number,
): QueueBounds {
  const all = dear.get(queue) ?? [];
  const known =
    maxCost === undefined ? queues.get(queue) : all.find((one) => one.maxCost === maxCost);
  const bounds = known?.epoch === epoch ? known : { epoch, bounds: [], maxCost };
  if (maxCost === undefined) queues.set(queue, bounds);
  else dear.set(queue, [...all.filter((one) => one !== known), bounds].slice(-DEAR_KEPT));
  return bounds;
}

/**
 * Opaque to clients, and written with every call of a lane: equal bounds, as of all places that one scan found empty,
 * share one entry, which names their shards by band. Numbers of 64 bits go as strings, which plain JSON would round.
 */
type Wire = Record<string, [epoch: number, ...alike: Alike[]]>;
type Alike = [seq: string, creationTime: number, ...places: [order: number, ...shards: number[]][]];
/** Beside the names of queues, which never have this form: groups first, and the labels that the bounds depend on. */
const CONDITIONS = "#groups";
const DEAR = "#dear";
type Dear = [queue: string, maxCost: number, epoch: number, ...alike: Alike[]];
type Whole = Wire & { [CONDITIONS]?: readonly string[]; [DEAR]?: Dear[] };

export function encodeCursor({ conditions, queues, dear }: PrivateCursor): string {
  const wire: Record<string, unknown> = conditions.length > 0 ? { [CONDITIONS]: conditions } : {};
  for (const [queue, { epoch, bounds }] of queues) wire[queue] = [epoch, ...alikeOf(bounds)];
  const cheap = JSON.stringify(wire);
  const all = [...dear].flatMap(([queue, some]) =>
    some.map(({ maxCost, epoch, bounds }) => [queue, maxCost, epoch, ...alikeOf(bounds)]),
  );
  if (all.length > 0) wire[DEAR] = all;
  const cursor = JSON.stringify(wire);
  // A scan from the start is slow but right; a reply that the repeat of the call could not pass back is neither.
  return [cursor, cheap].find((one) => !isTooLarge(one)) ?? "{}";
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

/** The cursor's bounds for a claimer under these conditions. A cursor that was made under others has none. */
export function decodeCursor(
  cursor: string | undefined,
  conditions: readonly string[] = [],
): PrivateCursor {
  const queues = new Map<string, QueueBounds>();
  const dear = new Map<string, QueueBounds[]>();
  if (cursor === undefined) return { conditions, queues, dear };
  if (isTooLarge(cursor)) throw notOurs();
  let madeFor: unknown;
  try {
    const { [CONDITIONS]: theirs = [], [DEAR]: some = [], ...wire } = JSON.parse(cursor) as Whole;
    madeFor = theirs;
    for (const [queue, [epoch, ...alike]] of Object.entries(wire)) {
      queues.set(queue, { epoch, bounds: alike.flatMap(decodeBounds) });
    }
    for (const [queue, maxCost, epoch, ...alike] of some) {
      const one = { epoch, bounds: alike.flatMap(decodeBounds), maxCost };
      dear.set(queue, [...(dear.get(queue) ?? []), one].slice(-DEAR_KEPT));
    }
  } catch {
    throw notOurs();
  }
  if (JSON.stringify(madeFor) === JSON.stringify(conditions)) return { conditions, queues, dear };
  return { conditions, queues: new Map(), dear: new Map() };
}

/** In bytes, as it is stored: a character may be three of them. */
function isTooLarge(cursor: string): boolean {
  if (cursor.length * 3 <= CURSOR_MAX_BYTES) return false;
  return new TextEncoder().encode(cursor).length > CURSOR_MAX_BYTES;
}

/** The cursor's bounds in these queues: bounds in other queues are not kept. */
export function ofQueues(
  { conditions, queues, dear }: PrivateCursor,
  names: ReadonlySet<string>,
): PrivateCursor {
  const isOurs = ([queue]: [string, unknown]) => names.has(queue);
  return {
    conditions,
    queues: new Map([...queues].filter(isOurs)),
    dear: new Map([...dear].filter(isOurs)),
  };
}

function decodeBounds([seq, creationTime, ...places]: Alike): Bound[] {
  if (typeof seq !== "string") throw notOurs();
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
    "This is no cursor that a claim returned. Pass the last claim's cursor unchanged, or none to begin at the start.",
    { argument: "cursor" },
  );
}
