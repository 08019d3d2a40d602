/**
 * Pages of a query. A cursor is the key of the last row that was looked at, so that the next page starts behind it
 * whatever was inserted or deleted in between, and is bound to its query.
 *
 * With an end cursor the page is what lies between the two, however much that has become: that is how a subscription
 * keeps its pages from overlapping or leaving gaps.
 */
import { createHash } from "node:crypto";
import { documentBytes } from "./documents.js";
import type { Key } from "./keys.js";
import { MAX_ROWS_PER_FETCH } from "./limits.js";
import { queryRows, type QueryJson } from "./query.js";
import type { Access, Doc, Namespace, Row, Transaction } from "./types.js";

export interface PageRequest {
  query: QueryJson;
  /** `null` for the first page. */
  cursor: string | null;
  endCursor?: string | null;
  pageSize: number;
  /** What may be read, filtered rows included, before the page ends early. */
  maximumRowsRead?: number | null;
  maximumBytesRead?: number | null;
}

export interface Page {
  page: Doc[];
  isDone: boolean;
  continueCursor: string;
  splitCursor: null;
  pageStatus: null;
}

/** Where a page ended: before the first row, after a row, or at the end of the range. */
type Position = { at: "start" } | { at: "row"; key: Key } | { at: "end" };

export async function queryPage(
  transaction: Transaction,
  namespace: Namespace,
  request: PageRequest,
  access: Access = {},
): Promise<Page> {
  const fingerprint = fingerprintOf(namespace, request.query);
  const from = readCursor(request.cursor, fingerprint);
  const to = request.endCursor == null ? null : readCursor(request.endCursor, fingerprint);
  const { page, reached } = await readPage(transaction, namespace, request, access, from, to);
  const ended = to ?? reached;
  return {
    page,
    isDone: ended.at === "end",
    continueCursor: writeCursor(ended, fingerprint),
    splitCursor: null,
    pageStatus: null,
  };
}

async function readPage(
  transaction: Transaction,
  namespace: Namespace,
  request: PageRequest,
  access: Access,
  from: Position,
  to: Position | null,
): Promise<{ page: Doc[]; reached: Position }> {
  const page: Doc[] = [];
  const limits = to === null ? request : { pageSize: Infinity };
  if (from.at === "end" || to?.at === "start" || limits.pageSize <= 0)
    return { page, reached: from };

  const reading = new PageReading(from, limits);
  const window = {
    ...(from.at === "row" && { after: from.key }),
    ...(to?.at === "row" && { until: to.key }),
    expected: limits.pageSize,
    perFetch: Math.max(1, Math.min(request.pageSize, MAX_ROWS_PER_FETCH)),
  };
  const rows = queryRows(transaction, namespace, request.query, access, window, (row) =>
    reading.add(row),
  );
  for await (const row of rows) {
    page.push(row.doc);
    if (page.length >= limits.pageSize) return { page, reached: reading.position };
  }
  return { page, reached: reading.isEnough ? reading.position : { at: "end" } };
}

type PageLimits = Pick<PageRequest, "pageSize" | "maximumRowsRead" | "maximumBytesRead">;

/** How far a page has read, and whether that is as much as it may. */
class PageReading {
  #rows = 0;
  #bytes = 0;

  constructor(
    public position: Position,
    private readonly limits: PageLimits,
  ) {}

  add(row: Row): boolean {
    this.position = { at: "row", key: row.key };
    this.#rows++;
    this.#bytes += documentBytes(row.doc);
    return this.isEnough;
  }

  get isEnough(): boolean {
    return (
      this.#rows >= (this.limits.maximumRowsRead ?? Infinity) ||
      this.#bytes >= (this.limits.maximumBytesRead ?? Infinity)
    );
  }
}

function fingerprintOf(namespace: Namespace, query: QueryJson): string {
  return createHash("sha256")
    .update(JSON.stringify([namespace, query]))
    .digest("base64url")
    .slice(0, 16);
}

function writeCursor(position: Position, fingerprint: string): string {
  const key =
    position.at === "row" ? Buffer.from(position.key, "latin1").toString("base64url") : "";
  return [position.at, key, fingerprint].join(".");
}

function readCursor(cursor: string | null, fingerprint: string): Position {
  if (cursor === null) return { at: "start" };
  const [at, key = "", ofQuery] = cursor.split(".");
  if (ofQuery !== fingerprint || (at !== "start" && at !== "row" && at !== "end")) {
    throw new Error(
      `InvalidCursor: Tried to run a query starting from a cursor, but it looks like this query has changed. ` +
        `Got ${JSON.stringify(cursor)}. Start again from a null cursor.`,
    );
  }
  return at === "row" ? { at, key: Buffer.from(key, "base64url").toString("latin1") } : { at };
}
