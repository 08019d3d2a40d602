/**
 * The routes of a queue, as rows. The only writer of `routes`.
 *
 * A transaction that makes a job claimable has read its route's row for real, or inserted it: so no transaction deletes
 * a route, or forgets a priority of it, while a job is about to lie in its range.
 *
 * A route or priority without waiting jobs is forgotten by the purge where a queue has many of them, and by the
 * transaction that finds all numbers taken. Snapshot reads: the routes and priorities without waiting jobs. Reads for
 * real: the ranges of these. Writes: the routes. Conflicts with: a transaction that makes a job claimable there.
 */
import { v } from "convex/values";
import {
  bandsOf,
  conveyorError,
  COST_DEFAULT,
  costClassOf,
  LOOK_RANGES_MAX,
  placeOf,
  PLACES_MAX,
  PRIORITY_DEFAULT,
  routeKey,
  ROUTES_DROPPED,
  ROUTES_KEPT,
  ROUTES_BACK_MAX,
  ROUTES_MAX,
  ROUTES_OF_WORKERS,
} from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import { internalQuery, type DatabaseReader, type MutationCtx } from "../_generated/server.js";
import type { Queue } from "./queues.js";

/** A part of the pending range, with the priorities at which jobs may wait there. */
export type Route = Pick<Doc<"routes">, "labels" | "costClass" | "number" | "priorities">;

type QueueWithRoutes = Pick<Queue, "name" | "routesSeen" | "routesKept" | "shardsEver">;

/** The options of a job that decide its place. `ofWorker`: it comes from a worker with a token. */
type Needs = Partial<Pick<Doc<"jobs">, "priority" | "labels" | "cost" | "ofWorker">>;

/** The place of jobs without such options: it needs no row. */
const PLAIN_KEY = routeKey({});
const PLAIN: Route = { labels: [], costClass: 0, number: 0, priorities: [PRIORITY_DEFAULT] };

/**
 * Ensures that claims read the place where this job is about to lie, and returns the number of its route. The number is
 * kept with the queue for the rest of the transaction, so that a thousand jobs of one kind cost one read.
 */
export async function ensureRoute(
  ctx: MutationCtx,
  queue: QueueWithRoutes,
  job: Needs,
  came: "new" | "back" = "new",
): Promise<number> {
  const { key, priority, seen } = placeKeyOf(job);
  if (isPlain(key, priority)) return PLAIN.number;
  const number = queue.routesSeen.get(seen) ?? (await findOrInsert(ctx, queue, key, job, came));
  queue.routesSeen.set(seen, number);
  return number;
}

/**
 * Whether a running job may come back at once. A worker's job whose place was forgotten while it ran may not: it is the
 * dispatcher's, which finds it a place of the ones that are left to workers' jobs.
 */
export async function mayComeBack(
  { db }: MutationCtx,
  queue: QueueWithRoutes,
  job: Needs & Pick<Doc<"jobs">, "paused">,
): Promise<boolean> {
  const { key, priority, seen } = placeKeyOf(job);
  const needsRoute = job.paused !== true && !isPlain(key, priority);
  if (job.ofWorker !== true || !needsRoute || queue.routesSeen.has(seen)) return true;
  const row = await findRoute(db, queue.name, key);
  if (row?.priorities.includes(priority) !== true) return false;
  queue.routesSeen.set(seen, row.number);
  return true;
}

function placeKeyOf(job: Needs): { key: string; priority: number; seen: string } {
  const key = routeKey(job);
  const { priority = PRIORITY_DEFAULT } = job;
  return { key, priority, seen: `${priority}:${key}` };
}

function isPlain(key: string, priority: number): boolean {
  return key === PLAIN_KEY && priority === PRIORITY_DEFAULT;
}

async function findRoute(
  db: DatabaseReader,
  queue: string,
  key: string,
): Promise<Doc<"routes"> | null> {
  return await db
    .query("routes")
    .withIndex("queue", (q) => q.eq("queue", queue).eq("key", key))
    .unique();
}

async function findOrInsert(
  ctx: MutationCtx,
  queue: QueueWithRoutes,
  key: string,
  job: Needs,
  came: "new" | "back",
): Promise<number> {
  const { priority = PRIORITY_DEFAULT, labels = [], cost = COST_DEFAULT } = job;
  const { name } = queue;
  const find = async () =>
    queue.routesKept?.rows?.find((one) => one.key === key) ?? (await findRoute(ctx.db, name, key));
  let row = await find();
  if (row?.priorities.includes(priority) === true) return row.number;
  // It may have been forgotten to make room.
  if (!isLetOver(job, came) && (await makeRoom(ctx, queue, job, row))) row = await find();
  if (row === null) {
    const number = key === PLAIN_KEY ? PLAIN.number : await freeNumber(ctx, queue, job, came);
    const needs = { labels, costClass: costClassOf(cost) };
    const fields = { queue: name, key, ...needs, number, priorities: [priority] };
    const _id = await ctx.db.insert("routes", fields);
    queue.routesKept?.rows?.push({ _id, _creationTime: 0, ...fields });
    return number;
  }
  await patchPriorities(ctx, queue, row, [...row.priorities, priority]);
  return row.number;
}

/**
 * A job of the app that comes back is let over the limits: its route may have been forgotten while it ran, with all
 * numbers taken since, and it needs a place, or its session could not be freed of it. A worker's job is not: a token's
 * workers could hold many jobs of their own, and hand all of them back.
 */
function isLetOver({ ofWorker }: Needs, came: "new" | "back"): boolean {
  return came === "back" && ofWorker !== true;
}

/**
 * For one more priority of a route: where the queue has as many places as it may, unused ones are forgotten. Returns
 * whether it has searched for any. A worker's job that needs a place of the workers' half is refused for the places of
 * that half alone, or for all: what the app has beyond it leaves that half to workers.
 */
async function makeRoom(
  ctx: MutationCtx,
  queue: QueueWithRoutes,
  { ofWorker }: Needs,
  row: Doc<"routes"> | null,
): Promise<boolean> {
  const { name, shardsEver } = queue;
  const placesIn = (rows: readonly Doc<"routes">[]) => 2 * shardsEver * (1 + bandsIn(rows));
  const isApps = row !== null && row.number >= ROUTES_OF_WORKERS;
  const limitOf = (rows: readonly Doc<"routes">[]): number | null => {
    const counted = isApps ? rows : rows.filter(({ number }) => number < ROUTES_OF_WORKERS);
    if (ofWorker === true && placesIn(counted) > PLACES_MAX / 2) return PLACES_MAX / 2;
    return placesIn(rows) > PLACES_MAX ? PLACES_MAX : null;
  };
  if (limitOf(await allRows(ctx, queue)) === null) return false;
  await dropUnused(ctx, queue, { queue: name });
  const max = limitOf(await allRows(ctx, queue));
  if (max !== null) throw tooManyPlaces(name, shardsEver, max);
  return true;
}

/** Refuses more shards than the queue may have with the priorities and labels that are in use. */
export async function checkShards(db: DatabaseReader, name: string, shards: number): Promise<void> {
  if (2 * shards * bandsIn(await rowsOf(db, name)) > PLACES_MAX) throw tooManyPlaces(name, shards);
}

/** The priorities in use of all routes; the default priority of the plain route always counts. */
function bandsIn(rows: readonly Doc<"routes">[]): number {
  const plain = rows.find(({ key }) => key === PLAIN_KEY);
  const isNamed = plain?.priorities.includes(PRIORITY_DEFAULT) === true;
  return rows.reduce((sum, { priorities }) => sum + priorities.length, isNamed ? 0 : 1);
}

/** All rows for real: of a transaction that keeps them as it has read and written them. */
async function allRows(
  ctx: MutationCtx,
  { name, routesKept }: QueueWithRoutes,
): Promise<Doc<"routes">[]> {
  const rows = routesKept?.rows ?? (await rowsOf(ctx.db, name));
  if (routesKept !== undefined) routesKept.rows = rows;
  return rows;
}

async function patchPriorities(
  ctx: MutationCtx,
  { routesKept }: Pick<Queue, "routesKept">,
  { _id }: Doc<"routes">,
  priorities: number[],
): Promise<void> {
  await ctx.db.patch("routes", _id, { priorities });
  const kept = routesKept?.rows?.find((one) => one._id === _id);
  if (kept !== undefined) kept.priorities = priorities;
}

function tooManyPlaces(queue: string, shards: number, max = PLACES_MAX): Error {
  return conveyorError(
    "tooManyPlaces",
    `The waiting jobs of one queue may lie in up to ${max} places${forWorkers(max < PLACES_MAX)}: its shards, twice for each priority of each set of ` +
      `labels and class of cost; "${queue}" has ${shards} shards and would have more. Give it fewer shards, use fewer ` +
      "priorities or labels, or use several queues.",
    { queue, shards, max },
  );
}

/** All routes of a queue, the plain one among them. */
export async function routesOf(db: DatabaseReader, queue: string): Promise<Route[]> {
  const rows = await rowsOf(db, queue);
  const plain = rows.find((row) => row.key === PLAIN_KEY);
  const priorities = [...new Set([PRIORITY_DEFAULT, ...(plain?.priorities ?? [])])];
  return [{ ...PLAIN, priorities }, ...rows.filter((row) => row !== plain)];
}

/** Every place in which a job of the queue may wait to be claimed. */
export async function placesOf(
  db: DatabaseReader,
  { name, shardsEver }: Pick<Queue, "name" | "shardsEver">,
): Promise<{ order: number; shard: number }[]> {
  return placesAmong(await routesOf(db, name), shardsEver);
}

/** The same, but `null` if they are more than so many. */
export async function fewPlacesOf(
  db: DatabaseReader,
  { name, shardsEver }: Pick<Queue, "name" | "shardsEver">,
  max: number,
): Promise<{ order: number; shard: number }[] | null> {
  const routes = await routesOf(db, name);
  const bands = routes.reduce((sum, { priorities }) => sum + 2 * priorities.length, 0);
  return bands * shardsEver > max ? null : placesAmong(routes, shardsEver);
}

function placesAmong(
  routes: readonly Route[],
  shardsEver: number,
): { order: number; shard: number }[] {
  const shards = Array.from({ length: shardsEver }, (_, shard) => shard);
  return routes.flatMap(({ number, priorities }) =>
    priorities
      .flatMap((priority) => [...bandsOf(priority)])
      .flatMap((order) => shards.map((shard) => ({ order, shard: placeOf(number, shard) }))),
  );
}

async function rowsOf(db: DatabaseReader, queue: string): Promise<Doc<"routes">[]> {
  return await db
    .query("routes")
    .withIndex("queue", (q) => q.eq("queue", queue))
    .take(ROUTES_BACK_MAX);
}

/** Of a queue with many routes and priorities, forgets some without waiting jobs, so that claims read fewer places. */
export async function dropUnusedRoutes(ctx: MutationCtx, queue: string): Promise<void> {
  const rows = await rowsOf(ctx.db, queue);
  if (rows.reduce((sum, { priorities }) => sum + priorities.length, 0) <= ROUTES_KEPT) return;
  await dropUnused(ctx, {}, { queue });
}

/** A route of the queue, and the priorities of it that the snapshot shows to be empty. */
interface Unused {
  id: Id<"routes">;
  priorities: number[];
}

/**
 * Forgets routes and priorities that a snapshot shows to be empty, after a real read that they are: of the routes
 * `among` these alone, and only as a whole. The plain route stays. Returns the numbers that have become free. An
 * unsuccessful search is made once per transaction.
 */
async function dropUnused(
  ctx: MutationCtx,
  kept: Pick<Queue, "routesKept">,
  args: { queue: string; among?: Id<"routes">[] },
): Promise<number[]> {
  // Many jobs that fall due at once may all find none.
  const asked = args.among?.join() ?? "all";
  if (kept.routesKept?.inVain?.has(asked) === true) return [];
  const looked: Unused[] = await ctx.runQuery(internal.rows.routes.unusedRoutes, args, {
    useStaleSnapshot: true,
  });
  if (kept.routesKept !== undefined && looked.length === 0)
    (kept.routesKept.inVain ??= new Set()).add(asked);
  const freed: number[] = [];
  for (const { id, priorities } of looked) {
    const row = await ctx.db.get("routes", id);
    if (row === null) continue;
    const unused = await emptyIn(ctx.db, row, priorities);
    const used = row.priorities.filter((priority) => !unused.includes(priority));
    if (used.length === 0 && row.key !== PLAIN_KEY) {
      await ctx.db.delete("routes", id);
      freed.push(row.number);
      const { routesKept } = kept;
      if (routesKept?.rows) routesKept.rows = routesKept.rows.filter((one) => one._id !== id);
    } else if (args.among === undefined && used.length < row.priorities.length) {
      await patchPriorities(ctx, kept, row, used);
    }
  }
  return freed;
}

/** Some routes with the priorities in which nothing waits. To be called with `useStaleSnapshot`. */
export const unusedRoutes = internalQuery({
  args: { queue: v.string(), among: v.optional(v.array(v.id("routes"))) },
  returns: v.array(v.object({ id: v.id("routes"), priorities: v.array(v.number()) })),
  handler: async (ctx, { queue, among }): Promise<Unused[]> => {
    const all = await rowsOf(ctx.db, queue);
    const rows = among === undefined ? all : all.filter(({ _id }) => among.includes(_id));
    // From a random one on: the first few may be in use for good.
    const start = Math.floor(Math.random() * rows.length);
    const unused: Unused[] = [];
    let ranges = LOOK_RANGES_MAX / 2;
    for (const row of [...rows.slice(start), ...rows.slice(0, start)]) {
      ranges -= 2 * row.priorities.length;
      if (ranges < 0 || unused.length === ROUTES_DROPPED) break;
      const priorities = await emptyIn(ctx.db, row, row.priorities, among !== undefined);
      if (priorities.length >= (among === undefined ? 1 : row.priorities.length)) {
        unused.push({ id: row._id, priorities });
      }
    }
    return unused;
  },
});

/** Of these priorities of a route the empty ones; `all`: only as far as that all are. */
async function emptyIn(
  db: DatabaseReader,
  row: Doc<"routes">,
  priorities: readonly number[],
  all = false,
): Promise<number[]> {
  const empty: number[] = [];
  for (const priority of priorities) {
    if (!(await isAnyIn(db, row, priority))) empty.push(priority);
    else if (all) break;
  }
  return empty;
}

async function isAnyIn(
  db: DatabaseReader,
  { queue, number }: Doc<"routes">,
  priority: number,
): Promise<boolean> {
  for (const order of bandsOf(priority)) {
    const first = await db
      .query("jobs")
      .withIndex("status", (q) =>
        q
          .eq("queue", queue)
          .eq("status", "pending")
          .eq("order", order)
          .gte("shard", placeOf(number, 0))
          .lt("shard", placeOf(number + 1, 0)),
      )
      .first();
    if (first !== null) return true;
  }
  return false;
}

/**
 * Two new routes at once read the same rows, so one of them retries and finds another number. Where all are taken,
 * unused routes are forgotten, except routes that this transaction has read or inserted. A worker's token never takes
 * the numbers of the upper half, which the app takes first: it leaves the lower half to workers as long as it can.
 */
async function freeNumber(
  ctx: MutationCtx,
  queue: QueueWithRoutes,
  job: Needs,
  came: "new" | "back",
): Promise<number> {
  const { name, routesSeen } = queue;
  const { ofWorker = false } = job;
  const rows = await allRows(ctx, queue);
  const taken = new Set(rows.map((row) => row.number));
  const max = ofWorker ? ROUTES_OF_WORKERS : ROUTES_MAX;
  const mayHave = (number: number) => number < max || isLetOver(job, came);
  const numbers = Array.from({ length: ROUTES_BACK_MAX - 1 }, (_, i) => PLAIN.number + 1 + i);
  const free = numbers.filter((number) => mayHave(number) && !taken.has(number));
  const first = free.find((n) => !ofWorker && n >= ROUTES_OF_WORKERS && n < ROUTES_MAX) ?? free[0];
  if (first !== undefined) return first;
  const ours = new Set(routesSeen.values());
  const others = rows.filter(
    ({ key, number }) => key !== PLAIN_KEY && mayHave(number) && !ours.has(number),
  );
  const among = others.map(({ _id }) => _id);
  const [freed] = await dropUnused(ctx, queue, { queue: name, among });
  if (freed !== undefined) return freed;
  throw conveyorError(
    "tooManyRoutes",
    `The waiting jobs of one queue may have up to ${max - 1} different sets of labels and cost classes${forWorkers(ofWorker)}; ` +
      `"${name}" has as many. Labels are for kinds of workers: put values that differ per job into the payload, ` +
      "or use several queues.",
    { queue: name, max: max - 1 },
  );
}

function forWorkers(ofWorker: boolean): string {
  return ofWorker ? " before workers may bring new ones (the rest is the app's)" : "";
}
