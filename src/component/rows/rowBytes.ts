/** Reading rows of any size: as many as are wanted, or as fit. */
import { getDocumentSize, type Value } from "convex/values";
import { SESSIONS_READ_BYTES } from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";

/** How large a row is, as reading it is counted. */
export function bytesOf(row: object): number {
  return getDocumentSize(row as Record<string, Value>);
}

export interface Taken<Row> {
  rows: Row[];
  /** The size of the rows read. */
  bytes: number;
  /** Whether the bytes ended it: there may be more. The last row may have gone beyond them. */
  isCut: boolean;
}

/** The first `count` rows, or as many as come to so many bytes, one at least. */
export async function takeWithin<Row extends object>(
  all: AsyncIterable<Row>,
  count: number,
  bytes: number,
): Promise<Taken<Row>> {
  const taken: Taken<Row> = { rows: [], bytes: 0, isCut: false };
  if (count <= 0) return taken;
  for await (const row of all) {
    taken.rows.push(row);
    taken.bytes += bytesOf(row);
    if (taken.rows.length === count) break;
    if (taken.bytes >= bytes) return { ...taken, isCut: true };
  }
  return taken;
}

/**
 * The first of these sessions, so many at most, and no more than fit into a part of a transaction: of `beside` such reads in it
 * each has its share.
 */
export async function takeSessions(
  rows: AsyncIterable<Doc<"sessions">>,
  count: number,
  beside = 1,
): Promise<Doc<"sessions">[]> {
  return (await takeWithin(rows, count, SESSIONS_READ_BYTES / beside)).rows;
}
