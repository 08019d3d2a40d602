/**
 * The routes of a queue, as rows. The only writer of `routes`.
 *
 * Whatever makes a job claimable has read its route's row for real, or inserted it: so nobody deletes a route in whose
 * range a job is about to lie.
 */
import {
  bandsOf,
  conveyorError,
  COST_DEFAULT,
  costClassOf,
  placeOf,
  PRIORITY_DEFAULT,
  RANGE_ROWS,
  routeKey,
  ROUTES_DROPPED,
  ROUTES_KEPT,
  ROUTES_BACK_MAX,
  ROUTES_MAX,
} from "../shared/index.js";
import type { Doc } from "./_generated/dataModel.js";
import type { DatabaseReader, DatabaseWriter } from "./_generated/server.js";
import type { Queue } from "./queues.js";

/** A part of the pending range, with the priorities at which jobs may wait there. */
export type Route = Pick<Doc<"routes">, "labels" | "costClass" | "number" | "priorities">;

/** Where jobs lie that say nothing: it needs no row. */
const PLAIN_KEY = routeKey({});
const PLAIN: Route = { labels: [], costClass: 0, number: 0, priorities: [PRIORITY_DEFAULT] };

/**
 * Makes sure that claims look where this job is about to lie, and returns the number of its route. What it found is kept
 * with the queue for the rest of the transaction, so that a thousand jobs of one kind cost one read.
 */
export async function ensureRoute(
  db: DatabaseWriter,
  queue: Pick<Queue, "name" | "routesSeen">,
  job: { priority?: number; labels?: string[]; cost?: number },
  came: "new" | "back" = "new",
): Promise<number> {
  const key = routeKey(job);
  const { priority = PRIORITY_DEFAULT } = job;
  if (key === PLAIN_KEY && priority === PRIORITY_DEFAULT) return PLAIN.number;
  const seen = `${priority}:${key}`;
  const number = queue.routesSeen.get(seen) ?? (await findOrInsert(db, queue.name, key, job, came));
  queue.routesSeen.set(seen, number);
  return number;
}

async function findOrInsert(
  db: DatabaseWriter,
  queue: string,
  key: string,
  job: { priority?: number; labels?: string[]; cost?: number },
  came: "new" | "back",
): Promise<number> {
  const { priority = PRIORITY_DEFAULT, labels = [], cost = COST_DEFAULT } = job;
  const row = await db
    .query("routes")
    .withIndex("queue", (q) => q.eq("queue", queue).eq("key", key))
    .unique();
  if (row === null) {
    const number = key === PLAIN_KEY ? PLAIN.number : await freeNumber(db, queue, came);
    const costClass = costClassOf(cost);
    await db.insert("routes", { queue, key, labels, costClass, number, priorities: [priority] });
    return number;
  }
  if (!row.priorities.includes(priority)) {
    await db.patch("routes", row._id, { priorities: [...row.priorities, priority] });
  }
  return row.number;
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

/**
 * Deletes some of the routes in which nothing waits, if a queue has many of them, so that claims look at fewer and new
 * ones find a number. For real: whoever is about to make a job claimable there has read the route's row, and one of the
 * two runs again. The plain route stays.
 */
export async function dropUnusedRoutes(db: DatabaseWriter, queue: string): Promise<void> {
  const rows = await rowsOf(db, queue);
  if (rows.length <= ROUTES_KEPT) return;
  // From a random one on: the first few may be in use for good.
  const start = Math.floor(Math.random() * rows.length);
  for (let i = 0; i < Math.min(rows.length, ROUTES_DROPPED); i += 1) {
    const row = rows[(start + i) % rows.length]!;
    if (row.key !== PLAIN_KEY && (await isEmpty(db, row))) await db.delete("routes", row._id);
  }
}

async function isEmpty(db: DatabaseReader, row: Doc<"routes">): Promise<boolean> {
  for (const order of row.priorities.flatMap(bandsOf)) {
    const waiting = await db
      .query("jobs")
      .withIndex("status", (q) =>
        q
          .eq("queue", row.queue)
          .eq("status", "pending")
          .eq("order", order)
          .gte("shard", placeOf(row.number, 0))
          .lt("shard", placeOf(row.number + 1, 0)),
      )
      .take(RANGE_ROWS);
    if (waiting.length > 0) return false;
  }
  return true;
}

/**
 * Two new routes at once read the same rows, so one of them runs again and finds another number. A job that comes back is
 * let over the limit: the purge may have dropped its route while it ran and others have taken all numbers, and it has to go
 * somewhere, or its holder could never be freed of it.
 */
async function freeNumber(
  db: DatabaseReader,
  queue: string,
  came: "new" | "back",
): Promise<number> {
  const taken = new Set((await rowsOf(db, queue)).map((row) => row.number));
  const max = came === "new" ? ROUTES_MAX : ROUTES_BACK_MAX;
  for (let number = PLAIN.number + 1; number < max; number += 1) {
    if (!taken.has(number)) return number;
  }
  throw conveyorError(
    "tooManyRoutes",
    `The waiting jobs of one queue may have up to ${ROUTES_MAX - 1} different sets of labels and cost classes; ` +
      `"${queue}" has as many. Labels are for kinds of workers: put what is different for every job into the payload, ` +
      "or use several queues.",
    { queue, max: ROUTES_MAX - 1 },
  );
}
