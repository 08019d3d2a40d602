/**
 * Where the jobs of a status lie, as parts of a list. Waiting jobs lie in bands, one for each priority and one more for
 * returned jobs, each spread over shards and routes, which are merged by commit: that is the order in which they are
 * claimed, as nearly as claims keep one. Paused ones wait behind all bands. Jobs that are due later lie by their time,
 * jobs of the other statuses by when they came into their status.
 *
 * Without a status: running, waiting, due later, and then ended jobs, however they ended.
 */
import { mergedStream, stream, type QueryStream } from "convex-helpers/server/stream";
import {
  FINISHED_STATUSES,
  LIST_PLACES_MAX,
  ORDER_PAUSED,
  type ListBy,
  type ListOrder,
  type Status,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { DatabaseReader } from "../_generated/server.js";
import { boundOf, publicBounds } from "../rows/cursors.js";
import type { Queue } from "../rows/queues.js";
import { placesOf } from "../rows/routes.js";
import schema from "../schema.js";
import type { Section } from "./concatStreams.js";

type Jobs = QueryStream<Doc<"jobs">>;
type JobSection = Section<Doc<"jobs">>;
type Direction = "asc" | "desc";

/** Of the rows of one commit the first created goes first. */
const BY_COMMIT = ["seq", "_creationTime", "_id"];
const BY_CREATION = ["_creationTime", "_id"];
const BY_INDEX = ["order", "shard", ...BY_COMMIT];

/**
 * The numbers of parts: cursors hold them, so they do not depend on the other parts. Bands have the numbers in between.
 */
const RUNNING = 0;
const BANDS = 1;
const SCHEDULED = 10_000;
const ENDED = 10_001;
const MARKED = 10_002;
/** Of all bands in the order of the index. No band has it. */
const ALL_BANDS = BANDS + ORDER_PAUSED / 2;

export async function sectionsOf(
  db: DatabaseReader,
  queue: Queue,
  status: Status | undefined,
  order: ListOrder,
): Promise<JobSection[]> {
  const direction = order === "next" ? "asc" : "desc";
  const inStatus = (one: Status) => ofStatus(db, queue.name, one, direction);
  switch (status) {
    case "pending":
      return await pendingSections(db, queue, direction);
    case "scheduled":
      return [scheduledSection(inStatus("scheduled"))];
    case "running":
      return [byCommit(RUNNING, [inStatus("running")])];
    case undefined:
      return [
        byCommit(RUNNING, [inStatus("running")]),
        ...(await pendingSections(db, queue, direction)),
        scheduledSection(inStatus("scheduled")),
        byCommit(ENDED, FINISHED_STATUSES.map(inStatus)),
      ];
    default:
      return [byCommit(ENDED, [inStatus(status)])];
  }
}

/** The jobs with a mark, as they were created. A deleted job's marks are deleted with it. */
export function markedSection(
  db: DatabaseReader,
  queue: string,
  { by, value }: { by: ListBy; value: string },
  order: ListOrder,
): JobSection {
  const marks = stream(db, schema)
    .query("marks")
    .withIndex("value", (q) => q.eq("queue", queue).eq("by", by).eq("value", value))
    .order(order === "next" ? "asc" : "desc");
  const jobs = mergedStream([marks], BY_CREATION).map(async ({ job }) => await db.get("jobs", job));
  return { rank: MARKED, fields: BY_CREATION, stream: jobs };
}

function scheduledSection(jobs: Jobs): JobSection {
  return { rank: SCHEDULED, fields: BY_INDEX, stream: mergedStream([jobs], BY_INDEX) };
}

/** Of statuses in which all rows have the same order and shard. */
function byCommit(rank: number, parts: Jobs[]): JobSection {
  return { rank, fields: BY_COMMIT, stream: mergedStream(parts, BY_COMMIT) };
}

/** The single place of a status that has one; for `scheduled`, all its places. */
function ofStatus(db: DatabaseReader, queue: string, status: Status, direction: Direction): Jobs {
  const jobs = stream(db, schema).query("jobs");
  return jobs
    .withIndex("status", (q) => {
      const rows = q.eq("queue", queue).eq("status", status);
      return status === "scheduled" ? rows : rows.eq("order", 0).eq("shard", 0);
    })
    .order(direction);
}

/**
 * In a queue of more places than can be merged (its priorities, routes and shards multiplied) waiting jobs are listed
 * in the order of the index: still by priority, and within a priority place by place. Where it comes to have so many between
 * two pages, or fewer, the next one is refused, and the client starts over.
 */
async function pendingSections(
  db: DatabaseReader,
  queue: Queue,
  direction: Direction,
): Promise<JobSection[]> {
  const paused = byCommit(rankOf(ORDER_PAUSED, direction), [
    inPlace(db, queue.name, { order: ORDER_PAUSED, shard: 0 }, 0n, direction),
  ]);
  const places = await placesOf(db, queue);
  const bands =
    places.length > LIST_PLACES_MAX
      ? [inIndexOrder(db, queue.name, direction)]
      : await bandSections(db, queue, places, direction);
  return [...bands, paused].sort((a, b) => a.rank - b.rank);
}

function rankOf(order: number, direction: Direction): number {
  return BANDS + (direction === "asc" ? order : ORDER_PAUSED - order);
}

async function bandSections(
  db: DatabaseReader,
  queue: Queue,
  places: readonly { order: number; shard: number }[],
  direction: Direction,
): Promise<JobSection[]> {
  // Below the public cursors lie only index entries of claimed jobs.
  const bounds = [await publicBounds(db, queue.name)];
  const bands = new Map<number, Jobs[]>();
  for (const place of places) {
    const { seq } = boundOf(bounds, queue.epoch, place.order, place.shard);
    const jobs = inPlace(db, queue.name, place, seq, direction);
    bands.set(place.order, [...(bands.get(place.order) ?? []), jobs]);
  }
  return [...bands].map(([order, parts]) => ({
    ...byCommit(rankOf(order, direction), parts),
    insteadOf: [ALL_BANDS, ALL_BANDS],
  }));
}

function inPlace(
  db: DatabaseReader,
  queue: string,
  { order, shard }: { order: number; shard: number },
  from: bigint,
  direction: Direction,
): Jobs {
  return stream(db, schema)
    .query("jobs")
    .withIndex("status", (q) =>
      q
        .eq("queue", queue)
        .eq("status", "pending")
        .eq("order", order)
        .eq("shard", shard)
        .gte("seq", from),
    )
    .order(direction);
}

function inIndexOrder(db: DatabaseReader, queue: string, direction: Direction): JobSection {
  const jobs = stream(db, schema)
    .query("jobs")
    .withIndex("status", (q) =>
      q.eq("queue", queue).eq("status", "pending").lt("order", ORDER_PAUSED),
    )
    .order(direction);
  return {
    ...{ rank: ALL_BANDS, fields: BY_INDEX, stream: mergedStream([jobs], BY_INDEX) },
    insteadOf: [BANDS, BANDS + ORDER_PAUSED],
  };
}
