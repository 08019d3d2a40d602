/**
 * List: the jobs of a queue by status, in the order in which they come up or the other way round, page by page; or by tag or
 * group, as they were created, in a queue that asks for it.
 *
 * Reads for real, and no more than the page: the queue's row, its routes and public cursors if waiting jobs are asked
 * for, and of the index of `jobs` the rows of the page, the rows that a filter passes over, and one more row of each
 * other place with waiting jobs. Writes nothing. A subscription to a page is invalidated when one of its jobs moves, or
 * a job comes into it; the pages before and behind it do not.
 *
 * Pages neither overlap nor leave gaps, though rows come and go: a page ends at a key, the next begins there, and with
 * `endCursor` it stays as long as it was. A job that moves while a client turns pages is listed at its present place: a
 * later page may list it again, or it may have moved behind the pages already read.
 */
import {
  checkInteger,
  checkName,
  checkNumber,
  LIST_BYTES_MAX,
  LIST_ROWS_MAX,
  PAGE_MAX,
  type JobPage,
  type ListFilter,
  type ListOrder,
  type PageOptions,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { QueryCtx } from "../_generated/server.js";
import { isRetrying } from "../count/counts.js";
import { listedOf } from "./listed.js";
import { markedBy } from "../index/listIndex.js";
import { findQueue } from "../rows/queues.js";
import { checkCursor, END_CURSOR, Sections, veiled, type Section } from "./concatStreams.js";
import { markedSection, sectionsOf } from "./statusSections.js";

export interface ListRequest {
  queue: string;
  filter?: ListFilter;
  order?: ListOrder;
  paginationOpts: PageOptions;
}

const NOTHING: JobPage = { page: [], isDone: true, continueCursor: END_CURSOR };

/** A queue that never had a job lists none: a page may subscribe to it before its first job. */
export async function list(
  ctx: QueryCtx,
  { queue: name, filter = {}, order = "next", paginationOpts }: ListRequest,
): Promise<JobPage> {
  checkName("The name of a queue", name);
  checkInteger("paginationOpts.numItems", paginationOpts.numItems, 1, PAGE_MAX);
  const queue = await findQueue(ctx.db, name);
  if (queue === null || paginationOpts.cursor === END_CURSOR) return NOTHING;
  const mark = markedBy(queue.config.listBy, filter);
  const streams =
    mark === null
      ? await sectionsOf(ctx.db, queue, statusOf(filter), order)
      : [markedSection(ctx.db, name, mark, order)];
  return await pageOf(
    streams.map((section) => narrowed(section, filter)),
    paginationOpts,
  );
}

/** Jobs that wait for a retry are scheduled: no other part of the list has any. */
function statusOf({ status, retrying }: ListFilter): ListFilter["status"] {
  return retrying === true && status === undefined ? "scheduled" : status;
}

function narrowed(section: Section<Doc<"jobs">>, filter: ListFilter): Section<Doc<"jobs">> {
  const { status, tag, group, name, worker, retrying = false } = filter;
  const wanted = [status, tag, group, name, worker];
  if (!retrying && wanted.every((one) => one === undefined)) return section;
  const isMeant = (job: Doc<"jobs">) =>
    (status === undefined || job.status === status) &&
    (tag === undefined || job.tags?.includes(tag) === true) &&
    (group === undefined || job.group === group) &&
    (name === undefined || job.name === name) &&
    (worker === undefined || job.worker === worker) &&
    (!retrying || isRetrying(job));
  return { ...section, stream: section.stream.filterWith(async (job) => isMeant(job)) };
}

async function pageOf(
  streams: readonly Section<Doc<"jobs">>[],
  { numItems, cursor, endCursor, maximumRowsRead = LIST_ROWS_MAX, ...more }: PageOptions,
): Promise<JobPage> {
  if (cursor !== null) checkCursor(streams, cursor);
  if (typeof endCursor === "string") checkCursor(streams, endCursor);
  checkInteger("paginationOpts.maximumRowsRead", maximumRowsRead, 1, Infinity);
  const { maximumBytesRead = LIST_BYTES_MAX } = more;
  checkNumber("paginationOpts.maximumBytesRead", maximumBytesRead, 1, Infinity);
  const { page, isDone, pageStatus, ...found } = await new Sections(streams).paginate({
    ...{ numItems, cursor, maximumRowsRead: Math.min(maximumRowsRead, LIST_ROWS_MAX) },
    ...(typeof endCursor === "string" ? { endCursor } : {}),
    maximumBytesRead: Math.min(maximumBytesRead, LIST_BYTES_MAX),
  });
  const jobs = page.map(listedOf);
  const shown = jobs.map(({ id }) => id);
  const continueCursor = veiled(streams, found.continueCursor, shown);
  // A page that has used up its reads is short, and complete as far as it goes: the next one begins behind it.
  if (typeof endCursor !== "string") return { page: jobs, isDone, continueCursor };
  // A page that must reach its end is to be requested in two halves, the second of which ends where this one should.
  const { splitCursor: middle } = found;
  const split =
    typeof middle === "string"
      ? { splitCursor: veiled(streams, middle, shown), pageStatus: pageStatus ?? null }
      : {};
  return { page: jobs, isDone: endCursor === END_CURSOR, continueCursor: endCursor, ...split };
}
