/**
 * Which of a queue's pending jobs a claimer picks, in its snapshot.
 *
 * Priorities are exact: before the first job of a lower one is picked, all jobs of the higher ones that this claimer
 * may have are, in any shard. Within one priority claimers are kept apart by shards and turns (`assignment.ts`): its
 * own first, then jobs that have waited in other shards. Jobs that come back go before new ones wherever they lie.
 */
import {
  commitTimeOf,
  bandsOf,
  foreignShards,
  hasTurn,
  placeOf,
  RANKED_SESSIONS_MAX,
  STEAL_AFTER_MS,
  type Turn,
} from "../../shared/index.js";
import { compareKeys, type QueueBounds } from "../rows/cursors.js";
import type { Level } from "../rows/conditions.js";
import {
  goesOn,
  isSpent,
  lift,
  newPlaceScan,
  readAllOn,
  type ScanContext,
  type SeenRow,
  type PlaceScan,
} from "../index/scan.js";
import type { Assignment } from "./assignment.js";

/**
 * Rows that a claimer reads for each that it needs and each session that shares its shard: so many that one of them is
 * nearly always its own, in a shard with a backlog.
 */
const WINDOW_FACTOR = 8;
/**
 * In a crowd each claim reads so many more rows than its part that it nearly always finds as many as it has room for:
 * measured beside other ways in `docs/internals/choices/push.md`.
 */
const CROWD_FACTOR = 1.25;
const CROWD_MORE = 2;
/** More would cost more to read than the conflicts it saves, but where so many share a shard that most would find nothing. */
const WINDOW_MAX = 128;
const WINDOW_LEAST_FACTOR = 1.5;

/** One that was called up leaves a job for so long: the sessions at work may have long jobs, or be none that may have it. */
const LEFT_MS = 2_000;

/** A row newer than this clock was committed by a clock that is ahead. */
const CLOCKS_APART_MS = 60_000;

/** The queue that is searched, and from which place. */
export interface Target {
  name: string;
  /** The most it ever had. */
  shards: number;
  /** Every claimer takes from the head of all shards: strict order was asked for. */
  isStrict: boolean;
  epoch: number;
  assignment: Assignment;
  bounds: readonly (QueueBounds | undefined)[];
  now: number;
  /** New jobs need not be left to any other session. */
  isWoken: boolean;
  /** Jobs that became claimable later are not for this claimer. */
  newest?: bigint | undefined;
}

/** The picks so far: so many jobs, of so much cost. */
export class Picks {
  readonly rows: SeenRow[] = [];
  private readonly ids = new Set<string>();

  constructor(
    private roomLeft: number,
    private costLeft: number,
  ) {}

  get need(): number {
    return this.roomLeft;
  }

  /** Nothing fits any more: no job costs less than 1. */
  get isFull(): boolean {
    return this.need <= 0 || this.costLeft < 1;
  }

  has(row: SeenRow): boolean {
    return this.ids.has(row.id);
  }

  /** Picks the row if it may be taken and fits the remaining room. */
  add(row: SeenRow): void {
    if (this.isFull || this.has(row) || row.cost === null || row.cost > this.costLeft) return;
    this.rows.push(row);
    this.ids.add(row.id);
    this.costLeft -= row.cost;
    this.roomLeft -= 1;
  }

  affords(cost: number): boolean {
    return cost <= this.costLeft;
  }

  /** An empty set of picks with the remaining room of this one: a row added to it is not taken yet. */
  tentative(): Picks {
    return new Picks(this.need, this.costLeft);
  }
}

/** A priority that has been searched, with the rows seen in each of its bands. */
interface LevelScan {
  level: Level;
  bands: Map<number, Map<number, PlaceScan>>;
}

/** The result of a search of one queue. */
export interface ScanResult {
  /** The priorities that were searched by the rules of shards, so that jobs may be left there. */
  levelScan: LevelScan[];
  placeScans: PlaceScan[];
  /** Whether the budget has sufficed for all priorities. */
  isWhole: boolean;
}

/** Picks from one queue: as far as the budget goes, from the highest priority down. */
export async function pickFrom(
  scanning: ScanContext,
  target: Target,
  levels: readonly Level[],
  picks: Picks,
): Promise<ScanResult> {
  const scanned: ScanResult = { levelScan: [], placeScans: [], isWhole: true };
  for (const level of levels) {
    if (picks.isFull) break;
    if (isSpent(scanning.left)) return { ...scanned, isWhole: false };
    const levelScan: LevelScan = { level, bands: new Map() };
    const tentative = picks.tentative();
    await lookAtLevel(scanning, target, scanned, levelScan, tentative, level === levels.at(-1));
    if (tentative.rows.length > 0 && !(await pickRest(scanning, target, scanned, picks))) break;
    for (const row of tentative.rows) picks.add(row);
    scanned.levelScan.push(levelScan);
  }
  return scanned;
}

/**
 * Picks the remaining jobs of the priorities searched, in every shard. Returns whether none of them is left, so that a
 * lower priority may be taken.
 */
export async function pickRest(
  scanning: ScanContext,
  target: Target,
  scanned: ScanResult,
  picks: Picks,
): Promise<boolean> {
  for (const { level, bands } of scanned.levelScan) {
    for (const order of bandsOf(level.priority)) {
      const all = Array.from({ length: target.shards }, (_, shard) => shard);
      const known = bands.get(order) ?? new Map<number, PlaceScan>();
      const placeScans = placeScansOf(target, scanned, known, level, order, all, picks);
      for (const placeScan of placeScans) lift(placeScan, target.newest);
      for (;;) {
        const rows = placeScans.flatMap((placeScan) => placeScan.rows).sort(byKey);
        const start = target.isStrict ? 0 : Math.floor(Math.random() * rows.length);
        for (const row of [...rows.slice(start), ...rows.slice(0, start)]) picks.add(row);
        const unread = placeScans.filter(goesOn);
        if (picks.isFull) return false;
        if (unread.length === 0) break;
        if (isSpent(scanning.left)) return false;
        await readAllOn(scanning, unread, picks.need);
      }
    }
  }
  scanned.levelScan = [];
  return true;
}

/**
 * One priority: in each band the claimer's own shards, merged in commit order, then, with room left, jobs that have
 * waited in other shards.
 *
 * Bands are the outer loop, so that returned jobs go before new ones wherever they lie; stealing is bounded by age, so
 * that the owner of a shard has no conflicts at its fresh jobs. Where lower priorities are in use, young and guarded
 * jobs are read as well, since the next step must know whether there are any.
 */
async function lookAtLevel(
  scanning: ScanContext,
  target: Target,
  scanned: ScanResult,
  { level, bands }: LevelScan,
  tentative: Picks,
  isLowest: boolean,
): Promise<void> {
  const { own, turn, guarded, part, busy } = target.assignment;
  const { isWoken } = target;
  const isThief = target.assignment.maySteal;
  const maySteal = isThief || isWoken;
  for (const order of bandsOf(level.priority)) {
    if (tentative.isFull) return;
    const known = new Map<number, PlaceScan>();
    bands.set(order, known);
    const mine = placeScansOf(target, scanned, known, level, order, own, tentative);
    await readAllOn(
      scanning,
      mine,
      shareOf(target, mine, windowOf(tentative.need, target.assignment)),
    );
    const rows = mine.flatMap((placeScan) => placeScan.rows).sort(byKey);
    // One that was called up leaves the last jobs to as many sessions at work, which are back in a moment if ever.
    const waiting = (rows.length * target.shards) / own.length;
    const mayTakeNew = isWoken && (isThief || Math.random() * busy < waiting);
    const oldMs = mayTakeNew ? -CLOCKS_APART_MS : isWoken ? LEFT_MS : STEAL_AFTER_MS;
    // A clock decides here only when another session may steal; the owner finds the job independently of clocks.
    const waited = commitTimeOf(target.now - oldMs);
    if (turn === "unknown") {
      pickScattered(tentative, rows, 1);
    } else {
      const turns = new Set(rows.filter((row) => hasTurn(row.id, turn)));
      for (const row of turns) tentative.add(row);
      const others = rows.filter((row) => !turns.has(row) && row.key.seq <= waited);
      if (maySteal || isHelper(turn, others)) pickScattered(tentative, others, part);
    }
    if (tentative.isFull) return;
    const foreign = foreignShards(own, target.shards, Math.random());
    const free = foreign.filter((shard) => maySteal || !guarded.has(shard));
    const shards = isLowest ? free : foreign;
    const upTo = isLowest ? waited : undefined;
    const theirs = placeScansOf(target, scanned, known, level, order, shards, tentative, upTo);
    await readAllOn(
      scanning,
      theirs,
      shareOf(target, theirs, windowOf(tentative.need, target.assignment)),
    );
    const places = new Set(
      free.flatMap((shard) => level.routes.map((route) => placeOf(route.number, shard))),
    );
    const ripe = theirs.filter((placeScan) => places.has(placeScan.shard));
    const old = ripe.flatMap(({ rows: seen }) => seen).filter((row) => row.key.seq <= waited);
    pickScattered(tentative, old, part);
  }
}

/**
 * The places of these shards in every route that is not too dear by now: known ones, and new ones as they are found.
 */
function placeScansOf(
  target: Target,
  scanned: ScanResult,
  known: Map<number, PlaceScan>,
  level: Level,
  order: number,
  shards: readonly number[],
  tentative: Picks,
  upTo?: bigint,
): PlaceScan[] {
  const routes = level.routes.filter((route) => tentative.affords(route.minCost));
  return shards.flatMap((shard) =>
    routes.flatMap(({ number }) => {
      const place = { queue: target.name, order, shard: placeOf(number, shard) };
      const met = known.get(place.shard);
      if (met !== undefined) return met;
      const placeScan = newPlaceScan(
        place,
        target.bounds,
        target.epoch,
        earlier(upTo, target.newest),
      );
      known.set(place.shard, placeScan);
      scanned.placeScans.push(placeScan);
      return placeScan;
    }),
  );
}

export function earlier(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a < b ? a : b;
}

/**
 * Whether it takes jobs of another session's turn here: that session may be busy. With a chance of so many jobs to the
 * square of the sharers, so that of all sessions that claim at the same time about one helps for as many jobs as there
 * are sharers: two seldom conflict. (With one chance in two 66 conflicts per 100 jobs of a stream for 32 workers
 * instead of some 8; none at all: jobs with a busy owner wait up to seconds.)
 */
function isHelper({ sharers }: Turn, others: readonly SeenRow[]): boolean {
  return Math.random() * sharers ** 2 < others.length;
}

/** How many rows to read: the rows needed, if no other session reads here; else enough to find one's own among them. */
function windowOf(need: number, { turn, isAlone }: Assignment): number {
  const sharers = turn === "unknown" ? RANKED_SESSIONS_MAX : turn.sharers;
  if (sharers === 1) return need;
  // A claim for any job leaves other claims' turns to them where it can: else a lane with much room, and a call that
  // takes long, would lose to each that has little.
  if (isAlone) return Math.ceil(need * CROWD_FACTOR + CROWD_MORE) * sharers;
  const most = Math.max(WINDOW_MAX, Math.ceil(sharers * WINDOW_LEAST_FACTOR));
  return Math.max(need, Math.min(need * sharers * WINDOW_FACTOR, most));
}

/**
 * How many of them in each place. Jobs are spread at random over the shards: twice a shard's share nearly always
 * suffices, and reads no more than that. Where strict order was asked for, nearly always is not enough.
 */
function shareOf({ isStrict }: Target, placeScans: readonly PlaceScan[], window: number): number {
  return isStrict ? window : Math.min(window, 2 * Math.ceil(window / placeScans.length));
}

function byKey(a: SeenRow, b: SeenRow): number {
  return compareKeys(a.key, b.key);
}

/**
 * Picks from a random row on, among rows that other claims may take in the same instant, one `part`th of them at most.
 * The first rows are as likely as any to be taken: none waits long.
 */
function pickScattered(picks: Picks, seen: readonly SeenRow[], part: number): void {
  const rows = seen.filter((row) => row.cost !== null && !picks.has(row));
  const count = Math.min(picks.need, Math.max(1, Math.floor(rows.length / part)));
  const start = Math.floor(Math.random() * Math.max(1, rows.length - count + 1));
  for (const row of rows.slice(start, start + count)) picks.add(row);
}
